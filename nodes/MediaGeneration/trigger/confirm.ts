/** Asks what the service itself says about a task that an anonymous caller names, with few requests whatever is posted. */
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { now, timeLimit } from '../base/clock';
import { Limiter } from '../base/limiter';
import { realClock } from '../n8n/realClock';
import type { Account } from '../transport/account';
import type { ServiceClient } from '../transport/client';
import { pollTask } from '../transport/pollTask';
import type { Poll } from '../answers/poll';
import { pauseBeforeNext, TWICE, unasked, UNSEEN, weigh, type Seen } from '../transport/until';
import { verdictOf, type Verdict } from '../answers/verdict';
import { CallRefusal, type Posted } from './webhook';

/** The verdict, or the last poll if there is none. */
type Confirmed = Verdict | Exclude<Poll, { kind: 'task' }>;

/** The callbacks of one account. Those of other accounts do not wait for them. */
class Callbacks {
	/** Concurrent polls. */
	readonly turns = new Limiter(10);
	/** Copies of a callback share one answer. */
	readonly underWay = new Map<string, Promise<Confirmed>>();
	/** Epoch ms until which an ID counts as unknown, without another request. */
	readonly unknown = new BoundedMap<string, number>();
}

const ofAccounts = new BoundedMap<Account, Callbacks>();
const callbacksOf = (account: Account) => getOrCreate(ofAccounts, account, () => new Callbacks());

async function pollInTurn(client: ServiceClient, taskId: string, deadline: number): Promise<Poll> {
	const timeoutMs = Math.min(5_000, deadline - now());
	const limit = timeLimit(timeoutMs);
	const turn = await callbacksOf(client.account)
		.turns.take(1, limit.signal)
		.catch(() => undefined);
	limit.end();
	if (turn === undefined) return { kind: 'busy', detail: 'too many callbacks at once' };
	const at = { taskId, timeoutMs, purpose: 'outsider' } as const;
	return await pollTask(client, at).finally(turn);
}

/** A callback can be ahead of what the service shows of its task or files, unless it says itself that the task still runs. */
async function ask(client: ServiceClient, posted: Posted, deadline: number): Promise<Confirmed> {
	const { account } = client;
	const { taskId, task: claimed } = posted;
	let seen: Seen = { ...UNSEEN, reportedFailed: claimed?.state === 'failed' };
	let said: Confirmed | undefined;
	let pauseMs = 0;
	let misses = 0;
	for (let polls = 1; ; polls += 1) {
		const restMs = Math.max(account.pausedUntil('poll'), account.pausedUntil('outsider')) - now();
		if (now() + Math.max(restMs, pauseMs) >= deadline) {
			// A task may end during a pause that the service asked for.
			const isStale = said?.kind === 'running' && restMs > pauseMs;
			return said === undefined || isStale ? unasked(restMs) : said;
		}
		if (restMs > 0 || pauseMs > 0) await realClock.sleep(Math.max(restMs, pauseMs));
		const poll = await pollInTurn(client, taskId, deadline);
		if (poll.kind === 'missing') misses += 1;
		const weighed = weigh(seen, poll, { nowMs: now(), proof: TWICE });
		const { clear } = weighed;
		seen = weighed.seen;
		if (clear?.kind === 'task') {
			said = verdictOf(taskId, clear.task);
			if (said.kind !== 'running') account.taskEnded(taskId);
			const runs = clear.task.state === 'running' && claimed?.state === 'running';
			if (said.kind !== 'running' || runs) return said;
		} else if (clear !== undefined) {
			// One of the two refusals can be about the key, and say nothing about the task.
			return clear.kind === 'missing' && misses < TWICE.polls ? { ...clear, kind: 'busy' } : clear;
		} else if (poll.kind !== 'task') said = poll;
		pauseMs = pauseBeforeNext(poll, polls);
	}
}

/** @param deadline epoch ms */
export async function confirm(
	client: ServiceClient,
	posted: Posted,
	deadline: number,
): Promise<Confirmed> {
	const { unknown, underWay } = callbacksOf(client.account);
	const { taskId, task } = posted;
	if ((unknown.get(taskId) ?? 0) > now())
		return { kind: 'missing', detail: 'unknown a moment ago' };
	const present = underWay.get(taskId);
	const asking = present ?? ask(client, posted, deadline).finally(() => underWay.delete(taskId));
	underWay.set(taskId, asking);
	const confirmed = await asking;
	if (confirmed.kind === 'missing') unknown.set(taskId, now() + 10_000);
	// The earlier callback ran out of time, or said itself that the task runs.
	const mayAsk = task?.state !== 'running' && deadline - now() >= 500;
	return present !== undefined && confirmed.kind === 'running' && mayAsk
		? await confirm(client, posted, deadline)
		: confirmed;
}

/**
 * Decides how a posted task has ended: as the service says, or without a client as the post says. Throws a CallRefusal if neither says it.
 * @param deadline epoch ms
 */
export async function judgePosted(
	client: ServiceClient | undefined,
	posted: Posted,
	deadline: number,
): Promise<Verdict> {
	if (client !== undefined) {
		const said = await confirm(client, posted, deadline);
		if (said.kind === 'missing') throw new CallRefusal(404, 'the service does not know this task');
		if (said.kind === 'running' || said.kind === 'done' || said.kind === 'failed') return said;
		throw new CallRefusal(503, 'the service could not be asked about this task, try again');
	}
	if (posted.task === undefined) throw new CallRefusal(400, 'the body is not a task');
	return verdictOf(posted.taskId, posted.task);
}
