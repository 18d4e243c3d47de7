/**
 * The webhook that wakes a suspended execution. Rules that must not regress:
 * - it wakes only when every task is over by the service's own word; whatever was posted is no more than a reason to look;
 * - it never throws into n8n: throwing would mark the execution failed and still run the next node with an empty item;
 * - exactly one item per suspended item, in order.
 */
import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';
import { postedTo } from '../callback/body';
import { answer } from '../callback/respond';
import { verifyTask, VERIFY_BUDGET_MS, type Verification } from '../callback/verify';
import { CONCURRENT_DOWNLOADS, deliver, type DeliveryDeps } from '../delivery/item';
import { createClient, type ServiceClient } from '../service/client';
import { pause } from '../service/clock';
import { failureJson, type Failure } from '../service/failures';
import { fileOpener } from '../service/fileHost';
import { Limiter } from '../service/limiter';
import { lookAtTask } from '../service/look';
import {
	CONCURRENT_LOOKS,
	notesExpression,
	readNotes,
	type SuspendedItem,
	type SuspensionNotes,
} from './suspend';
import * as failures from '../service/failures';

/** Answers by the process that are being worked on: callbacks of one execution are handled one after the other. */
const atWork = new Map<string, Promise<unknown>>();

async function oneAfterTheOther<T>(key: string, job: () => Promise<T>): Promise<T> {
	const before = atWork.get(key) ?? Promise.resolve();
	const mine = before.then(job, job);
	const settled = mine.catch(() => undefined);
	atWork.set(key, settled);
	try {
		return await mine;
	} finally {
		if (atWork.get(key) === settled) atWork.delete(key);
	}
}

async function verdictOf(
	client: ServiceClient,
	{ taskId, kind, route, requestUrls }: SuspendedItem,
	limiter: Limiter,
): Promise<Verification> {
	return await limiter.run(
		async () =>
			await verifyTask(
				{
					look: async (timeoutMs) =>
						await lookAtTask(
							client,
							{ taskId, kind, route, timeoutMs, signal: AbortSignal.timeout(timeoutMs) },
							Date.now,
						),
					now: Date.now,
					sleep: pause,
				},
				// What is posted here is no claim: the last one of many callbacks looks at all tasks.
				{
					budgetMs: VERIFY_BUDGET_MS / 2,
					claimsEnd: false,
					missesAllowed: 4,
					echoes: requestUrls,
				},
			),
	);
}

type Over = Extract<Verification, { kind: 'failed' | 'done' | 'doneWithoutFiles' }>;

function isOver(verdict: Verification): verdict is Over {
	return (
		verdict.kind === 'failed' || verdict.kind === 'done' || verdict.kind === 'doneWithoutFiles'
	);
}

/** A failure that happened while the execution slept goes on as an item, whatever On Error says: n8n has no way to fail from here. */
function failedItem(failure: Failure, index: number, outputs?: IDataObject[]): INodeExecutionData {
	return {
		json: { ...failureJson(failure), ...(outputs === undefined ? {} : { outputs }) },
		pairedItem: { item: index },
	};
}

async function itemFor(
	context: IWebhookFunctions,
	note: SuspendedItem,
	verdict: Verification | undefined,
	suspended: INodeExecutionData,
	index: number,
	deps: DeliveryDeps,
): Promise<INodeExecutionData> {
	if (verdict === undefined || !isOver(verdict))
		return { ...suspended, pairedItem: { item: index } };
	const { task } = verdict;
	if (task.state === 'failed') return failedItem(failures.failed(note.taskId, task), index);
	const delivered = await deliver(
		context,
		{ taskId: note.taskId, task, request: note.requestUrls },
		note.files,
		index,
		deps,
	);
	const [item] = delivered.items;
	if (delivered.outputs.length === 0)
		return failedItem(
			failures.withoutOutputs(
				note.taskId,
				task,
				Object.keys((task.raw.metadata as IDataObject | undefined) ?? {}),
			),
			index,
		);
	if (delivered.failure === undefined && item !== undefined) return item;
	const failure = delivered.failure ?? failures.withoutOutputs(note.taskId, task, []);
	return { ...item, ...failedItem(failure, index, delivered.outputs as unknown as IDataObject[]) };
}

