/** Failures, by the outcomes that workflows see (README, "When something goes wrong"). */
import { quote } from './words';

/** The worst one comes first. */
export const outcomes = [
	/** A task may exist whose ID nobody knows. */
	'unknown',
	/** Only these tasks are of no further use. */
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
	/** What the user can do next. */
	description: string;
	taskId?: string;
	status?: string;
	httpStatus?: number;
	candidates?: Array<{ task_id: string; created_at: string }>;
	/** A failed item with several tasks has these. */
	parts?: {
		taskIds: string[];
		/** The part of a long text that failed, from 1; undefined if no single one did. */
		part: { number: number; of: number } | undefined;
		/** How "Task: Wait" joins the parts, if each of them has a task. */
		longText: LeftText | undefined;
	};
}

/** How "Task: Wait" makes the output of a long text from its parts. */
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

export function messageOf(error: unknown): string {
	return (error instanceof Error ? quote(error.message) : undefined) ?? 'unknown reason';
}

/** Describes an exception of n8n's store, a parser, or a bug of ours as what it is. Nothing was sent for its item. */
export function asFailure(error: unknown): Failure {
	if (error instanceof FailureError) return error.failure;
	return invalid(
		`The item could not be handled: ${messageOf(error)}`,
		'Nothing was sent for it. Check that n8n still has the files of this execution, and can store new ones.',
	).failure;
}

export function attempt<T>(read: () => T): Attempt<T> {
	try {
		return { ok: true, value: read() };
	} catch (error) {
		return { ok: false, failure: asFailure(error) };
	}
}

export async function attemptAsync<T>(read: () => Promise<T>): Promise<Attempt<T>> {
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
