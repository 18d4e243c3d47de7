/** What can go wrong, by the outcomes that workflows carry (README, "When something goes wrong"). */
import { isObject } from './json';
import { withoutSocketCodes } from './networkError';
import type { Task } from './task';

/** The worst first. */
export const outcomes = [
	/** A task may exist whose ID nobody knows. */
	'unknown',
	/** Of all tasks only these are of no more use. */
	'failed',
	'unreachable',
	'undelivered',
	'timed_out',
	'cancelled',
	'rejected',
	'invalid',
] as const;

export type Outcome = (typeof outcomes)[number];

export function isOutcome(value: unknown): value is Outcome {
	return outcomes.some((outcome) => outcome === value);
}

export interface Failure {
	outcome: Outcome;
	message: string;
	/** What to do next. */
	description: string;
	taskId?: string;
	/** The last one that the service named. */
	status?: string;
	httpStatus?: number;
	candidates?: Array<{ task_id: string; created_at: string }>;
	/** Where the item has several tasks. */
	whole?: {
		taskIds: string[];
		/** Of a long text: which one failed, from 1. Undefined where no single one did. */
		part: { number: number; of: number } | undefined;
		/** What "Task: Wait" needs to join the parts, where each of them has a task. */
		longText: LeftText | undefined;
	};
}

/** How the parts of a long text make its output, as an item carries it to "Task: Wait". */
export interface LeftText {
	mode: 'join' | 'parts';
	pause_between_parts: number;
}

export class FailureError extends Error {
	constructor(readonly failure: Failure) {
		super(failure.message);
	}
}

export function invalid(message: string, description: string): FailureError {
	return new FailureError({ outcome: 'invalid', message, description });
}

export type Attempt<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export const messageOf = (error: unknown): string =>
	error instanceof Error ? error.message : 'unknown reason';

export function asFailure(error: unknown): Failure {
	if (error instanceof FailureError) return error.failure;
	return invalid(
		`A field of this item could not be read: ${messageOf(error)}`,
		'Check the expressions in the fields of the node. Nothing was sent.',
	).failure;
}

export function attempt<T>(read: () => T): Attempt<T> {
	try {
		return { ok: true, value: read() };
	} catch (error) {
		return { ok: false, failure: asFailure(error) };
	}
}

export async function attemptLater<T>(read: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { ok: true, value: await read() };
	} catch (error) {
		return { ok: false, failure: asFailure(error) };
	}
}

export function valueOf<T>(attempted: Attempt<T>): T {
	if (attempted.ok) return attempted.value;
	throw new FailureError(attempted.failure);
}

/** A text of the service, on one line and short enough for a message. */
export function quote(text = '', limit = 300): string | undefined {
	const line = withoutSocketCodes(text.replace(/\s+/g, ' ').trim());
	if (line === '') return undefined;
	return line.length > limit ? `${line.slice(0, limit)}...` : line;
}

const USE_WAIT = 'Nothing needs to be paid again: use the operation "Task: Wait" with this task ID';

export function seconds(ms: number): string {
	const value = Math.round(ms / 100) / 10;
	return value >= 120 ? `${Math.round(value / 60)} minutes` : `${value} s`;
}

export function failed(taskId: string, task: Task): Failure {
	const reason = quote(task.errorText);
	const message = `Task ${taskId} failed${reason === undefined ? '' : `: ${reason}`}`;
	const description =
		'The service ended this task with an error. Correct the input if the reason points to it, then run the item again: that makes a new task. Services usually refund failed tasks; check the credits.';
	return { outcome: 'failed', message, description, taskId, status: task.status };
}

export function timedOut(
	taskId: string,
	timeoutMs: number,
	{ task, detail }: { task: Task | undefined; detail: string | undefined },
): Failure {
	const seen = task ? `its last status was "${task.status}"` : 'the service never described it';
	const words = quote(detail);
	const trouble = words === undefined ? '' : ` The last look at it failed: ${words}.`;
	const message = `Task ${taskId} was not finished after ${seconds(timeoutMs)}; ${seen}`;
	const description = `The task is paid for and may still finish. ${USE_WAIT}, or raise the Timeout option.${trouble}`;
	return { outcome: 'timed_out', message, description, taskId, status: task?.status };
}

export function cancelled(taskId: string, status: string | undefined): Failure {
	const message = `The execution was stopped while task ${taskId} was running`;
	const description = `The task goes on at the service and is paid for. ${USE_WAIT} to get its result.`;
	return { outcome: 'cancelled', message, description, taskId, status };
}

interface Refused {
	detail: string;
	httpStatus: number;
}

export function denied(taskId: string, { httpStatus, detail }: Refused): Failure {
	const message = `Task ${taskId} exists, but the service refused to show it (HTTP ${httpStatus}): ${quote(detail) ?? 'no reason given'}`;
	const description = `The API key may have expired, been revoked or run out of credits. Put a valid key of the same account into the credential. ${USE_WAIT} then.`;
	return { outcome: 'unreachable', message, description, taskId, httpStatus };
}

export function missing(taskId: string, { detail, httpStatus = 404 }: Partial<Refused>): Failure {
	const message = `Task ${taskId} can't be found at the service: ${quote(detail) ?? 'HTTP 404'}`;
	const description =
		'Check that the Base URL and the API key belong to the account that made the task, and that the task ID is complete. If the service uses another route for this kind of task, set the option Poll Route.';
	return { outcome: 'unreachable', message, description, taskId, httpStatus };
}

/** Something broke that must not: n8n's store, a parser, a bug of ours. @param taskId the first of the item; without one, nobody knows what was created */
export function broken(
	error: unknown,
	reached: 'nothing' | 'sent' | 'done',
	taskId?: string,
): Failure {
	const reason = quote(messageOf(error)) ?? 'unknown reason';
	if (reached === 'nothing')
		return invalid(
			`The item could not be handled: ${reason}`,
			'Nothing was sent for it. Check its fields, and that n8n can store files.',
		).failure;
	if (taskId === undefined) {
		const message = `The creation broke off: ${reason}; the task may exist`;
		const description =
			'The service may have created the task and charged for it. Check the task list at the service.';
		return { outcome: 'unknown', message, description };
	}
	if (reached === 'sent') {
		const message = `Task ${taskId} exists, but waiting for it broke off: ${reason}`;
		return { outcome: 'unreachable', message, description: `${USE_WAIT}.`, taskId };
	}
	const message = `Task ${taskId} is done, but its result could not be handed over: ${reason}`;
	const description = `${USE_WAIT}, once n8n can store the files.`;
	return { outcome: 'undelivered', message, description, taskId, status: 'done' };
}

export function withoutOutputs(taskId: string, task: Task): Failure {
	const { metadata } = task.raw;
	const names = Object.keys(isObject(metadata) ? metadata : {});
	const keys = names.slice(0, 20).join(', ');
	const message = `Task ${taskId} is done, but the service names no output file; its metadata ${keys === '' ? 'is empty' : `has only: ${keys}`}`;
	const description =
		'Look at the task with "Task: Get". If the files appear later, "Task: Wait" with this task ID fetches them without paying again.';
	return { outcome: 'undelivered', message, description, taskId, status: task.status };
}