/** The items that went to sleep and what was noted of them, or undefined where this execution is not ours to wake. */
function readSuspended(
	context: IWebhookFunctions,
): { items: INodeExecutionData[]; notes: SuspensionNotes } | undefined {
	const items = context.evaluateExpression('{{ $input.all() }}') as unknown;
	const notes = readNotes(context.evaluateExpression(notesExpression(context.getNode().name)));
	if (!Array.isArray(items) || notes?.items.length !== items.length) return undefined;
	return { items: items as INodeExecutionData[], notes };
}

/**
 * Sleeps that this process has just ended, and when (epoch ms). n8n itself lets only one call resume an execution; this
 * spares the ones right behind it the looks and the downloads. Not for long: should n8n fail to resume, a later call counts again.
 */
const ended = new Map<string, number>();
const REMEMBERED_MS = 60_000;

function justEnded(id: string): boolean {
	const now = Date.now();
	for (const [other, at] of ended) if (now - at > REMEMBERED_MS) ended.delete(other);
	return ended.has(id);
}

async function wakeIfOver(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const posted = await postedTo(context);
	if (!posted.ok) return answer(context, 400, { received: false, error: posted.reason });
	const suspended = readSuspended(context);
	if (suspended === undefined)
		return answer(context, 404, { received: false, error: 'no task is waited for here' });
	const { items } = suspended;
	const { id, items: notes } = suspended.notes;
	if (justEnded(id))
		return answer(context, 200, { received: true, ignored: 'the execution was woken before' });
	if (!notes.some(({ taskId, complete }) => taskId === posted.taskId && !complete)) {
		return answer(context, 200, {
			received: true,
			ignored: 'the task does not belong to this execution',
		});
	}

	const client = await createClient(context);
	const limiter = new Limiter(CONCURRENT_LOOKS);
	const verdicts = await Promise.all(
		notes.map(async (note) => (note.complete ? undefined : await verdictOf(client, note, limiter))),
	);
	const open = verdicts.filter((verdict) => verdict !== undefined && !isOver(verdict));
	if (open.some((verdict) => verdict?.kind === 'running')) {
		return answer(context, 202, { received: true, waiting: open.length });
	}
	if (open.length > 0)
		return answer(context, 503, {
			received: false,
			error: 'the service could not be asked, try again',
		});

	// The sender has its answer before the files are fetched.
	ended.set(id, Date.now());
	answer(context, 200, { received: true });
	const deps: DeliveryDeps = {
		open: fileOpener(context),
		now: Date.now,
		sleep: pause,
		limiter: new Limiter(CONCURRENT_DOWNLOADS),
	};
	const output = await Promise.all(
		notes.map(async (note, index) => {
			const item = items[index] ?? { json: { task_id: note.taskId } };
			return await itemFor(context, note, verdicts[index], item, index, deps);
		}),
	);
	return { noWebhookResponse: true, workflowData: [output] };
}

/** Handles one callback for a suspended execution. Never throws. */
export async function wake(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const id = context.evaluateExpression('{{ $execution.id }}');
	const executionId = typeof id === 'string' ? id : 'unknown';
	try {
		return await oneAfterTheOther(executionId, async () => await wakeIfOver(context));
	} catch (error) {
		const reason = error instanceof Error ? error.message : 'unknown reason';
		context.logger.warn(
			`Media Generation: a callback for execution ${executionId} could not be handled: ${reason}`,
		);
		if (context.getResponseObject().headersSent) return { noWebhookResponse: true };
		return answer(context, 503, {
			received: false,
			error: 'the callback could not be handled, try again',
		});
	}
}
