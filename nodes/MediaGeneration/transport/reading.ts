/** Reads what costs nothing, again while the service can't answer, but never during a pause that it asked for. A pause of over a minute ends it. */
import type { IDataObject } from 'n8n-workflow';
import type { ServiceClient } from './client';
import { codeInside, refusalInside, type Answer, type Reply } from '../answers/reply';
import { backoffMs } from '../base/backoff';
import type { Clock } from '../base/clock';
import { realClock } from '../n8n/realClock';
import { attemptAsync, FailureError, type Attempt, type Failure } from '../base/outcomes';
import { seconds } from '../base/words';
import { isObject, type JsonObject } from '../base/json';
import { unreadable } from '../answers/failures';
import { carriedTexts } from '../answers/ownTexts';
import { saidIn } from '../answers/said';
import { creditsOf } from '../answers/balance';

export interface Reading {
	client: ServiceClient;
	path: string;
	/** Of a POST that costs nothing. */
	body?: IDataObject;
	tries?: number;
	clock?: Clock;
	signal?: AbortSignal | undefined;
	/** What is read, in words. The default is the path. */
	what?: string;
	/** Of one try. */
	timeoutMs?: number;
	/** Whether it is a task, which has a status and an error of its own. */
	isTask?: boolean;
}

/** Returns why a reply can't be used; undefined if it can. `isFinal`: another try changes nothing. */
function readingProblem(reply: Reply, { what = '', isTask, body: sent }: Reading) {
	if (!reply.answered)
		return { failure: unreadable(what, reply.reason), isFinal: reply.kind === 'impossible' };
	const { status, body } = reply;
	const succeeded = status < 300;
	// What was done only in part names the rest as errors.
	const isDone = sent !== undefined && isObject(body) && body.success === true;
	const refusedInside = (isTask || isDone ? codeInside : refusalInside)(body) !== undefined;
	// A POST can succeed without a word.
	if (succeeded && (body !== undefined || status === 204) && !refusedInside) return undefined;
	const { words, isSilent, isPage } = saidIn(reply, carriedTexts(sent));
	const isNameless = isSilent && !(succeeded && refusedInside);
	const reason = isNameless ? `${words} without a usable answer` : words;
	const failure = unreadable(what, reason, { httpStatus: status, isPage });
	const isBusy = status === 408 || status === 429 || (status >= 500 && status !== 501);
	return { failure, isFinal: !succeeded && !isBusy };
}

/** Throws a FailureError, like everything that reads here. */
export async function readReply(reading: Reading): Promise<Answer> {
	const { client, path, body, what = path, signal, tries = 4 } = reading;
	const { timeoutMs = 20_000, clock = realClock } = reading;
	const method = body === undefined ? 'GET' : 'POST';
	const sent = { method, path, body, purpose: 'read', own: carriedTexts(body) } as const;
	let failure: Failure | undefined;
	for (let failures = 0; ; failures += 1) {
		const backoff = { firstMs: 500, maxMs: 3_000 };
		const ownMs = failures === 0 ? 0 : backoffMs(failures, backoff, Math.random());
		const pauseMs = Math.max(ownMs, client.account.pausedUntil('read') - clock.now());
		const asked = `the service asked for a pause of ${seconds(pauseMs)}`;
		if (pauseMs > 60_000) throw new FailureError(failure ?? unreadable('The service', asked));
		if (pauseMs > 0) await clock.sleep(pauseMs, signal);
		if (signal?.aborted && failure !== undefined) throw new FailureError(failure);
		const reply = await client.send({ ...sent, timeoutMs, signal });
		const problem = readingProblem(reply, { ...reading, what });
		if (problem === undefined) return reply as Answer;
		({ failure } = problem);
		if (failures + 1 >= tries || problem.isFinal) throw new FailureError(failure);
	}
}

/** Returns whether the service says that it has no such route, or no such page. Every other refusal leaves that open. */
export const saysNoRoute = ({ httpStatus = 0 }: Failure): boolean =>
	[404, 405, 410, 501].includes(httpStatus);

/** Asks a route that not every service has. @param action what it does, in words */
export async function askOptional(reading: Reading, action: string): Promise<JsonObject> {
	const asked = await attemptAsync(async () => await readBody(reading));
	const answer = asked.ok ? (asked.value ?? {}) : undefined;
	if (isObject(answer)) return answer;
	const { path } = reading;
	if (asked.ok) throw new FailureError(unreadable(path, 'the answer has an unexpected shape'));
	const { failure } = asked;
	if (!saysNoRoute(failure)) throw new FailureError(failure);
	const message = `This service can't ${action}, or your key may not ask for it`;
	const description = `It has no POST ${path} for this key. Nothing was changed.`;
	throw new FailureError({ ...failure, outcome: 'rejected', message, description });
}

export async function readBody(reading: Reading): Promise<unknown> {
	return (await readReply(reading)).body;
}

export async function readBalance(reading: Omit<Reading, 'path'>): Promise<Attempt<number>> {
	const path = '/v1/credits';
	return await attemptAsync(async () => {
		const balance = creditsOf(await readBody({ ...reading, path }));
		if (balance !== undefined) return balance;
		throw new FailureError(unreadable(path, 'the answer holds no balance'));
	});
}
