/** Notes that a sleeping execution carries. They are one text, because n8n's isolated engine copies objects field by field. */
import type { INodeTypeDescription } from 'n8n-workflow';
import type { FileSettings } from '../actions/fileSettings';
import { clockAheadMs } from '../base/clock';
import { isObject, parseJson, uriEncoded, urlOf } from '../base/json';
import { inHtml } from '../n8n/editor';
import type { Task } from '../answers/task';
import type { Watch } from '../task/wait';

export const CONTEXT_FIELD = 'suspension';

/** Last part of the URL that wakes an execution. n8n calls only the sleeping node, so all nodes can share it, even those without an ID. */
export const WEBHOOK_PATH = 'media-generation';

/** The webhook that wakes a sleeping execution. It stands here because n8n's lint takes one in the node's file for a trigger's. */
export const resumeWebhooks: INodeTypeDescription['webhooks'] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		responseData: '',
		path: WEBHOOK_PATH,
		isFullPath: true,
		restartWebhook: true,
	},
];

export interface NotedTask extends Watch {
	/** The task, if it was done before the execution fell asleep: a service can forget it. */
	known?: Task | undefined;
}

/** What an item waits for. How its tasks make its output is said in the item itself, as for "Task: Wait". */
export interface OpenItem {
	tasks: NotedTask[];
	files: FileSettings;
	/** Whether its item has the incoming JSON as `input`, which its output then gets, too. */
	carriesInput: boolean;
}

export interface Notes {
	/** Identifies one sleep of one execution. */
	id: string;
	/** null: the item is complete already. */
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

/** Writes times by the machine's clock, because another process may read them, or somebody may set that clock. */
export function writeNotes({ id, items }: Notes): string {
	return JSON.stringify({ id, items: moved(items, clockAheadMs()) });
}

/** Undefined if this node has put nothing to sleep. */
export function readNotes(kept: unknown): Notes | undefined {
	const value = typeof kept === 'string' ? parseJson(kept) : undefined;
	const { id, items } = isObject(value) ? value : {};
	if (typeof id !== 'string' || !Array.isArray(items)) return undefined;
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
 * Returns the URL that wakes an execution; undefined without n8n's token (n8n 2.14 and newer), because anyone could wake it then.
 * @param given value of `$execution.resumeUrl`
 */
export function resumeUrlOf(given: unknown): string | undefined {
	const url = urlOf(given);
	if (url === undefined) return undefined;
	url.pathname += `/${WEBHOOK_PATH}`;
	return url.searchParams.has('signature') ? url.href : undefined;
}

export function notedTasks({ items }: Notes): NotedTask[] {
	return items.flatMap((item) => item?.tasks ?? []);
}

/** The latest deadline, at which n8n itself wakes the execution. */
export function lastDeadline(tasks: readonly NotedTask[]): number {
	return tasks.reduce((latest, { deadline }) => Math.max(latest, deadline), 0);
}

/** Picks at most 50 tasks for callbacks, evenly spread, because n8n reads the whole execution for each callback. @param index from 0 */
export function isCalledBack(index: number, count: number): boolean {
	const picked = (until: number) => Math.floor((until * Math.min(50, count)) / count);
	return picked(index + 1) > picked(index);
}

/** Writes what {@link waitingTooltip} shows as the fragment of a URL, which is sent nowhere. @param until epoch ms */
export function tooltipFragment(tasks: readonly NotedTask[], until: number): string {
	const ids = tasks.slice(0, 3).map(({ taskId }) => taskId);
	const which = [...ids, ...(tasks.length > 3 ? ['...'] : [])].join(', ');
	const subject = tasks.length === 1 ? 'its task has' : `its ${tasks.length} tasks have`;
	return `#${until}:${uriEncoded(`${subject} finished (${inHtml(which)})`)}`;
}

/** What the editor shows at a node whose execution sleeps. It sees only the resume URL in the run's metadata. The time is in the reader's zone. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + decodeURIComponent(found[2]) + ", or until " + new Date(Number(found[1])).toLocaleString() + " at the latest"
	: "Asleep until its tasks have finished")(/#(\\d+):(.*)$/.exec($execution.resumeUrl)) }}`;
