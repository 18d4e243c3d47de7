/** Makes one request by a helper of n8n, within its time, however slowly the answer arrives. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { NoAnswer } from '../answers/reply';
import { timeLimit, unlessAborted } from '../base/abort';
import { connectionOf, reasonOf, type Connection } from '../n8n/networkError';
import type { Upload } from './body';

export interface RawResponse {
	statusCode: number;
	headers: Record<string, unknown>;
	body: unknown;
}

/** Never rejects. */
export async function requestWithin<T>(
	options: IHttpRequestOptions,
	{ timeoutMs, signal, upload }: { timeoutMs: number; signal?: AbortSignal; upload?: Upload },
	request: (options: IHttpRequestOptions, signal: AbortSignal) => Promise<T>,
): Promise<Awaited<T> | NoAnswer> {
	const limit = timeLimit(timeoutMs, signal);
	const late = `no complete answer within ${Math.max(1, Math.round(timeoutMs / 1000))} s`;
	upload?.extend(limit, timeoutMs);
	const unanswered = (reason: string, kind: Connection = 'unanswered'): NoAnswer => {
		return { answered: false, kind, reason: limit.timedOut() ? late : reason };
	};
	try {
		const limited = {
			...options,
			// The helper's own limit counts idle time only, and helps if the abort is ignored.
			timeout: Math.max(1, Math.ceil(timeoutMs)),
			abortSignal: limit.signal,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			// A redirect would carry the bearer token to wherever it points.
			disableFollowRedirect: true,
		};
		// Stop waiting even if the helper ignores the abort.
		const response = await unlessAborted(limit.signal, request(limited, limit.signal));
		return response ?? unanswered('the request was given up');
	} catch (error) {
		return unanswered(reasonOf(error), connectionOf(error));
	} finally {
		limit.end();
	}
}
