/** What is kept with a sleeping execution. One text: each field of an object would cost n8n another call into its isolated engine. */
import type { Assembly } from '../delivery/assembly';
import type { FileSettings } from '../operations/waiting';
import { clockAheadMs } from '../service/clock';
import { isObject, parseJson } from '../service/json';
import type { Task } from '../service/task';
import type { Watch } from '../wait/poll';

export const CONTEXT_FIELD = 'suspension';

export interface OpenTask {
	kind: 'open';
	watch: Watch;
	/** As last seen; undefined where it never was. */
	task: Task | undefined;
	/** Where the service reports its end; undefined where it does not. */
	receiveUrl: string | undefined;
}

export type SleepingItem =
	/** Over before the execution went to sleep: its item lies in the input. */
	{ kind: 'complete' } | { kind: 'open'; tasks: Watch[]; files: FileSettings; assembly: Assembly };

export interface Notes {
	id: string;
	watched: boolean;
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

/** What is kept goes by the machine's clock, as another process may read it, or somebody may set it. */
export function writeNotes({ items, ...notes }: Notes): string {
	return JSON.stringify({ ...notes, items: moved(items, clockAheadMs()) });
}

export function readNotes(kept: unknown): Notes | undefined {
	const value = typeof kept === 'string' ? parseJson(kept) : undefined;
	if (!isObject(value)) return undefined;
	const { id, watched, items } = value;
	if (typeof id !== 'string' || !Array.isArray(items)) return undefined;
	const here = moved(items as SleepingItem[], -clockAheadMs());
	return { id, watched: watched !== false, items: here };
}

/** Within an expression: this node's notes. The name is quoted so that nothing in it can end the expression. */
export function notesReference(nodeName: string): string {
	const quoted = JSON.stringify(nodeName).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	return `$node[${quoted}].context["${CONTEXT_FIELD}"]`;
}

export function openTasks({ items }: Notes): Watch[] {
	return items.flatMap((item) => (item.kind === 'open' ? item.tasks : []));
}

/** What the editor says of a node whose execution sleeps: it sees nothing of it but the resume URL in the run's metadata. The time is in the reader's own zone. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + (found[1] === "1" ? "its task is" : "its " + found[1] + " tasks are") + " over, or until " + new Date(Number(found[2])).toLocaleString() + " at the latest"
	: "Asleep until its tasks are over")(/#tasks=(\\d+)&until=(\\d+)$/.exec($execution.resumeUrl)) }}`;
