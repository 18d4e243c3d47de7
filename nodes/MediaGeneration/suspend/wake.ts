/** Serves the webhook that wakes a sleeping execution once all its tasks have ended. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { postedTo, refuse, CallRefusal } from '../trigger/webhook';
import { answeredStatus } from '../n8n/webhookCall';
import { cleanerOf, inBackground } from '../n8n/clean';
import { BoundedMap } from '../base/boundedMap';
import { now, timeLimit } from '../base/clock';
import { Limiter } from '../base/limiter';
import { callSelf, recentClient } from '../transport/client';
import { isObject, parseJson, textsIn } from '../base/json';
import { isSameId } from '../answers/task';
import { pollUntilOneRuns, type Reported } from './ends';
import { lastDeadline, notesReference, notedTasks, readNotes, resumeUrlOf } from './notes';
import { meaningOf, watchOver } from './watch';
import { wokenItems, type Sleeping } from './woken';

/** Executions that n8n is storing: it keeps a core busy with each, and loses some if it is handed too many at once. Nobody outside is waited for in a turn. */
const handedOver = new Limiter(4);

/** Epoch ms, by the ID in the notes. Until then, other calls are refused: their work would be in vain. */
const resumedUntil = new BoundedMap<string, number>(20_000);

interface Call {
	sleeping: Sleeping;
	reported: Reported;
}

/** Throws if no task of an execution that sleeps on this node is named. Reads texts, because n8n's isolated engine copies objects field by field. */
async function readCall(context: IWebhookFunctions): Promise<Call> {
	const { taskId, task } = await postedTo(context);
	const all = context.evaluateExpression(
		`{{ [JSON.stringify($input.all()), ${notesReference(context.getNode().name)}, $execution.resumeUrl] }}`,
	) as unknown;
	const [kept, noted, url] = Array.isArray(all) ? (all as unknown[]) : [];
	const notes = readNotes(noted);
	const items = typeof kept === 'string' ? parseJson(kept) : undefined;
	const resumeUrl = resumeUrlOf(url);
	const isHere = notes !== undefined && Array.isArray(items) && notes.items.length === items.length;
	if (!isHere || resumeUrl === undefined) throw new CallRefusal(404, 'no task is waited for here');
	const { id } = notes;
	const body: unknown = context.getBodyData();
	// Many know the URL. Only this node knows the ID, which is nowhere but in the notes.
	const own = isObject(body) && body.sleep_id === id ? body : {};
	if (isObject(body) && body.asks === true)
		throw own === body
			? new CallRefusal(202, 'it still sleeps')
			: new CallRefusal(404, 'no task is waited for here');
	const tasks = notedTasks(notes);
	const named = tasks.find((each) => isSameId(each.taskId, taskId));
	if (named === undefined) throw new CallRefusal(200, 'the task does not belong to this execution');
	const client = await recentClient(context);
	cleanerOf(context).hasUrl(resumeUrl);
	return {
		sleeping: {
			id,
			tasks,
			resumeUrl,
			context,
			client,
			notes,
			items: items as INodeExecutionData[],
		},
		reported: {
			taskId: named.taskId,
			saysFailed: task?.state === 'failed',
			givenUp: textsIn(own.given_up),
		},
	};
}

/** Never throws: n8n 2.41 would mark the execution as failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await wakeIfOver(await readCall(context));
	} catch (error) {
		return refuse(context, 'a call for a sleeping execution', error);
	}
}

const beingResumed = () =>
	new CallRefusal(503, 'the execution is being resumed, try again', { retryAfterS: 60 });

/** Throws if the caller has to come back later. A loop wakes the execution in any case. */
async function wakeIfOver(call: Call): Promise<IWebhookResponseData> {
	const { sleeping, reported } = call;
	const { id, context, tasks } = sleeping;
	// Its task may have ended right after it was polled.
	const refused = () => {
		watchOver(sleeping, [reported.taskId]);
		return beingResumed();
	};
	if ((resumedUntil.get(id) ?? 0) > now()) throw refused();
	resumedUntil.set(id, Infinity);
	// No sender waits longer.
	const sender = timeLimit(8_000);
	sender.signal.addEventListener('abort', () => refuse(context, 'a call', beingResumed()));
	// n8n wakes it then, and it can sleep again soon, on a later node.
	const deadline = timeLimit(lastDeadline(tasks) - now());
	let isHandedOver = false;
	try {
		const items = await outputOf(call, deadline.signal);
		const endTurn = await handedOver.take(1, deadline.signal).catch(() => {
			throw new CallRefusal(200, 'its deadline has passed');
		});
		if (!(await isStillAsleep(sleeping))) {
			endTurn();
			throw refused();
		}
		isHandedOver = true;
		inBackground(context, settle(sleeping).finally(endTurn));
		return context.getResponseObject().headersSent
			? { noWebhookResponse: true, workflowData: [items] }
			: { webhookResponse: { received: true }, workflowData: [items] };
	} finally {
		if (!isHandedOver) resumedUntil.delete(id);
		sender.end();
		deadline.end();
	}
}

/**
 * Asks n8n about the execution as it is now, because n8n loaded it before it ran this webhook. If it has meanwhile gone to sleep on a later
 * node, n8n accepts the stale copy and runs everything in between again. An answer that is not n8n's decides nothing.
 */
async function isStillAsleep({ id, tasks, resumeUrl, context }: Sleeping): Promise<boolean> {
	const body = { id: tasks[0]?.taskId, sleep_id: id, asks: true };
	const reply = await callSelf(context, { url: resumeUrl, body, timeoutMs: 3_000 });
	return ['handled', 'unknown'].includes(meaningOf(reply));
}

/** Waits until n8n has stored what it was handed. If it has not, or nothing tells, this process calls again. */
async function settle(sleeping: Sleeping): Promise<void> {
	const { id, context, tasks } = sleeping;
	const status = await answeredStatus(context.getResponseObject());
	const hasFailed = status !== undefined && status >= 400;
	// n8n can lose an execution that it has taken, so that a later call has to count again.
	resumedUntil.set(id, hasFailed ? 0 : now() + 30_000);
	const all = tasks.map(({ taskId }) => taskId);
	if (status === undefined || hasFailed) watchOver(sleeping, all);
}

/** Throws a CallRefusal if a task still runs, or the service does not say. */
async function outputOf(
	{ sleeping, reported }: Call,
	signal: AbortSignal,
): Promise<INodeExecutionData[]> {
	const polled = await pollUntilOneRuns(sleeping, reported, signal);
	if (polled.kind === 'over') return await wokenItems(sleeping, polled.ends, signal);
	watchOver(sleeping, polled.isReported ? [reported.taskId] : []);
	throw polled.kind === 'running'
		? new CallRefusal(202, 'its tasks have not all ended')
		: new CallRefusal(503, 'the service could not be asked, try again');
}
