/**
 * Whether a task is over, decided in one place: polling, the last look before sleeping, waking and the trigger all ask here.
 * Whoever decides hands the outputs on, so that nobody downstream works them out again. Pure.
 */
import { isObject } from './json';
import { outputsOf, type TaskOutput } from './outputs';
import type { Task } from './task';

export type Verdict =
	| { kind: 'running'; task: Task }
	| { kind: 'failed'; task: Task }
	| { kind: 'done'; task: Task; outputs: TaskOutput[] }
	/** `done` can come for a moment before the service names a file (docs/service.md, "Status"): worth another look. */
	| { kind: 'doneWithoutFiles'; task: Task };

/** A task that is over and has its files: what delivery takes. */
export interface Finished {
	taskId: string;
	task: Task;
	outputs: TaskOutput[];
}

/**
 * What the service's own word for a task means.
 *
 * @param echoes texts that the creation request carried, where they are known: addresses among them are not results
 */
export function verdictOf(task: Task, echoes: Iterable<string> = []): Verdict {
	switch (task.state) {
		case 'running':
			return { kind: 'running', task };
		case 'failed':
			return { kind: 'failed', task };
		case 'done': {
			const outputs = outputsOf(task, echoes);
			return outputs.length > 0
				? { kind: 'done', task, outputs }
				: { kind: 'doneWithoutFiles', task };
		}
	}
}

/** All http(s) addresses of a request, for {@link verdictOf}. Plain data, so that a sleeping execution can keep them. */
export function addressesIn(value: unknown, depth = 0): string[] {
	if (typeof value === 'string') return /^https?:/i.test(value) ? [value] : [];
	if (depth > 20 || (!Array.isArray(value) && !isObject(value))) return [];
	return Object.values(value).flatMap((entry) => addressesIn(entry, depth + 1));
}
