/** Polls a task once: which route to ask, and what its answer means. Sources: docs/service.md, "Endpoints", "Poll routes" and "HTTP". */
import { kindOf429, retryAfterMs } from './throttling';
import type { PollRoute, Purpose } from './account';
import type { Answer, Reply, ServiceClient } from './client';
import { now } from '../base/clock';
import { isObject, uriEncoded } from '../base/json';
import { errorTextOf, describesTask, isSameId, parseTask, taskIdsIn, type Task } from './task';

export type Poll =
	| { kind: 'task'; task: Task }
	/** The task has ended, but under another ID or beside `success: false`: that counts once another poll repeats it (`until.ts`). */
	| { kind: 'unclear'; task: Task; detail: string }
	/** Nothing usable came, try again: throttled, timed out, reset, 5xx, empty, HTML, malformed. */
	| { kind: 'busy'; detail: string; retryAfterMs?: number; httpStatus?: number }
	/** Every route that was tried answered 404. */
	| { kind: 'missing'; detail: string; httpStatus?: number }
	/** The service refused in its own words, with 401 or 403. A single one is not proof: throttling can resemble it. */
	| { kind: 'denied'; detail: string; httpStatus: number };

export interface PollRequest {
	taskId: string;
	/** Limit of the whole poll, in ms, whichever routes it asks. */
	timeoutMs: number;
	signal?: AbortSignal;
	purpose?: Purpose;
}

export function readPoll(reply: Reply, taskId: string): Poll {
	if (!reply.answered) return { kind: 'busy', detail: reply.reason };
	const { status } = reply;
	const words = wordsOf(reply);
	// An HTML page comes from a proxy in between, which knows nothing about the key.
	const isFromProxy = !isObject(reply.body) && reply.text !== '';
	if ((status === 401 || status === 403) && !isFromProxy)
		return { kind: 'denied', detail: words ?? 'no reason given', httpStatus: status };
	if (status === 404) return { kind: 'missing', detail: words ?? 'HTTP 404', httpStatus: status };
	const task = status >= 200 && status < 300 ? parseTask(reply.body) : undefined;
	if (task !== undefined) return aboutTask(task, taskId, reply);
	const nameless = `HTTP ${status} ${reply.text === '' ? 'with an empty body' : 'without a task'}`;
	const wait = retryAfterMs(reply.headers);
	return { kind: 'busy', detail: words ?? nameless, httpStatus: status, retryAfterMs: wait };
}

function aboutTask(task: Task, taskId: string, { body, status }: Answer): Poll {
	const other = task.id;
	const isNamed = taskIdsIn(body).some((id) => isSameId(id, taskId));
	// The request may have failed, not the task: a throttled one can be answered with the status "error" (docs/service.md, "HTTP").
	const isDenied = task.state === 'failed' && isObject(body) && body.success === false;
	if (isNamed && !isDenied) return { kind: 'task', task };
	if (task.state !== 'failed' && other === undefined) return { kind: 'task', task };
	const words = task.errorText === undefined ? '' : `: ${task.errorText}`;
	const said = (seen: string) => `HTTP ${status} with ${seen}${words}`;
	const itsStatus = `the status "${task.status}" and`;
	if (isNamed) return { kind: 'unclear', task, detail: said(`${itsStatus} "success": false`) };
	const detail = said(other === undefined ? `${itsStatus} no task ID` : `another task (${other})`);
	return task.state !== 'running' && kindOf429(task.raw) !== 'rate'
		? { kind: 'unclear', task, detail }
		: { kind: 'busy', detail, httpStatus: status };
}

/** Returns the service's own words, or why they were not read, with the status. */
export function wordsOf({ status, body, unread }: Answer): string | undefined {
	const text = isObject(body) ? errorTextOf(body) : undefined;
	if (text !== undefined) return `HTTP ${status}: ${text}`;
	return unread === undefined ? undefined : `HTTP ${status} with an answer ${unread}`;
}

async function pollOnRoute(
	client: ServiceClient,
	{ taskId, route, ...within }: PollRequest & { route: PollRoute; purpose: Purpose },
): Promise<Poll> {
	const path = `/${route}/task/${uriEncoded(taskId)}`;
	const reply = await client.send({ method: 'GET', path, ...within });
	return readPoll(reply, taskId);
}

/** Polls a task once: on the route that last showed a task, and if it is unknown there, on the other one. */
export async function pollTask(
	client: ServiceClient,
	{ purpose = 'poll', ...at }: PollRequest,
	clockNow: () => number = now,
): Promise<Poll> {
	const { account } = client;
	const end = clockNow() + at.timeoutMs;
	const ask = async (route: PollRoute) => {
		const poll = await pollOnRoute(client, { ...at, timeoutMs: end - clockNow(), purpose, route });
		// Some servers answer every path with 200 and a status of their own: that is neither a task nor a route to remember.
		const isTask = poll.kind === 'task' && describesTask(poll.task.raw);
		if (isTask) account.pollRoute = route;
		return { poll, isTask };
	};
	const route = account.pollRoute;
	const first = await ask(route);
	if (first.poll.kind !== 'missing' || clockNow() >= end) return first.poll;
	const second = await ask(route === 'v1' ? 'v1e' : 'v1');
	// If the other route does not exist, refuses, or describes no task, the first answer counts.
	return second.poll.kind === 'busy' || second.isTask ? second.poll : first.poll;
}
