/** Polls a task once: which route to ask, and what its answer means. Sources: docs/service.md, "Endpoints", "Poll routes" and "HTTP". */
import type { PollRoute, Purpose } from './account';
import type { ServiceClient } from './client';
import { readPoll, type Poll } from '../answers/poll';
import { now } from '../base/clock';
import { idProblem, uriEncoded } from '../base/url';
import { describesTask } from '../answers/task';

export interface PollRequest {
	taskId: string;
	/** Limit of the poll, in ms, over all routes that it asks. */
	timeoutMs: number;
	signal?: AbortSignal;
	purpose?: Purpose;
}

async function pollOnRoute(
	client: ServiceClient,
	{ taskId, route, ...within }: PollRequest & { route: PollRoute; purpose: Purpose },
): Promise<Poll> {
	const path = `/${route}/task/${uriEncoded(taskId)}`;
	const reply = await client.send({ method: 'GET', path, own: [], ...within });
	const poll = readPoll(reply, taskId);
	// Reading a large answer holds up all other accounts, so each megabyte without a task costs a second's pause.
	const heavyMs = reply.answered && reply.text.length > 1_000_000 ? reply.text.length / 1_000 : 0;
	if (poll.kind !== 'busy' || heavyMs <= (poll.retryAfterMs ?? 0)) return poll;
	return { ...poll, retryAfterMs: heavyMs };
}

const UNUSABLE_ID: Poll = {
	kind: 'denied',
	detail: "its ID can't be used in a URL path",
	final: true,
};

/** Polls a task once: on the route that last showed a task, and if it is unknown there, on the other one. */
export async function pollTask(
	client: ServiceClient,
	{ purpose = 'poll', ...at }: PollRequest,
	clockNow: () => number = now,
): Promise<Poll> {
	const { account } = client;
	if (idProblem(at.taskId) !== undefined) return UNUSABLE_ID;
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
	// The first answer counts if the other route does not exist, refuses, or describes no task, as a page for every path does.
	const { httpStatus = 500 } = second.poll.kind === 'busy' ? second.poll : { httpStatus: 404 };
	const isBusy = httpStatus >= 500 || httpStatus === 429;
	return isBusy || second.isTask ? second.poll : first.poll;
}
