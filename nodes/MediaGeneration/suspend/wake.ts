/** Serves the webhook that wakes a sleeping execution once all its tasks are over. Exactly one item goes out per sleeping item, in order. */
import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { claim } from '../trigger/once';
import { answer, postedTo, refuse, CallRefusal } from '../trigger/webhook';
import { failureItem, plainFailureItem } from '../files/failure';
import { assemble, failureOfWhole } from '../files/assembly';
import { noteWaking, outcomesIn } from '../files/hint';
import { carryInput, Delivery } from '../files/item';
import { cleanerOf, cleanItems, logOf } from '../n8n/clean';
import { recentClient, type ServiceClient } from '../transport/client';
import { now, timeLimit } from '../base/clock';
import { pause } from '../n8n/clock';
import type { Failure } from '../base/failures';
import { parseJson, urlOf } from '../base/json';
import { verdictNow, type Done, type Ended } from '../transport/verdict';
import type { Watch } from '../task/poll';
import {
	notesByItems,
	notesReference,
	openTasks,
	readNotes,
	resumeUrlOf,
	type Notes,
} from './notes';
import { FOREIGN_TASK, NOT_WAITED_FOR, resumptions } from './resumptions';
import { sleepOf, type Over, type Sleep } from './watch';

/** The service's own read of a task can lag behind its callback; the sender gets its answer within this. */
const WAKE_CONFIRM_MS = 8_000;
/** Fetching the files may take this long: no sender waits longer. */
const DELIVERY_MS = 5_000;
/** Addresses of files are temporary: what was seen longer ago is looked at again before its files are fetched. */
const FRESH_MS = 5 * 60_000;
/** n8n may take this long to store a resumption whose sender was answered before. */
const STORING_MS = 10_000;
const WOKEN_BEFORE = 'the execution was woken before';
const UNREAD =
	'Media Generation: an execution was put to sleep by a version of this node whose notes this one can not read. Once its tasks are over, it goes on as it would at its deadline: their IDs are for "Task: Wait"';
const FILES_ARE_FETCHED = 'the files are being fetched, try again';

interface Sleeping {
	items: INodeExecutionData[];
	notes: Notes;
	resumeUrl: string | undefined;
}

/** Throws where this execution does not sleep on this node. Texts are read, as n8n's isolated engine copies objects field by field. */
function readSleeping(context: IWebhookFunctions): Sleeping {
	const all = context.evaluateExpression(
		`{{ [JSON.stringify($input.all()), ${notesReference(context.getNode().name)}, $execution.resumeUrl] }}`,
	) as unknown;
	const [kept, noted, url] = Array.isArray(all) ? (all as unknown[]) : [];
	const read = readNotes(noted);
	const items = typeof kept === 'string' ? parseJson(kept) : undefined;
	if (read === 'none' || !Array.isArray(items)) throw new CallRefusal(404, NOT_WAITED_FOR);
	// This call came to this address, with the token that n8n has checked, so that this n8n can call it too.
	const { originalUrl } = context.getRequestObject();
	const search = urlOf(originalUrl, 'http://n8n')?.search ?? '';
	const resumeUrl = resumeUrlOf(context, url, search);
	cleanerOf(context).hasUrl(resumeUrl);
	const notes = read === 'unread' ? notesByItems(originalUrl.replace(/\?.*/, ''), items) : read;
	if (notes.items.length !== items.length) throw new CallRefusal(404, NOT_WAITED_FOR);
	if (read === 'unread') logOf(context).warn(UNREAD);
	return { items: items as INodeExecutionData[], notes, resumeUrl };
}

async function lookForEnd(client: ServiceClient, watch: Watch): Promise<Ended | undefined> {
	const verdict = await verdictNow(client, watch);
	return verdict?.kind === 'running' ? undefined : verdict;
}

interface WakingCall {
	context: IWebhookFunctions;
	client: ServiceClient;
	sleep: Sleep;
	notes: Notes;
	delivery: Delivery;
}

/** Looks only at tasks that are not watched, and stops at the first that is running, so that the next call asks about it first. */
async function allOver({ client, sleep, notes }: WakingCall): Promise<boolean> {
	for (const task of openTasks(notes)) {
		if (sleep.over.has(task.taskId)) continue;
		const ended = sleep.watchesAll ? undefined : await lookForEnd(client, task);
		if (ended === undefined) return false;
		sleep.note(task.taskId, ended);
	}
	return true;
}

/** Call this once all are over. */
async function freshEnd({ client, sleep }: WakingCall, task: Watch): Promise<Ended> {
	const over = sleep.over.get(task.taskId) as Over;
	const isFresh = over.ended.kind === 'failed' || sleep.agoMs(over) <= FRESH_MS;
	return isFresh ? over.ended : ((await lookForEnd(client, task)) ?? over.ended);
}

