/** Keeps notes with a sleeping execution. They are one text, as each field of an object would cost n8n another call into its isolated engine. */
import type { FunctionsBase, INodeExecutionData } from 'n8n-workflow';
import type { Assembly } from '../files/assembly';
import type { FileSettings } from '../actions/waiting';
import { clockAheadMs, now } from '../base/clock';
import { asText, isObject, parseJson, urlOf } from '../base/json';
import type { Task } from '../transport/task';
import type { Watch } from '../task/poll';

export const CONTEXT_FIELD = 'suspension';

export interface OpenTask {
	kind: 'open';
	watch: Watch;
	/** Was last seen like this; undefined where it never was. */
	task: Task | undefined;
	/** The service reports its end there; undefined where it does not. */
	receiveUrl: string | undefined;
}

export type SleepingItem =
	/** It was over before the execution went to sleep, and its item lies in the input. */
	| { kind: 'complete' }
	/** Its notes can't be read, and its item goes on as it would at the deadline. */
	| { kind: 'unread'; tasks: Watch[] }
	| {
			kind: 'open';
			tasks: Watch[];
			files: FileSettings;
			assembly: Assembly;
			/** True if its item has the JSON that came in as `input`, and its output is to have it. */
			carriesInput?: boolean;
	  };

export interface Notes {
	id: string;
	items: SleepingItem[];
}

function moved(items: SleepingItem[], byMs: number): SleepingItem[] {
	const move = ({ createdAt, deadline, ...task }: Watch): Watch => ({
		...task,
		createdAt: createdAt + byMs,
		deadline: deadline + byMs,
	});
	return items.map((item) =>
		item.kind === 'open' ? { ...item, tasks: item.tasks.map(move) } : item,
	);
}

/** Any change of what is written here, or of what it means, needs another number: n8n can be upgraded while executions sleep. */
const NOTES_FORMAT = 1;

/** What is kept goes by the machine's clock, as another process may read it, or somebody may set it. */
export function writeNotes({ id, items }: Notes): string {
	return JSON.stringify({ format: NOTES_FORMAT, id, items: moved(items, clockAheadMs()) });
}

/** `none` means that this node has put nothing to sleep; `unread`, that it has, in a format that this version does not know. */
export function readNotes(kept: unknown): Notes | 'none' | 'unread' {
	if (typeof kept !== 'string') return 'none';
	const value = parseJson(kept);
	if (!isObject(value) || value.format !== NOTES_FORMAT) return 'unread';
	const { id, items } = value;
	if (typeof id !== 'string' || !Array.isArray(items)) return 'unread';
	return { id, items: moved(items as SleepingItem[], -clockAheadMs()) };
}

/** n8n waits no longer with the default Timeout; the true deadlines are not known. */
const UNREAD_FOR_MS = 86_400_000;

/** Makes up for notes that can't be read, by the tasks that the items of unfinished ones name. */
export function notesByItems(id: string, items: readonly INodeExecutionData[]): Notes {
	const createdAt = now();
	const watch = (taskId: string): Watch => ({
		...{ taskId, kind: 'callback', echoes: [], pace: 'poll' },
		...{ createdAt, deadline: createdAt + UNREAD_FOR_MS },
	});
	const sleeping = items.map(({ json }): SleepingItem => {
		if (json.unfinished !== true) return { kind: 'complete' };
		const named = [json.task_id, json.task_ids].flat().flatMap((each) => asText(each) ?? []);
		return { kind: 'unread', tasks: [...new Set(named)].map(watch) };
	});
	return { id, items: sleeping };
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
 * Returns the URL that wakes an execution, with n8n's own token and this node's ID as its last part. Without a token anyone could wake it,
 * so there is no URL then; n8n has tokens since 2.14.
 * @param given what `$execution.resumeUrl` gives
 * @param search with the token, where n8n gives the URL without it
 */
export function resumeUrlOf(
	context: Pick<FunctionsBase, 'getNode'>,
	given: unknown,
	search?: string,
): string | undefined {
	const url = urlOf(given);
	if (url === undefined) return undefined;
	url.pathname += `/${context.getNode().id}`;
	if (search !== undefined) url.search = search;
	return url.searchParams.has('signature') ? url.href : undefined;
}

export function openTasks({ items }: Notes): Watch[] {
	return items.flatMap((item) => (item.kind === 'complete' ? [] : item.tasks));
}

/** The editor says this of a node whose execution sleeps. It sees only the resume URL in the run's metadata. The time is in the reader's own zone. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + (found[1] === "1" ? "its task is" : "its " + found[1] + " tasks are") + " over, or until " + new Date(Number(found[2])).toLocaleString() + " at the latest"
	: "Asleep until its tasks are over")(/#tasks=(\\d+)&until=(\\d+)$/.exec($execution.resumeUrl)) }}`;
