/** Serves the webhook that wakes a sleeping execution once all its tasks have finished. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { now } from '../base/clock';
import { timeLimit } from '../base/abort';
import { Limiter } from '../base/limiter';
import { inBackground } from '../n8n/clean';
import { answeredStatus } from '../n8n/webhookCall';
import { callSelf } from '../transport/client';
import { CallRefusal, refuse } from '../trigger/webhook';
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

/** IDs of the sleeps for which a call is being served. */
const served = new Set<string>();

/** Epoch ms by which n8n has stored what it was handed of a sleep. It can lose that, so that a later call has to count again. */
const storedBy = new BoundedMap<string, number>(20_000);

/** Throws a CallRefusal if the caller has to come back later. */
async function wakeIfFinished(call: WakingCall): Promise<IWebhookResponseData> {
	const { sleep } = call;
	const { id, context, tasks } = sleep;
	if (served.has(id) || (storedBy.get(id) ?? 0) > now()) throw servedOtherwise(call);
	served.add(id);
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
		served.delete(id);
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
	const endTurn = await handOvers.take(1, deadline).catch(() => {
		throw new CallRefusal(200, 'its deadline has passed');
	});
	if (!(await isStillAsleep(sleep))) {
		endTurn();
		throw servedOtherwise(call);
	}
	storedBy.set(sleep.id, now() + 30_000);
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
	if (hasFailed) storedBy.delete(id);
	const all = tasks.map(({ taskId }) => taskId);
	if (status === undefined || hasFailed) watchOver(sleep, all);
}
