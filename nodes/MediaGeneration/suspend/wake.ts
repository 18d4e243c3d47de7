/** Serves the webhook that wakes a sleeping execution once all its tasks are over. Exactly one item goes out per sleeping item, in order. */
import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { postedTo, refuse, CallRefusal, type Posted } from '../trigger/webhook';
import { answer } from '../n8n/webhook';
import { failureItem, plainFailureItem } from '../files/failure';
import { assemble, failureOfWhole } from '../files/assembly';
import { noteWaking, outcomesIn } from '../files/hint';
import { carryInput, Delivery } from '../files/item';
import { cleanerOf, cleanItems, logOf } from '../n8n/clean';
import { expressedItems } from '../n8n/itemFiles';
import { now, OncePerMinute, timeLimit } from '../base/clock';
import { pause } from '../n8n/clock';
import { recentClient } from '../transport/client';
import type { Failure } from '../base/failures';
import { isObject, parseJson, urlOf } from '../base/json';
import type { Done } from '../transport/verdict';
import { notesReference, notedTasks, readNotes, resumeUrlOf, type Notes } from './notes';
import { pollUntilOneRuns, type TaskEnd } from './ends';
import { ALL_OVER, OTHER_EXECUTION, NOT_WAITED_FOR, watchOver, type Asleep } from './watch';

/**
 * n8n loads a whole execution for each call, keeps a core busy with a resumption, and loses executions where too many come at once. Half of
 * the places are for the calls of loops ({@link ALL_OVER}), which wake what was refused.
 */
export const RESUMPTIONS_AT_ONCE = 4;

/** Executions that are being resumed, by the ID in their notes. */
const resuming = new Set<string>();
const unknownNotes = new OncePerMinute();
const refusals = new OncePerMinute();

interface Sleeping {
	items: INodeExecutionData[];
	notes: Notes;
	resumeUrl: string;
}

/** Throws where this execution does not sleep on this node. Texts are read, as n8n's isolated engine copies objects field by field. */
function readSleeping(context: IWebhookFunctions): Sleeping {
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
	if (notes === 'none' || !Array.isArray(items) || notes.items.length !== items.length)
		throw new CallRefusal(404, NOT_WAITED_FOR);
	// This call came with the token, which n8n has checked, so that this n8n can call the address too.
	const { originalUrl } = context.getRequestObject();
	const resumeUrl = resumeUrlOf(url, urlOf(originalUrl, 'http://n8n')?.search ?? '');
	if (resumeUrl === undefined) throw new CallRefusal(404, NOT_WAITED_FOR);
	cleanerOf(context).hasUrl(resumeUrl);
	return { items: expressedItems(context, items), notes, resumeUrl };
}

/** Never throws: n8n 2.41 would mark the execution failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const posted = await postedTo(context);
		const sleeping = readSleeping(context);
		const { id } = sleeping.notes;
		const tasks = notedTasks(sleeping.notes);
		if (!tasks.some(({ taskId }) => taskId === posted.taskId))
			throw new CallRefusal(200, OTHER_EXECUTION);
		const client = await recentClient(context);
		const asleep = { id, tasks, resumeUrl: sleeping.resumeUrl, context, client };
		const body: unknown = context.getBodyData();
		const saysAllOver = isObject(body) && body[ALL_OVER] === true;
		admit(asleep, saysAllOver);
		resuming.add(id);
		return await wakeIfOver(context, { posted, saysAllOver, sleeping, asleep });
	} catch (error) {
		return refuse(context, 'a call for a sleeping execution', error);
	}
}

/** Throws where the call has to come back. This process wakes the execution meanwhile. */
function admit(asleep: Asleep, saysAllOver: boolean): void {
	const { id, context } = asleep;
	if (resuming.has(id)) throw new CallRefusal(503, BEING_RESUMED);
	if (resuming.size < (saysAllOver ? RESUMPTIONS_AT_ONCE : RESUMPTIONS_AT_ONCE / 2)) return;
	watchOver(asleep, 'now');
	const words = 'too many executions are being resumed: they are woken one after another';
	if (refusals.isDue(now())) logOf(context).info(words);
	// By then this process has woken most of the executions that it has refused to wake.
	throw new CallRefusal(503, words, 60);
}

const BEING_RESUMED = 'the execution is being resumed, try again';

