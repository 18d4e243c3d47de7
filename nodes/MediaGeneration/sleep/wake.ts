/**
 * The webhook that wakes a sleeping execution, called by the service or by this n8n itself. Rules that must not regress:
 * - it wakes only when every task is over by the service's own word; whatever was posted is only a reason to look;
 * - it never throws into n8n: throwing would mark the execution failed and still run the next node with an empty item;
 * - exactly one item per sleeping item, in order.
 */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { postedTo } from '../callback/body';
import { answer, Refusal, respond } from '../callback/respond';
import { failureItem, plainFailureItem } from '../delivery/failure';
import { assemble, failureOfWhole } from '../delivery/assembly';
import { noteWaking, outcomesIn } from '../delivery/hint';
import { Delivery, type Delivered } from '../delivery/item';
import { cleanerOf, cleanItems } from '../service/clean';
import { recentClient, type ServiceClient } from '../service/client';
import { clockAheadMs, timeLimit } from '../service/clock';
import * as failures from '../service/failures';
import type { Failure } from '../service/failures';
import { parseJson } from '../service/json';
import { lookSurely } from '../service/look';
import { verdictOf, type Done, type Ended } from '../service/verdict';
import type { Watch } from '../wait/poll';
import { FOREIGN_TASK, NOT_WAITED_FOR } from './call';
import {
	moved,
	notesReference,
	openTasks,
	readNotes,
	type Notes,
	type SleepingItem,
} from './notes';
import { sleepOf, type Sleep } from './watch';

/** The service's own read of a task can lag behind its callback; the sender gets its answer within this. */
const CONFIRM_MS = 8_000;
const LOOK_TIMEOUT_MS = 5_000;
/** Addresses of files are temporary: what was seen longer ago is looked at again before its files are fetched. */
const FRESH_MS = 5 * 60_000;

interface Sleeping {
	items: INodeExecutionData[];
	notes: Notes;
	/** As n8n knows it; without the node, and perhaps without a signature. */
	resumeUrl: unknown;
}

/**
 * The items that went to sleep and what was noted of them, or undefined where this execution does not sleep on this node. Read by one
 * expression and as texts: what n8n's isolated engine hands out as an object it copies field by field.
 */
function readSleeping(context: IWebhookFunctions): Sleeping | undefined {
	const all = context.evaluateExpression(
		`{{ [JSON.stringify($input.all()), ${notesReference(context.getNode().name)}, $execution.resumeUrl] }}`,
	) as unknown;
	if (!Array.isArray(all)) return undefined;
	const [kept, noted, resumeUrl] = all as unknown[];
	const items = typeof kept === 'string' ? parseJson(kept) : undefined;
	const notes = readNotes(noted);
	if (!Array.isArray(items) || notes?.items.length !== items.length) return undefined;
	return { items: items as INodeExecutionData[], notes: moved(notes, -clockAheadMs()), resumeUrl };
}

/** The address that this call came to, so that this n8n can call it too. */
function ownUrl(context: IWebhookFunctions, url: unknown): string | undefined {
	const { originalUrl } = context.getRequestObject();
	if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
	const called = new URL(originalUrl, url);
	const own = new URL(url);
	own.pathname += `/${context.getNode().id}`;
	const signature = called.searchParams.get('signature');
	if (signature !== null) own.searchParams.set('signature', signature);
	return own.href;
}

/** What a look says of a task, where it says that it is over. */
async function endOf(
	client: ServiceClient,
	{ taskId, kind, route = 'auto', echoes }: Watch,
): Promise<Ended | undefined> {
	const look = await lookSurely(client, { taskId, kind, route, timeoutMs: LOOK_TIMEOUT_MS });
	if (look.kind !== 'task') return undefined;
	const verdict = verdictOf(taskId, look.task, echoes);
	return verdict.kind === 'running' ? undefined : verdict;
}

/**
 * Whether all tasks are over. Looks only at those that are not watched, and stops at the first that is running: those before it
 * are known to be over, so that the next call asks about it first.
 */
async function allOver(
	client: ServiceClient,
	sleep: Sleep,
	tasks: readonly Watch[],
): Promise<boolean> {
	const open = tasks.filter(({ taskId }) => !sleep.over.has(taskId));
	if (open.length === 0) return true;
	if (sleep.watchesAll) return false;
	for (const task of open) {
		const ended = await endOf(client, task);
		if (ended === undefined) return false;
		sleep.note(task.taskId, ended);
	}
	return true;
}

type OpenItem = Extract<SleepingItem, { kind: 'open' }>;

