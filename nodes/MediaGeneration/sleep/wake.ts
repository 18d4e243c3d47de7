/** The webhook that wakes a sleeping execution once all its tasks are over. Exactly one item goes out per sleeping item, in order. */
import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { answer, postedTo, refuse, Refusal } from '../callback/webhook';
import { failureItem, plainFailureItem } from '../delivery/failure';
import { assemble, failureOfWhole } from '../delivery/assembly';
import { noteWaking, outcomesIn } from '../delivery/hint';
import { Delivery } from '../delivery/item';
import { cleanerOf, cleanItems } from '../service/clean';
import { recentClient, type ServiceClient } from '../service/client';
import { timeLimit } from '../service/clock';
import type { Failure } from '../service/failures';
import { parseJson } from '../service/json';
import type { Done, Ended } from '../service/verdict';
import type { Watch } from '../wait/poll';
import { notesReference, openTasks, readNotes, type Notes } from './notes';
import { FOREIGN_TASK, NOT_WAITED_FOR, sleepOf, verdictNow, type Over, type Sleep } from './watch';

/** The service's own read of a task can lag behind its callback; the sender gets its answer within this. */
const CONFIRM_MS = 8_000;
/** For fetching the files. Executions that are called at once end in turn, as n8n answers when it has taken the items; longer no sender waits. */
const DELIVERY_MS = 5_000;
/** Addresses of files are temporary: what was seen longer ago is looked at again before its files are fetched. */
const FRESH_MS = 5 * 60_000;
const WOKEN_BEFORE = 'the execution was woken before';

/** Undefined where this execution does not sleep on this node. Read as texts: n8n's isolated engine copies objects field by field. */
function readSleeping(context: IWebhookFunctions) {
	const all = context.evaluateExpression(
		`{{ [JSON.stringify($input.all()), ${notesReference(context.getNode().name)}, $execution.resumeUrl] }}`,
	) as unknown;
	if (!Array.isArray(all)) return undefined;
	const [kept, noted, resumeUrl] = all as unknown[];
	const items = typeof kept === 'string' ? parseJson(kept) : undefined;
	const notes = readNotes(noted);
	if (!Array.isArray(items) || notes?.items.length !== items.length) return undefined;
	return { items: items as INodeExecutionData[], notes, resumeUrl };
}

/** The address that this call came to, so that this n8n can call it too. @param url as n8n knows it, perhaps without a signature */
function ownUrl(context: IWebhookFunctions, url: unknown): string | undefined {
	const { originalUrl } = context.getRequestObject();
	if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
	const own = new URL(url);
	own.pathname += `/${context.getNode().id}`;
	own.search = new URL(originalUrl, url).search;
	return own.href;
}

async function endOf(client: ServiceClient, watch: Watch): Promise<Ended | undefined> {
	const verdict = await verdictNow(client, watch);
	return verdict?.kind === 'running' ? undefined : verdict;
}

interface Waking {
	context: IWebhookFunctions;
	client: ServiceClient;
	sleep: Sleep;
	notes: Notes;
	delivery: Delivery;
}

/** Looks only at tasks that are not watched, and stops at the first that is running, so that the next call asks about it first. */
async function allOver({ client, sleep, notes }: Waking): Promise<boolean> {
	for (const task of openTasks(notes)) {
		if (sleep.over.has(task.taskId)) continue;
		const ended = sleep.watchesAll ? undefined : await endOf(client, task);
		if (ended === undefined) return false;
		sleep.note(task.taskId, ended);
	}
	return true;
}

/** All are over by now. */
async function endNow({ client, sleep }: Waking, task: Watch): Promise<Ended> {
	const over = sleep.over.get(task.taskId) as Over;
	const isFresh = over.ended.kind === 'failed' || sleep.agoMs(over) <= FRESH_MS;
	return isFresh ? over.ended : ((await endOf(client, task)) ?? over.ended);
}

async function wokenItem(waking: Waking, item: INodeExecutionData, index: number) {
	const { context, delivery, notes } = waking;
	const note = notes.items[index];
	const asItWas = { ...item, pairedItem: { item: index } };
	if (note?.kind !== 'open') return asItWas;
	const { tasks, assembly, files } = note;
	const taskIds = tasks.map(({ taskId }) => taskId);
	const node = context.getNode();
	const failed = (failure: Failure, shown?: Parameters<typeof failureItem>[2]) =>
		plainFailureItem(node, failureItem(node, { failure, index }, shown));
	const parts: Done[] = [];
	for (const [number, task] of tasks.entries()) {
		const ended = await endNow(waking, task);
		if (ended.kind === 'failed')
			return failed(failureOfWhole(ended.failure, { number, assembly, taskIds }));
		parts.push(ended);
	}
	const input = { index, assembly, settings: { files } };
	const { items, outputs, failure } = await assemble(context, { delivery, parts }, input);
	const [made] = items;
	if (failure === undefined) return made ?? asItWas;
	return failed(failure, { outputs, binary: made?.binary });
}

async function wakeIfOver(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { taskId } = await postedTo(context);
	const sleeping = readSleeping(context);
	if (sleeping === undefined) throw new Refusal(404, NOT_WAITED_FOR);
	const { items, notes } = sleeping;
	const tasks = openTasks(notes);
	const called = tasks.find((task) => task.taskId === taskId);
	if (called === undefined) throw new Refusal(200, FOREIGN_TASK);

	const client = await recentClient(context);
	const sleep = sleepOf(notes.id, { context, client });
	if (sleep.ended) throw new Refusal(200, WOKEN_BEFORE);
	const delivery = new Delivery(context, { baseUrl: client.credentials.baseUrl });
	const waking = { context, client, sleep, notes, delivery };
	const resumeUrl = ownUrl(context, sleeping.resumeUrl);
	// n8n has checked the token that this call came with.
	cleanerOf(context).hasSent(resumeUrl);
	// An unfinished check is repeated by this process, whether or not the callback is.
	if (resumeUrl !== undefined)
		sleep.watch(notes.watched ? tasks : [called], { resumeUrl, coverage: 'some' });
	const patience = timeLimit(CONFIRM_MS);
	const confirmed = await sleep.confirm(taskId, patience.signal);
	patience.end();
	if (!confirmed && !sleep.runs(taskId))
		throw new Refusal(503, 'the service could not be asked, try again');
	if (!confirmed || !(await allOver(waking))) {
		const waiting = tasks.filter((task) => !sleep.over.has(task.taskId)).length;
		return answer(context, 202, { received: true, waiting });
	}
	// Another call may have woken it meanwhile.
	if (sleep.ended) throw new Refusal(200, WOKEN_BEFORE);

	sleep.end();
	const received = { received: true };
	const sender = timeLimit(DELIVERY_MS);
	sender.signal.addEventListener('abort', () => answer(context, 200, received));
	const woken = items.map(async (item, index) => await wokenItem(waking, item, index));
	const output = await Promise.all(woken).finally(() => sender.end());
	noteWaking(context, outcomesIn(output));
	const workflowData = [await cleanItems(context, output)];
	if (sender.signal.aborted) return { noWebhookResponse: true, workflowData };
	return { webhookResponse: received, workflowData };
}

/** Never throws: n8n would mark the execution failed and still run the next node with an empty item. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	return await wakeIfOver(context).catch((error: unknown) =>
		refuse(context, 'a call for a sleeping execution', error),
	);
}
