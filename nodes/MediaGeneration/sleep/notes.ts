/**
 * What is kept with a sleeping execution, so that waking knows what to wait for. One text in the node's context, which n8n saves with
 * the execution: an expression reads it, and each field of an object would cost n8n another call into its isolated engine.
 */
import type { Assembly } from '../delivery/assembly';
import type { FileSettings } from '../operations/waiting';
import { isObject, parseJson } from '../service/json';
import type { Task } from '../service/task';
import type { Done } from '../service/verdict';
import type { Watch } from '../wait/poll';

export const CONTEXT_FIELD = 'suspension';

/** A task of an execution that goes to sleep. */
export type SleepingTask =
	| {
			kind: 'open';
			watch: Watch;
			/** As last seen; undefined where it never was. */
			task: Task | undefined;
			/** Where the service reports its end, as the ledger knows it; undefined where it does not. */
			receiveUrl: string | undefined;
	  }
	/** Its files are fetched when the execution wakes. */
	| { kind: 'over'; watch: Watch; done: Done };

/** What waking must know of one item. */
export type SleepingItem =
	/** Over before the execution went to sleep: its item lies in the input. */
	{ kind: 'complete' } | { kind: 'open'; tasks: Watch[]; files: FileSettings; assembly: Assembly };

export interface Notes {
	/** Distinguishes this sleep from any other one of the same execution. */
	id: string;
	/** Whether this n8n also looks at the tasks while the execution sleeps. */
	watched: boolean;
	items: SleepingItem[];
}

function isWatch(value: unknown): boolean {
	return (
		isObject(value) &&
		typeof value.taskId === 'string' &&
		typeof value.createdAt === 'number' &&
		typeof value.deadline === 'number'
	);
}

function isSleepingItem(value: unknown): boolean {
	if (!isObject(value)) return false;
	return (
		value.kind === 'complete' ||
		(value.kind === 'open' &&
			isObject(value.files) &&
			isObject(value.assembly) &&
			Array.isArray(value.tasks) &&
			value.tasks.length > 0 &&
			value.tasks.every(isWatch))
	);
}

/** With all times moved: what is kept goes by the machine's clock, as another process may read it, or somebody may set it. */
export function moved(notes: Notes, byMs: number): Notes {
	const move = (task: Watch) => ({
		...task,
		createdAt: task.createdAt + byMs,
		deadline: task.deadline + byMs,
	});
	const items = notes.items.map((item) =>
		item.kind === 'open' ? { ...item, tasks: item.tasks.map(move) } : item,
	);
	return { ...notes, items };
}

/** What is kept in the node's context. */
export function writeNotes(notes: Notes): string {
	return JSON.stringify(notes);
}

/** Reads the notes back when the execution is to wake. Undefined where they are missing. */
export function readNotes(kept: unknown): Notes | undefined {
	// What fell asleep before notes were a text has an object.
	const value = typeof kept === 'string' ? parseJson(kept) : kept;
	if (!isObject(value) || typeof value.id !== 'string' || !Array.isArray(value.items))
		return undefined;
	return value.items.every(isSleepingItem)
		? { id: value.id, watched: value.watched !== false, items: value.items as SleepingItem[] }
		: undefined;
}

/** Within an expression: this node's notes. The name is quoted so that nothing in it can end the expression. */
export function notesReference(nodeName: string): string {
	const quoted = JSON.stringify(nodeName).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	return `$node[${quoted}].context["${CONTEXT_FIELD}"]`;
}

/** An expression for this node's notes alone. */
export function notesExpression(nodeName: string): string {
	return `{{ ${notesReference(nodeName)} }}`;
}

/** All open tasks of a sleep. */
export function openTasks({ items }: Notes): Watch[] {
	return items.flatMap((item) => (item.kind === 'open' ? item.tasks : []));
}
