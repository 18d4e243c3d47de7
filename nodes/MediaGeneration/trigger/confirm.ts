/** Asks what the service itself says about a task that a caller names, with few requests whatever is posted. */
import { now } from '../base/clock';
import { realClock } from '../n8n/realClock';
import type { ServiceClient } from '../transport/client';
import { askUntilClear } from '../transport/until';
import type { Poll } from '../answers/poll';
import { isAbout, type Task } from '../answers/task';
import { verdictOf, type Verdict } from '../answers/verdict';
import { CallRefusal } from '../n8n/webhookCall';
import { lanesOf } from './lanes';
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

async function pollOf(client: ServiceClient, asked: Callback): Promise<Poll> {
	const { taskId, task: claimed } = asked.posted;
	const { own, others, unknown } = lanesOf(client.account);
	const isOurs = asked.signed || client.account.made.has(taskId);
	const lane = isOurs ? own : others;
	const id = taskId.toLowerCase();
	const confirm = async (): Promise<Poll> => {
		if (!isOurs && (unknown.get(id) ?? 0) > now())
			return { kind: 'missing', detail: 'unknown a moment ago' };
		if (lane.isFull) return { kind: 'busy', detail: 'too many callbacks at once' };
		const poll = await ask(lane.clientOf(client, asked.deadline), asked, isOurs);
		if (poll.kind === 'missing') unknown.set(id, now() + 10_000);
		// A path that answers whatever is asked confirms nothing for a stranger.
		const isNameless = poll.kind === 'task' && !isOurs && !isAbout(poll.task.raw, taskId);
		return isNameless ? { kind: 'busy', detail: 'the answer names no task' } : poll;
	};
	const isEnough = (poll: Poll) => poll.kind !== 'task' || shows(poll.task, asked.posted);
	return await lane.share(`${claimed?.state}:${id}`, confirm, isEnough);
}

/** Returns whether a task is as far as a callback says. */
const shows = (task: Task, { taskId, task: claimed }: Posted) =>
	claimed?.state === 'running' || verdictOf(taskId, task).kind !== 'running';

/** A callback can be ahead of what the service shows of its task or files, unless it says itself that the task still runs. */
async function ask(
	client: ServiceClient,
	{ posted, deadline }: Callback,
	isOurs: boolean,
): Promise<Poll> {
	const { taskId, task: claimed } = posted;
	const isEnough = (task: Task) => shows(task, posted);
	const reportedFailed = claimed?.state === 'failed';
	const purpose = isOurs ? 'poll' : 'callback';
	const question = { taskId, timeoutMs: 5_000, purpose, askUntil: deadline, isEnough } as const;
	return await askUntilClear(client, { ...question, reportedFailed }, realClock);
}