interface Call {
	posted: Posted;
	saysAllOver: boolean;
	sleeping: Sleeping;
	asleep: Asleep;
}

async function wakeIfOver(context: IWebhookFunctions, call: Call): Promise<IWebhookResponseData> {
	const { id } = call.asleep;
	// No sender waits longer.
	const sender = timeLimit(8_000);
	const late = () => refuse(context, 'a call', new CallRefusal(503, BEING_RESUMED));
	sender.signal.addEventListener('abort', late);
	let output: INodeExecutionData[] | undefined;
	try {
		output = await outputOf(context, call);
	} finally {
		sender.end();
		if (output === undefined) resuming.delete(id);
	}
	const response = context.getResponseObject();
	const { headersSent } = response;
	if (output === undefined)
		return headersSent
			? { noWebhookResponse: true }
			: answer(context, 202, { received: true, waiting: true });
	if (!headersSent && !response.destroyed) response.once('close', () => resuming.delete(id));
	// Nobody says when n8n has stored them, and whether: this process calls again.
	else
		void pause(10_000).then(() => {
			resuming.delete(id);
			watchOver(call.asleep, 'now');
		});
	const workflowData = [output];
	return headersSent
		? { noWebhookResponse: true, workflowData }
		: { webhookResponse: { received: true }, workflowData };
}

/** Returns what goes out; undefined where a task still runs. Throws a CallRefusal where the service does not say. */
async function outputOf(
	context: IWebhookFunctions,
	{ posted, saysAllOver, sleeping, asleep }: Call,
): Promise<INodeExecutionData[] | undefined> {
	const { taskId, task } = posted;
	const saysFailed = task?.state === 'failed';
	const polled = await pollUntilOneRuns(asleep, { taskId, saysFailed, saysAllOver });
	if (polled.kind !== 'over') {
		if (polled.isReported) watchOver(expecting(asleep, taskId), 'now');
		else watchOver(asleep, 'later');
		if (polled.kind === 'running') return undefined;
		throw new CallRefusal(503, 'the service could not be asked, try again');
	}
	const { baseUrl } = asleep.client.credentials;
	const waking = { context, delivery: new Delivery(context, { baseUrl }), ends: polled.ends };
	const { items, notes } = sleeping;
	const output = await Promise.all(
		items.map(async (item, index) => await wokenItem(waking, item, { index, notes })),
	);
	noteWaking(context, outcomesIn(output));
	return await cleanItems(context, output);
}

/** The service's answer can lag behind its callback, so that task is polled like a new one. */
function expecting(asleep: Asleep, reported: string): Asleep {
	const tasks = asleep.tasks.map((task) =>
		task.taskId === reported ? { ...task, called: false, createdAt: now() } : task,
	);
	return { ...asleep, tasks };
}

interface WakingCall {
	context: IWebhookFunctions;
	delivery: Delivery;
	ends: ReadonlyMap<string, TaskEnd>;
}

async function wokenItem(
	{ context, delivery, ends }: WakingCall,
	item: INodeExecutionData,
	{ index, notes }: { index: number; notes: Notes },
): Promise<INodeExecutionData> {
	const note = notes.items[index];
	const asItWas = { ...item, pairedItem: { item: index } };
	if (note?.kind !== 'open') return asItWas;
	const { tasks, assembly, files, carriesInput } = note;
	const carried = carriesInput ? (item.json.input as IDataObject) : undefined;
	const taskIds = tasks.map(({ taskId }) => taskId);
	const node = context.getNode();
	const failed = (failure: Failure, shown?: Parameters<typeof failureItem>[2]) =>
		plainFailureItem(node, carryInput(failureItem(node, { failure, index }, shown), carried));
	const parts: Done[] = [];
	for (const [number, taskId] of taskIds.entries()) {
		const end = ends.get(taskId);
		if (end === undefined || end === 'late') return asItWas;
		if (end.kind === 'failed')
			return failed(failureOfWhole(end.failure, { number, assembly, taskIds }));
		parts.push(end);
	}
	const input = { index, assembly, settings: { files } };
	const { items, outputs, failure } = await assemble(context, { delivery, parts }, input);
	const [made] = items;
	if (failure === undefined) return made === undefined ? asItWas : carryInput(made, carried);
	return failed(failure, { outputs, binary: made?.binary });
}
