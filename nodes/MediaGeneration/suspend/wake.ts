/** Serves the webhook that wakes a sleeping execution once all its tasks have finished. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { now } from '../base/clock';
import { timeLimit } from '../base/abort';
import { Limiter } from '../base/limiter';
import { inBackground } from '../n8n/log';
import { answeredStatus, CallRefusal, refuse } from '../n8n/webhookCall';
import { callSelf } from '../transport/selfCall';
import { pollUntilOneRuns, type TaskEnd } from './ends';
import { lastDeadline } from './notes';
import { meaningOf, ownCall } from './ownCalls';
import { readWakingCall, type StoredSleep, type WakingCall } from './wakingCall';
import { watchOver } from './watch';
import { wokenItems } from './woken';

/** Never throws: n8n 2.41 would mark the execution as failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await wakeIfFinished(await readWakingCall(context));
	} catch (error) {
		return refuse(context, 'a call for a sleeping execution', error);
	}
}

/** The sleeps that this process wakes: for one call of each at a time, and for none while n8n stores what it was handed. */
class Wakings {
	private readonly served = new Set<string>();
	/** Epoch ms. n8n can lose what it was handed, so that a later call has to count again. */
	private readonly storedBy = new BoundedMap<string, number>(20_000);

	/** Returns whether the call may wake it. */
	begin(id: string): boolean {
		if (this.served.has(id) || (this.storedBy.get(id) ?? 0) > now()) return false;
		this.served.add(id);
		return true;
	}

	stored(id: string, inMs: number): void {
		this.storedBy.set(id, now() + inMs);
	}

	release(id: string): void {
		this.served.delete(id);
	}
}

const wakings = new Wakings();

/** Throws a CallRefusal if the caller has to come back later. */
async function wakeIfFinished(call: WakingCall): Promise<IWebhookResponseData> {
	const { sleep } = call;
	const { id, context, tasks } = sleep;
	if (!wakings.begin(id)) throw servedOtherwise(call);
	// No sender waits longer.
	const sender = timeLimit(8_000);
	sender.signal.addEventListener('abort', () => refuse(context, 'a call', comeAgain()));
	// n8n wakes it then, and it can sleep again soon, on a later node.
	const deadline = timeLimit(lastDeadline(tasks) - now());
	try {
		const ends = await endsOfAll(call, deadline.signal);
		const items = await wokenItems(sleep, ends, deadline.signal);
		return await handOver(call, items, deadline.signal);
	} finally {
		wakings.release(id);
		sender.end();
		deadline.end();
	}
}

const comeAgain = () =>
	new CallRefusal(503, 'the execution is being resumed, try again', { retryAfterS: 60 });

/** Another call may not have woken it, e.g. because the task finished right after it was polled: a loop of this process makes sure. */
function servedOtherwise({ sleep, reported }: WakingCall): CallRefusal {
	watchOver(sleep, [reported.taskId]);
	return comeAgain();
}

/** Throws a CallRefusal if a task still runs, or the service does not say. */
async function endsOfAll(
	{ sleep, reported }: WakingCall,
	signal: AbortSignal,
): Promise<ReadonlyMap<string, TaskEnd>> {
	const polled = await pollUntilOneRuns(sleep, reported, signal);
	if (polled.kind === 'finished') return polled.ends;
	watchOver(sleep, polled.isReported ? [reported.taskId] : []);
	throw polled.kind === 'running'
		? new CallRefusal(202, 'its tasks have not all finished')
		: new CallRefusal(503, 'the service could not be asked, try again');
}

/** Executions that n8n is storing: it keeps a core busy with each, and loses some if it is handed too many at once. Nobody outside is waited for in a turn. */
const handOvers = new Limiter(4);

/** Throws a CallRefusal if the execution has been woken otherwise by now. */
async function handOver(
	call: WakingCall,
	items: INodeExecutionData[],
	deadline: AbortSignal,
): Promise<IWebhookResponseData> {
	const { sleep } = call;
	const endTurn = await handOvers.take(deadline).catch(() => {
		throw new CallRefusal(200, 'its deadline has passed');
	});
	if (!(await isStillAsleep(sleep))) {
		endTurn();
		throw servedOtherwise(call);
	}
	wakings.stored(sleep.id, 30_000);
	inBackground(sleep.context, untilStored(sleep).finally(endTurn));
	const workflowData = [items];
	return sleep.context.getResponseObject().headersSent
		? { noWebhookResponse: true, workflowData }
		: { webhookResponse: { received: true }, workflowData };
}

/**
 * Asks n8n about the execution as it is now, because n8n loaded it before it ran this webhook. If it has meanwhile gone to sleep on a later
 * node, n8n accepts the stale copy and runs everything in between again. A reply that is not n8n's decides nothing.
 */
async function isStillAsleep(sleep: StoredSleep): Promise<boolean> {
	const body = ownCall(sleep, { asks: true });
	const reply = await callSelf(sleep.context, { url: sleep.resumeUrl, body, timeoutMs: 3_000 });
	return ['handled', 'unknown'].includes(meaningOf(reply));
}

/** Waits until n8n has stored what it was handed. If it has not, or nothing tells, this process calls again. */
async function untilStored(sleep: StoredSleep): Promise<void> {
	const { id, context, tasks } = sleep;
	const status = await answeredStatus(context.getResponseObject());
	const hasFailed = status !== undefined && status >= 400;
	if (hasFailed) wakings.stored(id, 0);
	const all = tasks.map(({ taskId }) => taskId);
	if (status === undefined || hasFailed) watchOver(sleep, all);
}
