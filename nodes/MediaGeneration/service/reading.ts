/** The one retrying read: it costs nothing, so it is repeated while the service can't answer, but never while the account asked for a pause. */
import type { IDataObject } from 'n8n-workflow';
import type { Purpose } from './account';
import type { Answer, ServiceClient } from './client';
import { realClock, type Clock } from '../base/clock';
import {
	attemptLater,
	FailureError,
	quote,
	seconds,
	type Attempt,
	type Failure,
} from '../base/failures';
import { isObject, type JsonObject } from '../base/json';
import { wordsOf } from './look';
import { creditsOf } from './task';

export type Try<T> =
	| { kind: 'read'; value: T }
	/** `refused`: another try changes nothing. */
	| { kind: 'refused' | 'busy'; failure: Failure; retryAfterMs?: number };

export interface Reading {
	client: ServiceClient;
	path: string;
	/** Of a question that is asked by POST, and costs nothing. */
	body?: IDataObject;
	tries?: number;
	/** Whose pauses count. */
	purpose?: Purpose;
	/** The read is given up where it would have to pause for longer than this. */
	longestPauseMs?: number;
	clock?: Clock;
	signal?: AbortSignal | undefined;
	/** What is read, in words; the path, unless given. */
	what?: string;
	/** Of one try. */
	timeoutMs?: number;
}

/** Where a run can do without the balance. */
export const BALANCE_TIMEOUT_MS = 10_000;
const TRIES = 4;
const TIMEOUT_MS = 20_000;
const READING_LONGEST_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const MAX_OWN_PAUSE_MS = 3_000;

export function unreadable(what: string, reason: string, httpStatus?: number): Failure {
	const refused = httpStatus === 401 || httpStatus === 403;
	const message = `${what} could not be read: ${quote(reason) ?? 'no reason given'}`;
	const description = refused
		? 'Check the API key in the credential: it may be invalid, expired or revoked.'
		: 'Check the Base URL in the credential and whether the service is up, then run again. Nothing was paid.';
	return { outcome: refused ? 'rejected' : 'unreachable', message, description, httpStatus };
}

/** Throws a FailureError, as all that reads here. */
export async function readWithRetries<T>(
	{ client: { account }, signal, ...given }: Omit<Reading, 'path'>,
	read: () => Promise<Try<T>>,
): Promise<T> {
	const { tries = TRIES, purpose = 'read', longestPauseMs = READING_LONGEST_PAUSE_MS } = given;
	const { now, sleep } = given.clock ?? realClock;
	let wantedMs = 0;
	let failure: Failure | undefined;
	for (let tried = 0; ; tried += 1) {
		const pauseMs = Math.max(wantedMs, account.pausedUntil(purpose) - now());
		const asked = `the service asked for a pause of ${seconds(pauseMs)}`;
		if (pauseMs > longestPauseMs)
			throw new FailureError(failure ?? unreadable('The service', asked));
		if (pauseMs > 0) await sleep(pauseMs, signal);
		const result = await read();
		if (result.kind === 'read') return result.value;
		({ failure } = result);
		const isLast = tried + 1 >= tries || signal?.aborted === true;
		if (isLast || result.kind === 'refused') throw new FailureError(failure);
		const own = Math.min(FIRST_PAUSE_MS * 2 ** tried, MAX_OWN_PAUSE_MS);
		wantedMs = Math.max(result.retryAfterMs ?? 0, own * (0.75 + Math.random() / 2));
	}
}

export async function readReply(reading: Reading): Promise<Answer> {
	const { client, path, body: asked, what = path, signal, timeoutMs = TIMEOUT_MS } = reading;
	const method = asked === undefined ? 'GET' : 'POST';
	return await readWithRetries<Answer>(reading, async () => {
		const reply = await client.send({
			...{ method, path, body: asked },
			...{ purpose: 'read', timeoutMs, signal },
		});
		if (!reply.answered) {
			const failure = unreadable(what, reply.reason);
			return { kind: reply.kind === 'impossible' ? 'refused' : 'busy', failure };
		}
		const { status, body } = reply;
		const succeeded = status < 300;
		const refusedInside = isObject(body) && body.success === false;
		if (succeeded && body !== undefined && !refusedInside) return { kind: 'read', value: reply };
		const nameless = succeeded && refusedInside ? '' : ' without a usable answer';
		const failure = unreadable(what, wordsOf(reply) ?? `HTTP ${status}${nameless}`, status);
		const isBusy = status === 408 || status === 429 || (status >= 500 && status !== 501);
		const final = status >= 300 && !isBusy;
		return { kind: final ? 'refused' : 'busy', failure };
	});
}

/** With these a service says that it has no such route. */
const NO_ROUTE = new Set([404, 405, 410, 501]);

/** The answer of a route that not every service has. @param what it offers, in words */
export async function askOptional(reading: Reading, what: string): Promise<JsonObject> {
	const asked = await attemptLater(async () => await readBody({ what: `The ${what}`, ...reading }));
	if (asked.ok && isObject(asked.value)) return asked.value;
	const { path } = reading;
	if (asked.ok) throw new FailureError(unreadable(path, 'the answer has an unexpected shape'));
	const { failure } = asked;
	if (!NO_ROUTE.has(failure.httpStatus ?? 0)) throw new FailureError(failure);
	const message = `The service offers no ${what}`;
	const description = `It has no POST ${path}, or not for this key. Nothing was changed.`;
	throw new FailureError({ ...failure, outcome: 'rejected', message, description });
}

export async function readBody(reading: Reading): Promise<unknown> {
	return (await readReply(reading)).body;
}

export async function readBalance(reading: Omit<Reading, 'path'>): Promise<Attempt<number>> {
	const path = '/v1/credits';
	return await attemptLater(async () => {
		const balance = creditsOf(await readBody({ ...reading, path }));
		if (balance !== undefined) return balance;
		throw new FailureError(unreadable(path, 'the answer holds no balance'));
	});
}
