/** Asks what the service itself says about a task that a caller names, with few requests whatever is posted. */
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { now } from '../base/clock';
import { timeLimit } from '../base/abort';
import { Limiter } from '../base/limiter';
import { realClock } from '../n8n/realClock';
import type { Account } from '../transport/account';
import type { ServiceClient } from '../transport/client';
import { askUntilClear } from '../transport/until';
import type { Poll } from '../answers/poll';
import { isAbout, type Task } from '../answers/task';
import { verdictOf, type Verdict } from '../answers/verdict';
import { CallRefusal } from '../n8n/webhookCall';
import type { Posted } from './webhook';

export interface Callback {
	posted: Posted;
	/** Whether the called URL is signed, i.e. known to nobody but the service and who may use the credential. */
	signed: boolean;
	/** Epoch ms. */
	deadline: number;
}

/**
 * Decides how a posted task has ended: as the service says, or without a client as the post says. Throws a CallRefusal if neither says it.
 * None is final for the sender, because the service's own record can be behind its callback.
 */
export async function judgePosted(
	client: ServiceClient | undefined,
	asked: Callback,
): Promise<Verdict> {
	const { taskId, task: claimed } = asked.posted;
	if (client === undefined) {
		if (claimed === undefined) throw new CallRefusal(400, 'the body is not a task');
		return verdictOf(taskId, claimed);
	}
	const poll = await pollOf(client, asked);
	if (poll.kind === 'missing')
		throw new CallRefusal(503, 'the service does not know this task yet, try again');
	if (poll.kind !== 'task')
		throw new CallRefusal(503, 'the service could not be asked about this task, try again');
	const verdict = verdictOf(taskId, poll.task);
	if (verdict.kind !== 'running') client.account.made.noteEnd(taskId);
	if (poll.task.state === 'running' && claimed?.state !== 'running')
		throw new CallRefusal(503, 'the service does not show the end of this task yet, try again');
	return verdict;
}

/** Concurrent requests, and the callbacks that are being confirmed: copies share one answer. */
const laneOf = (limit: number) => ({
	turns: new Limiter(limit),
	underWay: new Map<string, Promise<Poll>>(),
});
type Lane = ReturnType<typeof laneOf>;

/** The callbacks of one account. Those of other accounts do not wait for them. */
const callbacksOfAccount = () => ({
	/** For tasks that this process made, and signed URLs. */
	own: laneOf(10),
	/** For whatever else anybody posts. */
	others: laneOf(2),
	/** Epoch ms until which an ID counts as unknown, without another request. */
	unknown: new BoundedMap<string, number>(),
});

const ofAccounts = new BoundedMap<Account, ReturnType<typeof callbacksOfAccount>>();

async function pollOf(client: ServiceClient, asked: Callback): Promise<Poll> {
	const { taskId, task: claimed } = asked.posted;
	const { own, others, unknown } = getOrCreate(ofAccounts, client.account, callbacksOfAccount);
	const isOurs = asked.signed || client.account.made.has(taskId);
	const lane = isOurs ? own : others;
	const id = taskId.toLowerCase();
	const key = `${claimed?.state}:${id}`;
	const present = lane.underWay.get(key);
	if (present !== undefined) return await present;
	if (!isOurs && (unknown.get(id) ?? 0) > now())
		return { kind: 'missing', detail: 'unknown a moment ago' };
	if (!isOurs && lane.turns.waiting >= 20)
		return { kind: 'busy', detail: 'too many callbacks at once' };
	const polling = ask(inTurn(client, lane, asked.deadline), asked, isOurs)
		.then((poll): Poll => {
			if (poll.kind === 'missing') unknown.set(id, now() + 10_000);
			// A path that answers whatever is asked confirms nothing for a stranger.
			const isNameless = poll.kind === 'task' && !isOurs && !isAbout(poll.task.raw, taskId);
			return isNameless ? { kind: 'busy', detail: 'the answer names no task' } : poll;
		})
		.finally(() => lane.underWay.delete(key));
	lane.underWay.set(key, polling);
	return await polling;
}

/** A callback can be ahead of what the service shows of its task or files, unless it says itself that the task still runs. */
async function ask(
	client: ServiceClient,
	{ posted: { taskId, task: claimed }, deadline }: Callback,
	isOurs: boolean,
): Promise<Poll> {
	const isEnough = (task: Task) =>
		claimed?.state === 'running' || verdictOf(taskId, task).kind !== 'running';
	const reportedFailed = claimed?.state === 'failed';
	const purpose = isOurs ? 'poll' : 'callback';
	const question = { taskId, timeoutMs: 5_000, purpose, askUntil: deadline, isEnough } as const;
	return await askUntilClear(client, { ...question, reportedFailed }, realClock);
}

/** A client whose requests wait for their turn, and end by the deadline. */
function inTurn(client: ServiceClient, { turns }: Lane, deadline: number): ServiceClient {
	const send: ServiceClient['send'] = async (request) => {
		const timeoutMs = Math.min(request.timeoutMs, deadline - now());
		const limit = timeLimit(timeoutMs);
		const turn = await turns.take(limit.signal).catch(() => undefined);
		limit.end();
		if (turn === undefined)
			return { answered: false, kind: 'unanswered', reason: 'too many callbacks at once' };
		const leftMs = Math.min(request.timeoutMs, Math.max(1, deadline - now()));
		return await client.send({ ...request, timeoutMs: leftMs }).finally(turn);
	};
	return { ...client, send };
}
