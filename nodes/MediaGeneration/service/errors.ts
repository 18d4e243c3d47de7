/**
 * What can go wrong, in the contract's words (contract, "Errors"). Every failure says what happened and what to do next.
 */

export type Outcome =
	| 'invalid'
	| 'rejected'
	| 'unknown'
	| 'failed'
	| 'timed_out'
	| 'unreachable'
	| 'cancelled'
	| 'undelivered';

export interface Failure {
	outcome: Outcome;
	/** What happened. */
	message: string;
	/** What to do next. */
	description: string;
	taskId?: string;
	/** The last status that the service named. */
	status?: string;
	httpStatus?: number;
}

/** A failure on its way from where it was found to the item that it belongs to. */
export class FailureError extends Error {
	constructor(readonly failure: Failure) {
		super(failure.message);
		this.name = 'FailureError';
	}
}

/** Bad input, refused before any request is sent. */
export function invalid(message: string, description: string): FailureError {
	return new FailureError({ outcome: 'invalid', message, description });
}

/** The item's JSON with Continue On Fail: `{ error, outcome, task_id?, status?, http_status? }` (contract, "Errors"). */
export function failureJson(failure: Failure): {
	error: string;
	outcome: Outcome;
	task_id?: string;
	status?: string;
	http_status?: number;
} {
	return {
		error: failure.message,
		outcome: failure.outcome,
		...(failure.taskId === undefined ? {} : { task_id: failure.taskId }),
		...(failure.status === undefined ? {} : { status: failure.status }),
		...(failure.httpStatus === undefined ? {} : { http_status: failure.httpStatus }),
	};
}

/** A service's text, short enough for a message and on one line. */
export function quote(text: string | undefined, limit = 300): string | undefined {
	if (text === undefined) return undefined;
	const line = text.replace(/\s+/g, ' ').trim();
	if (line === '') return undefined;
	return line.length > limit ? `${line.slice(0, limit)}...` : line;
}
