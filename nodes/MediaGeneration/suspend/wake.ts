/** Serves the webhook that wakes a sleeping execution once all its tasks have ended. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { postedTo, refuse, CallRefusal } from '../trigger/webhook';
import { answeredStatus } from '../n8n/webhookCall';
import { cleanerOf } from '../n8n/clean';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { now, OncePerMinute, timeLimit } from '../base/clock';
import { Limiter } from '../base/limiter';
import { recentClient } from '../transport/client';
import { isObject, parseJson, textsIn } from '../base/json';
import { isSameId } from '../answers/task';
import { pollUntilOneRuns, type Reported } from './ends';
import { lastDeadline, notesReference, notedTasks, readNotes, resumeUrlOf } from './notes';
import {
	ALL_OVER,
	NOT_WAITED_FOR,
	OTHER_EXECUTION,
	RESUMPTIONS_AT_ONCE,
	watchOver,
	type Asleep,
} from './watch';
import { wokenItems, type Sleeping } from './woken';

const resumptions = new Limiter(RESUMPTIONS_AT_ONCE);

/** The calls for one sleeping execution. */
class Calls {
	/**
	 * Epoch ms until which no other call resumes it. n8n may have read that call's execution before, and takes it as well if the execution
	 * sleeps again, on a later node (`expectedStatus`, n8n 2.41): what runs between would be paid for twice.
	 */
	resumedUntil = 0;
	/** Tasks that calls named which were refused meanwhile. Each can have ended right after it was polled. */
	readonly missed = new Set<string>();
}

/** By the ID in the notes. */
const called = new BoundedMap<string, Calls>(20_000);
/** n8n can lose an execution that it has taken, so that a later call has to count again. */
const KNOWN_MS = 30_000;
const unknownNotes = new OncePerMinute();
const UNKNOWN_NOTES =
	'an execution was put to sleep by another version of this node, whose notes this one can not read. It sleeps until its deadline; its items then have the IDs of its tasks for "Task: Wait"';

interface Call {
	sleeping: Sleeping;
	reported: Reported;
	calls: Calls;
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
	if (notes === 'unknown')
		throw new CallRefusal(200, 'it sleeps until its deadline', {
			line: unknownNotes.isDue(now()) ? UNKNOWN_NOTES : undefined,
		});
	const resumeUrl = resumeUrlOf(url);
	const isHere = notes !== 'none' && Array.isArray(items) && notes.items.length === items.length;
	if (!isHere || resumeUrl === undefined) throw new CallRefusal(404, NOT_WAITED_FOR);
	const { id } = notes;
	const tasks = notedTasks(notes);
	const named = tasks.find((each) => isSameId(each.taskId, taskId));
	if (named === undefined) throw new CallRefusal(200, OTHER_EXECUTION);
	const client = await recentClient(context);
	cleanerOf(context).hasUrl(resumeUrl);
	const body: unknown = context.getBodyData();
	const over = isObject(body) ? body[ALL_OVER] : undefined;
	const givenUp = Array.isArray(over) ? textsIn(over) : undefined;
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
		reported: { taskId: named.taskId, saysFailed: task?.state === 'failed', givenUp },
		calls: getOrCreate(called, id, () => new Calls()),
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

/** Throws if the caller has to come back later. A loop, which waits for its turn, wakes the execution meanwhile. */
function admit({ sleeping, reported: { taskId, givenUp }, calls }: Call): void {
	if (calls.resumedUntil > now()) {
		calls.missed.add(taskId);
		throw beingResumed();
	}
	if (givenUp !== undefined || resumptions.hasRoom) return;
	watchOver(sleeping, 'now');
	const words = 'too many executions are being resumed: they are woken one after another';
	// By then this process has woken most of the executions that it refused to wake.
	throw new CallRefusal(503, words, { retryAfterS: 60 });
}

const beingResumed = () => new CallRefusal(503, 'the execution is being resumed, try again');

async function wakeIfOver(call: Call): Promise<IWebhookResponseData> {
	admit(call);
	const { calls } = call;
	const { context } = call.sleeping;
	calls.resumedUntil = Infinity;
	calls.missed.clear();
	// No sender waits longer.
	const sender = timeLimit(8_000);
	sender.signal.addEventListener('abort', () => refuse(context, 'a call', beingResumed()));
	let endTurn = () => {};
	let isOver = false;
	try {
		endTurn = await resumptions.take(1, sender.signal).catch(() => {
			throw beingResumed();
		});
		const workflowData = [await outputOf(call)];
		isOver = true;
		void settle(call).finally(endTurn);
		return context.getResponseObject().headersSent
			? { noWebhookResponse: true, workflowData }
			: { webhookResponse: { received: true }, workflowData };
	} finally {
		sender.end();
		if (!isOver) {
			endTurn();
			calls.resumedUntil = 0;
		}
	}
}

/** Waits until n8n has stored what it was handed. If it has not, or nothing tells, this process calls again. */
async function settle({ sleeping, calls }: Call): Promise<void> {
	const status = await answeredStatus(sleeping.context.getResponseObject());
	const hasFailed = status !== undefined && status >= 400;
	calls.resumedUntil = hasFailed ? 0 : now() + KNOWN_MS;
	if (status === undefined || hasFailed) watchOver(sleeping, 'now');
}

/** Throws a CallRefusal if a task still runs, or the service does not say. */
async function outputOf(call: Call): Promise<INodeExecutionData[]> {
	const { sleeping, reported, calls } = call;
	const polled = await pollUntilOneRuns(sleeping, reported);
	if (polled.kind === 'over') {
		const output = await wokenItems(sleeping, polled.ends);
		if (now() < lastDeadline(sleeping.tasks)) return output;
		// n8n has woken it, and it can sleep again by now, on a later node.
		throw new CallRefusal(200, 'its deadline has passed');
	}
	if (polled.isReported) calls.missed.add(reported.taskId);
	if (calls.missed.size > 0) watchOver(expecting(sleeping, calls.missed), 'now');
	else watchOver(sleeping, 'later');
	if (polled.kind === 'running') throw new CallRefusal(202, 'its tasks have not all ended');
	throw new CallRefusal(503, 'the service could not be asked, try again');
}

/** The service's answers can lag behind its callbacks, so tasks that were called for are polled like new ones. */
function expecting(asleep: Asleep, taskIds: ReadonlySet<string>): Asleep {
	const tasks = asleep.tasks.map((task) =>
		taskIds.has(task.taskId) ? { ...task, called: false, createdAt: now() } : task,
	);
	return { ...asleep, tasks };
}
