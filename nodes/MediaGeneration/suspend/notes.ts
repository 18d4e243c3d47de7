/** Notes that a sleeping execution carries: one text, because n8n's isolated engine copies objects field by field. */
import type { FileSettings } from '../actions/fileSettings';
import { clockAheadMs } from '../base/clock';
import { isObject, parseJson } from '../base/json';
import type { Task } from '../answers/task';
import type { Watch } from '../task/wait';
import type { N8nContext } from '../n8n/execution';
import type { ServiceClient } from '../transport/client';

export const CONTEXT_FIELD = 'suspension';

/** A task that an item waits for. */
export interface WaitingTask extends Watch {
	/** The task, if it was done before the execution fell asleep: a service can forget it. */
	known?: Task | undefined;
}

/** An item whose tasks have not all finished. How they make its output is said in the item itself, as for "Task: Wait". */
export interface WaitingItem {
	tasks: WaitingTask[];
	files: FileSettings;
	/** Whether its item has the incoming JSON as `input`, which its output then gets, too. */
	carriesInput: boolean;
}

export interface Notes {
	/** Identifies one sleep of one execution. */
	id: string;
	/** In the order of the items. null stands for an item that is complete. */
	items: Array<WaitingItem | null>;
}

/** One sleep of an execution, as a process serves it, with a context and client of its own: another one's credential can be deleted or changed. */
export interface Sleep {
	id: Notes['id'];
	tasks: readonly WaitingTask[];
	resumeUrl: string;
	context: N8nContext;
	client: ServiceClient;
}

function moved(items: Notes['items'], byMs: number): Notes['items'] {
	const move = ({ createdAt, deadline, ...task }: WaitingTask): WaitingTask => ({
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

/** Returns undefined if this node has put nothing to sleep. */
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

export function tasksIn({ items }: Notes): WaitingTask[] {
	return items.flatMap((item) => item?.tasks ?? []);
}

/** The latest deadline, at which n8n itself wakes the execution. */
export function lastDeadline(tasks: readonly WaitingTask[]): number {
	return tasks.reduce((latest, { deadline }) => Math.max(latest, deadline), 0);
}
