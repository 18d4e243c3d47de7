/** Notes that a sleeping execution carries. They are one text: n8n's isolated engine copies objects field by field. */
import type { Assembly } from '../files/assembly';
import type { FileSettings } from '../actions/waiting';
import { clockAheadMs } from '../base/clock';
import { isObject, parseJson, urlOf } from '../base/json';
import type { Task } from '../transport/task';
import type { Created } from '../task/creation';
import type { Watch } from '../task/wait';

export const CONTEXT_FIELD = 'suspension';

/** Last part of the address that wakes an execution. n8n calls only the node that sleeps, so that all nodes can share it, also those without an ID. */
export const WEBHOOK_PATH = 'media-generation';

export interface OpenTask {
	kind: 'open';
	taskId: string;
	watch: Watch;
	/** The task as last seen; undefined where it never was. */
	task: Task | undefined;
	receiveUrl: Created['receiveUrl'];
}

export interface NotedTask extends Watch {
	/** The task as it was done before the execution fell asleep, as a service can forget it. */
	known?: Task | undefined;
}

/** What an item waits for. */
export interface OpenItem<Task = NotedTask> {
	tasks: Task[];
	files: FileSettings;
	assembly: Assembly;
	/** Whether its item has the JSON that came in as `input`, and its output is to have it. */
	carriesInput: boolean;
}

export interface Notes {
	/** One sleep of one execution. */
	id: string;
	/** null: it lies finished in the input. */
	items: Array<OpenItem | null>;
}

function moved(items: Notes['items'], byMs: number): Notes['items'] {
	const move = ({ createdAt, deadline, ...task }: NotedTask): NotedTask => ({
		...task,
		createdAt: createdAt + byMs,
		deadline: deadline + byMs,
	});
	return items.map((item) => item && { ...item, tasks: item.tasks.map(move) });
}

/** Any change of what is written here, or of what it means, needs another number: n8n can be upgraded while executions sleep. */
const NOTES_FORMAT = 1;

/** Times are written by the machine's clock: another process may read them, or somebody may set that clock. */
export function writeNotes({ id, items }: Notes): string {
	return JSON.stringify({ format: NOTES_FORMAT, id, items: moved(items, clockAheadMs()) });
}

/** `none`: this node has put nothing to sleep. `unknown`: it has, in a format of another version. */
export function readNotes(kept: unknown): Notes | 'none' | 'unknown' {
	if (typeof kept !== 'string') return 'none';
	const value = parseJson(kept);
	if (!isObject(value) || value.format !== NOTES_FORMAT) return 'unknown';
	const { id, items } = value;
	if (typeof id !== 'string' || !Array.isArray(items)) return 'unknown';
	return { id, items: moved(items as Notes['items'], -clockAheadMs()) };
}

/** Names this node's notes within an expression. The node's name is quoted so that nothing in it can end the expression. */
export function notesReference(nodeName: string): string {
	const quoted = JSON.stringify(nodeName).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	return `$node[${quoted}].context["${CONTEXT_FIELD}"]`;
}

/**
 * Returns the URL that wakes an execution. Without n8n's token anyone could wake it, so there is no URL then; n8n has tokens since 2.14.
 * @param given what `$execution.resumeUrl` gives
 * @param search with the token, where n8n gives the URL without it
 */
export function resumeUrlOf(given: unknown, search?: string): string | undefined {
	const url = urlOf(given);
	if (url === undefined) return undefined;
	url.pathname += `/${WEBHOOK_PATH}`;
	if (search !== undefined) url.search = search;
	return url.searchParams.has('signature') ? url.href : undefined;
}

export function notedTasks({ items }: Notes): NotedTask[] {
	return items.flatMap((item) => item?.tasks ?? []);
}

/** The latest deadline, at which n8n itself wakes the execution. */
export function lastDeadline(tasks: readonly NotedTask[]): number {
	return tasks.reduce((latest, { deadline }) => Math.max(latest, deadline), 0);
}

/**
 * Picks the tasks whose end the service is to report, spread evenly over all of them: at most 50, as n8n reads the whole execution for each
 * callback. @param index from 0
 */
export function isCalledBack(index: number, count: number): boolean {
	const picked = (until: number) => Math.floor((until * Math.min(50, count)) / count);
	return picked(index + 1) > picked(index);
}

/** What {@link waitingTooltip} says, as the fragment of an address: it is sent nowhere. @param until epoch ms */
export function tooltipFragment(tasks: readonly NotedTask[], until: number): string {
	const ids = tasks.slice(0, 3).map(({ taskId }) => taskId);
	const which = [...ids, ...(tasks.length > 3 ? ['...'] : [])].join(', ');
	const subject = tasks.length === 1 ? 'its task is' : `its ${tasks.length} tasks are`;
	return `#${until}:${encodeURIComponent(`${subject} over (${which})`)}`;
}

/** What the editor says of a node whose execution sleeps. It sees only the resume URL in the run's metadata. The time is in the reader's own zone. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + decodeURIComponent(found[2]) + ", or until " + new Date(Number(found[1])).toLocaleString() + " at the latest"
	: "Asleep until its tasks are over")(/#(\\d+):(.*)$/.exec($execution.resumeUrl)) }}`;
