/** Serves the webhook that wakes a sleeping execution once all its tasks have finished. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { now } from '../base/clock';
import { timeLimit } from '../base/abort';
import { Limiter } from '../base/limiter';
import { inBackground } from '../n8n/log';
import { answeredStatus, answerRefusal, CallRefusal, refuse } from '../n8n/webhookCall';
import { pollUntilOneRuns, type Reported } from './ends';
import { lastDeadline } from './notes';
import { isStillAsleep } from './stillAsleep';
import { readWakingCall, type StoredSleep, type WakingCall } from './wakingCall';
import { hurry, watchOver } from './watch';
import { wokenItems } from './woken';

/** Never throws: n8n 2.41 would mark the execution as failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const call = await readWakingCall(context);
		return answerTo(call, await outcomeOf(call));
	} catch (error) {
		return refuse(context, 'a call for a sleeping execution', error);
	}
}

/** What becomes of a call. */
type CallOutcome =
	| { kind: 'woken'; items: INodeExecutionData[] }
	/** n8n wakes the execution by itself, because the deadline has passed. */
	| { kind: 'late' }
	/** This task keeps the execution asleep. `busy`: another call is being served, which may have found this task running. */
	| { kind: 'running' | 'unread' | 'busy'; taskId: string };

/** Sleeps that this process serves a call for. */
const served = new Set<string>();
/** When sleeps were handed to n8n, in epoch ms. It can lose them, so that a call counts again after 30 s. */
const handedOverAt = new BoundedMap<string, number>(20_000);

const busyWith = ({ taskId }: Reported) => ({ kind: 'busy', taskId }) as const;

/** Serves one call of each sleep at a time, and none while n8n stores what it was handed. */
async function outcomeOf(call: WakingCall): Promise<CallOutcome> {
	const { id, context, tasks } = call.sleep;
	if (served.has(id) || now() - (handedOverAt.get(id) ?? 0) < 30_000)
		return busyWith(call.reported);
	served.add(id);
	// No sender waits longer, so this one is told to come again.
	const sender = timeLimit(8_000);
	sender.signal.addEventListener('abort', () => answerRefusal(context, REFUSALS.busy()));
	// n8n wakes the execution then, which can soon sleep again, on a later node.
	const deadline = timeLimit(lastDeadline(tasks) - now());
	try {
		return await wakeIfFinished(call, deadline.signal);
	} finally {
		served.delete(id);
		sender.end();
		deadline.end();
	}
}

/** Turns until n8n has stored an execution: each keeps a core busy, and n8n loses some of too many. They wait for n8n alone, so all accounts share them. */
const handOvers = new Limiter(4);

/** Asks and downloads before it takes a turn, so that no turn waits for an outsider. */
async function wakeIfFinished(
	{ sleep, reported }: WakingCall,
	deadline: AbortSignal,
): Promise<CallOutcome> {
	const polled = await pollUntilOneRuns(sleep, reported, deadline);
	if (polled.kind !== 'finished') return polled;
	const items = await wokenItems(sleep, polled.ends, deadline);
	const endTurn = await handOvers.take(deadline).catch(() => undefined);
	if (endTurn === undefined) return { kind: 'late' };
	if (!(await isStillAsleep(sleep))) {
		endTurn();
		return busyWith(reported);
	}
	handedOverAt.set(sleep.id, now());
	inBackground(sleep.context, untilStored(sleep).finally(endTurn));
	return { kind: 'woken', items };
}

/** Waits until n8n has stored what it was handed. If it could not, or nothing tells, this process calls again. */
async function untilStored(sleep: StoredSleep): Promise<void> {
	const status = await answeredStatus(sleep.context.getResponseObject());
	if (status !== undefined && status < 400) return;
	if (status !== undefined) handedOverAt.delete(sleep.id);
	const all = sleep.tasks.map(({ taskId }) => taskId);
	hurry(sleep, all);
}

const REFUSALS = {
	late: () => new CallRefusal(200, 'its deadline has passed'),
	running: () => new CallRefusal(202, 'its tasks have not all finished'),
	unread: () => new CallRefusal(503, 'the service could not be asked, try again'),
	busy: () => new CallRefusal(503, 'the execution is being resumed, try again', 60),
};

/** Has a loop of this process follow up what the call leaves open. Throws a CallRefusal unless the execution wakes. */
function answerTo({ sleep, reported }: WakingCall, outcome: CallOutcome): IWebhookResponseData {
	if (outcome.kind === 'woken') {
		const workflowData = [outcome.items];
		return sleep.context.getResponseObject().headersSent
			? { noWebhookResponse: true, workflowData }
			: { webhookResponse: { received: true }, workflowData };
	}
	if (outcome.kind !== 'late')
		if (outcome.taskId === reported.taskId) hurry(sleep, [reported.taskId]);
		else watchOver(sleep);
	throw REFUSALS[outcome.kind]();
}
