/**
 * One look at a task: which route to ask, and what its answer means. Nothing here ends the waiting by itself.
 * Sources: spec "Endpoints" and "Authentication"; service-facts "Poll routes" and "HTTP".
 */
import { pauseAccount, retryAfterMs, type PollRoute, type PollRouteOption } from './account';
import type { Answer, Reply, ServiceClient } from './client';
import { errorTextOf, parseTask, type Task } from './task';
import { isObject } from './json';

/** What one look at a task found. */
export type Look =
	| { kind: 'task'; task: Task }
	/** Nothing usable, try again: throttled, timed out, reset, 5xx, empty, HTML, malformed. */
	| { kind: 'busy'; detail: string; retryAfterMs?: number; httpStatus?: number }
	/** 404 on every route that was tried. */
	| { kind: 'missing'; detail: string; httpStatus?: number }
	/** 401 or 403: the key does not open it. */
	| { kind: 'denied'; detail: string; httpStatus: number };

export interface LookAt {
	taskId: string;
	kind: string;
	route: PollRouteOption;
	/** For each request, in ms. */
	timeoutMs: number;
	signal?: AbortSignal;
	/** `outsider`: looked at because an anonymous call said so; what the service says of throttling slows nobody else down. */
	purpose?: 'outsider';
}

/** What an answer to `GET .../task/{id}` means. Pure. */
export function readLook(reply: Reply, nowMs: number): Look {
	if (!reply.answered) return { kind: 'busy', detail: reply.reason };
	const { status } = reply;
	const words = wordsOf(reply);
	if (status === 401 || status === 403) {
		return { kind: 'denied', detail: words ?? 'no reason given', httpStatus: status };
	}
	if (status === 404) return { kind: 'missing', detail: words ?? 'HTTP 404', httpStatus: status };
	const task = status >= 200 && status < 300 ? parseTask(reply.body) : undefined;
	if (task !== undefined) return { kind: 'task', task };
	const wait = retryAfterMs(reply.headers['retry-after'], nowMs);
	return {
		kind: 'busy',
		detail:
			words ??
			(reply.text === '' ? `HTTP ${status} with an empty body` : `HTTP ${status} without a task`),
		httpStatus: status,
		...(wait === undefined ? {} : { retryAfterMs: wait }),
	};
}

/** The service's own words in an answer, with the status, or undefined. */
export function wordsOf({ status, body }: Answer): string | undefined {
	const text = isObject(body) ? errorTextOf(body) : undefined;
	return text === undefined ? undefined : `HTTP ${status}: ${text}`;
}

/** A 429 or 503 with Retry-After slows down every run of the account. */
export function learnFromThrottling(client: ServiceClient, reply: Reply, nowMs: number): void {
	if (!reply.answered || (reply.status !== 429 && reply.status !== 503)) return;
	const wait = retryAfterMs(reply.headers['retry-after'], nowMs);
	if (wait !== undefined) pauseAccount(client.account, nowMs, wait);
}

/** Encoded for a path. An ID comes from outside: half a surrogate pair, which can't be encoded, becomes U+FFFD. */
function pathPartOf(taskId: string): string {
	return encodeURIComponent(Buffer.from(taskId).toString());
}

/**
 * Looks at a task once. With `auto` it asks the route that last answered for this kind, and on 404 the other one;
 * the one that answers is remembered.
 */
export async function lookAtTask(
	client: ServiceClient,
	at: LookAt,
	now: () => number,
): Promise<Look> {
	const remembered = client.account.routes.get(at.kind) ?? 'v1';
	const routes: PollRoute[] =
		at.route === 'auto' ? (remembered === 'v1' ? ['v1', 'v1e'] : ['v1e', 'v1']) : [at.route];
	let missing: Look | undefined;
	for (const route of routes) {
		const reply = await client.send({
			method: 'GET',
			path: `/${route}/task/${pathPartOf(at.taskId)}`,
			timeoutMs: at.timeoutMs,
			signal: at.signal,
		});
		if (at.purpose !== 'outsider') learnFromThrottling(client, reply, now());
		const look = readLook(reply, now());
		if (look.kind === 'task') client.account.routes.set(at.kind, route);
		if (look.kind !== 'missing') {
			// The other route not existing says nothing while the first one knew no such task.
			return look.kind === 'denied' && missing !== undefined ? missing : look;
		}
		missing ??= look;
	}
	return missing ?? { kind: 'busy', detail: 'no route was asked' };
}