async function wokenItem(waking: WakingCall, item: INodeExecutionData, index: number) {
	const { context, delivery, notes } = waking;
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
	for (const [number, task] of tasks.entries()) {
		const ended = await freshEnd(waking, task);
		if (ended.kind === 'failed')
			return failed(failureOfWhole(ended.failure, { number, assembly, taskIds }));
		parts.push(ended);
	}
	const input = { index, assembly, settings: { files } };
	const { items, outputs, failure } = await assemble(context, { delivery, parts }, input);
	const [made] = items;
	if (failure === undefined) return made === undefined ? asItWas : carryInput(made, carried);
	return failed(failure, { outputs, binary: made?.binary });
}

/** Fetches the files and hands the items to n8n, whose answer to the sender says that it has stored them. */
async function resume(
	call: WakingCall,
	{ items, resumeUrl }: Sleeping,
	taskId: string,
): Promise<IWebhookResponseData> {
	const { context, sleep } = call;
	const response = context.getResponseObject();
	response.once('close', () => {
		if (response.writableEnded && response.statusCode < 400) sleep.end();
	});
	const sender = timeLimit(DELIVERY_MS);
	const late = new CallRefusal(503, FILES_ARE_FETCHED);
	sender.signal.addEventListener('abort', () => refuse(context, 'a call', late));
	const resumed = sleep.startResuming();
	try {
		const woken = items.map(async (item, index) => await wokenItem(call, item, index));
		const output = await Promise.all(woken).finally(() => sender.end());
		noteWaking(context, outcomesIn(output));
		const workflowData = [await cleanItems(context, output)];
		if (!sender.signal.aborted) return { webhookResponse: { received: true }, workflowData };
		// Nobody says whether n8n takes them, so another call makes sure.
		if (resumeUrl !== undefined) sleep.callN8n(taskId, resumeUrl, 2 * STORING_MS);
		return { noWebhookResponse: true, workflowData };
	} finally {
		if (sender.signal.aborted) void pause(STORING_MS).then(resumed);
		else resumed();
	}
}

/** All executions that sleep share one memory. */
const SLEEPERS = 'sleeping executions';

/** @param isAdmitted whether there is room for another resumption */
async function wakeIfOver(
	context: IWebhookFunctions,
	isAdmitted: boolean,
): Promise<IWebhookResponseData> {
	const { taskId, task } = await postedTo(context);
	const sleeping = readSleeping(context);
	const { notes, resumeUrl } = sleeping;
	const tasks = openTasks(notes);
	if (!tasks.some((each) => each.taskId === taskId)) throw new CallRefusal(200, FOREIGN_TASK);

	const client = await recentClient(context);
	const sleep = sleepOf(notes.id, { context, client });
	if (sleep.isAwake) throw new CallRefusal(200, WOKEN_BEFORE);
	// An unfinished check is repeated by this process, whether or not the callback is.
	if (resumeUrl !== undefined) sleep.watch(tasks, { resumeUrl, coverage: 'some' });
	const reported = { taskId, hasFailed: task?.state === 'failed' };
	if (!isAdmitted) {
		sleep.hurry(reported);
		const why = 'too many executions are being resumed, try again';
		throw new CallRefusal(503, why, resumptions.comeBackInS(now()));
	}
	const patience = timeLimit(WAKE_CONFIRM_MS);
	const confirmed = await sleep.confirm(reported, patience.signal);
	patience.end();
	if (!confirmed && !sleep.runs(taskId))
		throw new CallRefusal(503, 'the service could not be asked, try again');
	const delivery = new Delivery(context, { baseUrl: client.credentials.baseUrl });
	const call = { context, client, sleep, notes, delivery };
	if (!confirmed || !(await allOver(call))) {
		const waiting = tasks.filter((each) => !sleep.over.has(each.taskId)).length;
		return answer(context, 202, { received: true, waiting });
	}
	// Another call may have woken it meanwhile, or be about to.
	const memory = { owner: SLEEPERS, answerBy: now() + WAKE_CONFIRM_MS };
	const { kind } = await claim(memory, { name: notes.id }, context.getResponseObject());
	if (sleep.isAwake || kind !== 'claimed') throw new CallRefusal(200, WOKEN_BEFORE);
	if (sleep.isResuming) throw new CallRefusal(503, FILES_ARE_FETCHED);
	return await resume(call, sleeping, taskId);
}

/** Never throws: n8n 2.41 would mark the execution failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const leave = resumptions.enter();
	const response = context.getResponseObject();
	if (leave !== undefined) response.once('close', leave);
	try {
		return await wakeIfOver(context, leave !== undefined);
	} catch (error) {
		return refuse(context, 'a call for a sleeping execution', error);
	} finally {
		// The sender may have hung up before.
		if (response.destroyed) leave?.();
		const line = resumptions.news(now());
		if (line !== undefined) logOf(context).warn(line);
	}
}
