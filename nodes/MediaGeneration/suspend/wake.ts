/** Serves the webhook that wakes a sleeping execution once all its tasks have ended. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { postedTo, refuse, CallRefusal } from '../trigger/webhook';
import { answer } from '../n8n/webhook';
import { cleanerOf, logOf } from '../n8n/clean';
import { now, OncePerMinute, timeLimit } from '../base/clock';
import { Limiter } from '../base/limiter';
import { pause } from '../n8n/clock';
import { recentClient } from '../transport/client';
import { isObject, parseJson, urlOf } from '../base/json';
import { pollUntilOneRuns, type Reported } from './ends';
import { notesReference, notedTasks, readNotes, resumeUrlOf } from './notes';
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

/**
 * Executions that are being resumed, or that n8n has just got, by the ID in their notes. n8n may have read another call's execution before, and
 * takes that one as well if the execution sleeps again, on a later node (`expectedStatus`, n8n 2.41): what runs between would be paid for twice.
 */
const resuming = new Set<string>();
const KNOWN_MS = 30_000;
const unknownNotes = new OncePerMinute();
const refusals = new OncePerMinute();

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
	if (notes === 'unknown') {
		const words =
			'an execution was put to sleep by another version of this node, whose notes this one can not read. It sleeps until its deadline; its items then have the IDs of its tasks for "Task: Wait"';
		if (unknownNotes.isDue(now())) logOf(context).warn(words);
		throw new CallRefusal(200, 'it sleeps until its deadline');
	}
	// This call came with the token, which n8n has checked, so this n8n can call the URL, too.
	const { originalUrl } = context.getRequestObject();
	const resumeUrl = resumeUrlOf(url, urlOf(originalUrl, 'http://n8n')?.search ?? '');
	const isHere = notes !== 'none' && Array.isArray(items) && notes.items.length === items.length;
	if (!isHere || resumeUrl === undefined) throw new CallRefusal(404, NOT_WAITED_FOR);
	cleanerOf(context).hasUrl(resumeUrl);
	const { id } = notes;
	const tasks = notedTasks(notes);
	if (!tasks.some((each) => each.taskId === taskId)) throw new CallRefusal(200, OTHER_EXECUTION);
	const client = await recentClient(context);
	const body: unknown = context.getBodyData();
	const saysAllOver = isObject(body) && body[ALL_OVER] === true;
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
		reported: { taskId, saysFailed: task?.state === 'failed', saysAllOver },
	};
}

/** Never throws: n8n 2.41 would mark the execution as failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const call = await readCall(context);
		admit(call);
		return await wakeIfOver(call);
	} catch (error) {
		return refuse(context, 'a call for a sleeping execution', error);
	}
}

/** Throws if the caller has to come back later. A loop, which waits for its turn, wakes the execution meanwhile. */
function admit({ sleeping, reported: { saysAllOver } }: Call): void {
	const { id, context } = sleeping;
	if (resuming.has(id)) throw beingResumed();
	if (saysAllOver || resumptions.hasRoom) return;
	watchOver(sleeping, 'now');
	const words = 'too many executions are being resumed: they are woken one after another';
	if (refusals.isDue(now())) logOf(context).info(words);
	// By then this process has woken most of the executions that it refused to wake.
	throw new CallRefusal(503, words, 60);
}

const beingResumed = () => new CallRefusal(503, 'the execution is being resumed, try again');

async function wakeIfOver({ sleeping, reported }: Call): Promise<IWebhookResponseData> {
	const { id, context } = sleeping;
	resuming.add(id);
	// No sender waits longer.
	const sender = timeLimit(8_000);
	const late = () => refuse(context, 'a call', beingResumed());
	sender.signal.addEventListener('abort', late);
	let endTurn = () => {};
	const forget = () => {
		endTurn();
		resuming.delete(id);
	};
	let output: INodeExecutionData[] | undefined;
	try {
		endTurn = await resumptions.take(1, sender.signal).catch(() => {
			throw beingResumed();
		});
		output = await outputOf(sleeping, reported);
	} finally {
		sender.end();
		if (output === undefined) forget();
	}
	const response = context.getResponseObject();
	const isAnswered = response.headersSent ? { noWebhookResponse: true } : undefined;
	if (output === undefined)
		return isAnswered ?? answer(context, 202, { received: true, waiting: true });
	const workflowData = [output];
	const settle = async () => {
		endTurn();
		await pause(KNOWN_MS);
		resuming.delete(id);
	};
	if (isAnswered === undefined && !response.destroyed) {
		response.once('close', () => {
			if (response.statusCode < 400) void settle();
			else forget();
		});
		return { webhookResponse: { received: true }, workflowData };
	}
	// Nothing tells whether n8n stores them, so this process calls again.
	void pause(10_000).then(() => {
		void settle();
		watchOver(sleeping, 'now');
	});
	return { ...isAnswered, workflowData };
}

/** Returns the output; undefined if a task still runs. Throws a CallRefusal if the service does not say. */
async function outputOf(
	sleeping: Sleeping,
	reported: Reported,
): Promise<INodeExecutionData[] | undefined> {
	const polled = await pollUntilOneRuns(sleeping, reported);
	if (polled.kind === 'over') return await wokenItems(sleeping, polled.ends);
	if (polled.isReported) watchOver(expecting(sleeping, reported), 'now');
	else watchOver(sleeping, 'later');
	if (polled.kind === 'running') return undefined;
	throw new CallRefusal(503, 'the service could not be asked, try again');
}

/** The service's answer can lag behind its callback, so the reported task is polled like a new one. */
function expecting(asleep: Asleep, { taskId }: Reported): Asleep {
	const tasks = asleep.tasks.map((task) =>
		task.taskId === taskId ? { ...task, called: false, createdAt: now() } : task,
	);
	return { ...asleep, tasks };
}
