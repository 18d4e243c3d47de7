/** Decides how a task ends. Polling, the last poll before sleeping, waking and the trigger pass the end on as it is. */
import * as failures from './failures';
import type { Failure } from '../base/outcomes';
import { isObject } from '../base/json';
import { outputsOf, type TaskOutput } from './outputs';
import type { Task } from './task';

export interface Done {
	kind: 'done';
	taskId: string;
	task: Task;
	/** At least one file, unless a callback or a deadline ends the wait for them. */
	outputs: TaskOutput[];
}

/** The service has ended the task, or it is no longer waited for. */
export interface Failed {
	kind: 'failed';
	failure: Failure;
	/** The task as last seen; undefined if it never was. */
	task: Task | undefined;
}

/** A failure that no poll has shown. */
export function asFailed(failure: Failure): Failed {
	return { kind: 'failed', failure, task: undefined };
}

export type Ended = Done | Failed;

export type Verdict =
	/** `done` without a file counts as running: it can come for a moment before the service names one (docs/service.md, "Status"). */
	{ kind: 'running'; task: Task } | Done | (Failed & { task: Task });

/** @param echoes addresses in the creation request, if known: they are not results */
export function verdictOf(taskId: string, task: Task, echoes: Iterable<string> = []): Verdict {
	if (task.state === 'failed')
		return { kind: 'failed', failure: failures.taskFailed(taskId, task), task };
	const outputs = task.state === 'done' ? outputsOf(task, echoes) : [];
	return outputs.length > 0 ? { kind: 'done', taskId, task, outputs } : { kind: 'running', task };
}

export function withoutFiles(taskId: string, task: Task): Failed & { task: Task } {
	return { kind: 'failed', failure: failures.withoutOutputs(taskId, task), task };
}

/** Lists all http(s) addresses of a request, for {@link verdictOf}. */
export function addressesIn(value: unknown, depth = 0): string[] {
	if (typeof value === 'string') return /^https?:/i.test(value) ? [value] : [];
	if (depth > 20 || (!Array.isArray(value) && !isObject(value))) return [];
	return Object.values(value).flatMap((entry) => addressesIn(entry, depth + 1));
}