/** The tasks of an item that are done, or why it failed. */
async function endsOf(
	client: ServiceClient,
	sleep: Sleep,
	{ tasks, assembly }: OpenItem,
): Promise<{ done: Done[] } | { failure: Failure }> {
	const done: Done[] = [];
	for (const [number, task] of tasks.entries()) {
		const over = sleep.over.get(task.taskId);
		const isOld = over?.ended.kind === 'done' && sleep.agoMs(over) > FRESH_MS;
		const ended = isOld ? ((await endOf(client, task)) ?? over.ended) : over?.ended;
		if (ended?.kind === 'done') done.push(ended);
		else {
			const failure = ended?.failure ?? failures.cancelled(task.taskId, undefined);
			return { failure: failureOfWhole(failure, { number, assembly, taskIds: idsOf(tasks) }) };
		}
	}
	return { done };
}

const idsOf = (tasks: readonly Watch[]) => tasks.map(({ taskId }) => taskId);

interface Waking {
	context: IWebhookFunctions;
	client: ServiceClient;
	sleep: Sleep;
	delivery: Delivery;
}

/** What was delivered of an item whose tasks are over, or why it failed. Whatever breaks on the way is its failure. */
async function delivered(
	{ context, client, sleep, delivery }: Waking,
	note: OpenItem,
	index: number,
): Promise<Delivered> {
	const { tasks, assembly, files } = note;
	const lost = (failure: Failure): Delivered => ({ items: [], outputs: [], failure });
	try {
		const ends = await endsOf(client, sleep, note);
		if ('failure' in ends) return lost(ends.failure);
		const parts = ends.done.map((done) => ({ done }));
		return await assemble(context, { delivery, parts }, { assembly, files, index });
	} catch (error) {
		const taskIds = idsOf(tasks);
		const failure = failures.broken(error, { kind: 'done', taskId: taskIds[0] ?? '' });
		return lost(failureOfWhole(failure, { assembly, taskIds }));
	}
}

/** The one item of a sleeping item. */
async function itemFor(
	waking: Waking,
	{ note, item, index }: { note: SleepingItem; item: INodeExecutionData; index: number },
): Promise<INodeExecutionData> {
	const asItWas = { ...item, pairedItem: { item: index } };
	if (note.kind === 'complete') return asItWas;
	const { items, outputs, failure } = await delivered(waking, note, index);
	const [made = asItWas] = items;
	if (failure === undefined) return made;
	const node = waking.context.getNode();
	const { binary } = items[0] ?? {};
	const shown = outputs.length === 0 ? undefined : { outputs, ...(binary && { binary }) };
	return plainFailureItem(node, failureItem(node, failure, index, shown));
}

async function wakeIfOver(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const posted = await postedTo(context);
	if (!posted.ok) throw new Refusal(400, posted.reason);
	const sleeping = readSleeping(context);
	if (sleeping === undefined) throw new Refusal(404, NOT_WAITED_FOR);
	const { items, notes } = sleeping;
	const tasks = openTasks(notes);
	const called = tasks.find(({ taskId }) => taskId === posted.taskId);
	if (called === undefined) return answer(context, 200, { received: true, ignored: FOREIGN_TASK });

	const client = await recentClient(context);
	const sleep = sleepOf(notes.id, { context, client });
	if (sleep.ended)
		return answer(context, 200, { received: true, ignored: 'the execution was woken before' });
	const resumeUrl = ownUrl(context, sleeping.resumeUrl);
	// n8n has checked the token that this call came with.
	cleanerOf(context).hasSent(resumeUrl);
	// An unfinished check is repeated by this process, whether or not the callback is.
	if (resumeUrl !== undefined) sleep.watch(notes.watched ? tasks : [called], resumeUrl);
	const patience = timeLimit(CONFIRM_MS);
	const confirmed = await sleep.confirm(called.taskId, patience.signal);
	patience.end();
	if (!confirmed && !sleep.runs(called.taskId))
		throw new Refusal(503, 'the service could not be asked, try again');
	if (!confirmed || !(await allOver(client, sleep, tasks)))
		return answer(context, 202, { received: true, waiting: openCount(sleep, tasks) });
	if (sleep.ended)
		return answer(context, 200, { received: true, ignored: 'the execution was woken before' });

	// The sender has its answer before the files are fetched.
	sleep.end();
	answer(context, 200, { received: true });
	const delivery = new Delivery(context, { baseUrl: client.credentials.baseUrl });
	const waking = { context, client, sleep, delivery };
	const output = await Promise.all(
		notes.items.map(async (note, index) => {
			const item = items[index] ?? { json: {} };
			return await itemFor(waking, { note, item, index });
		}),
	);
	noteWaking(context, outcomesIn(output));
	return { noWebhookResponse: true, workflowData: [cleanItems(context, output)] };
}

function openCount(sleep: Sleep, tasks: readonly Watch[]): number {
	return tasks.filter(({ taskId }) => !sleep.over.has(taskId)).length;
}

/** Handles one call for a sleeping execution. Never throws. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await respond(
		context,
		'a call for a sleeping execution',
		async () => await wakeIfOver(context),
	);
}
