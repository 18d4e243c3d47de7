/**
 * Putting an execution to sleep until the callbacks of its tasks are in: what goes to sleep, and what is needed to wake up.
 * Source: n8n's waiting webhooks. Rules that must not regress:
 * - nothing suspends before every task has been looked at once more, as a callback that came earlier will not come again;
 * - exactly one item per input item, in order: n8n links the items of a resumed node by position;
 * - the suspended items are what goes out if the deadline passes, so they carry the task IDs and say `timed_out`.
 */
import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { callbackUrlProblem } from '../callback/receiveUrl';
import type { FileSettings, WaitSettings } from '../operations/waiting';
import type { PollRouteOption } from '../service/account';
import type { Credentials, ServiceClient } from '../service/client';
import { invalid, type Failure } from '../service/failures';
import { Limiter } from '../service/limiter';
import { outputsOf } from '../service/outputs';
import { type Task } from '../service/task';
import { isObject } from '../service/json';
import { lookAtTask } from '../service/look';
import { addressesIn } from '../service/verdict';
import { mayEndSoon, nudge } from './nudge';
import type { Job } from '../run/jobs';
import * as failures from '../service/failures';

const CONTEXT_FIELD = 'suspension';
const LAST_LOOK_TIMEOUT_MS = 5_000;
export const CONCURRENT_LOOKS = 10;

/** What waking up must know of one item. Plain data: n8n saves it with the execution. */
export interface SuspendedItem {
	taskId: string;
	/** Whether the task was over, and its item complete, before the execution went to sleep. */
	complete: boolean;
	kind: string;
	route: PollRouteOption;
	files: FileSettings;
	/** Addresses that the request carried: no results. */
	requestUrls: string[];
}

export interface PendingTask {
	index: number;
	taskId: string;
	/** Epoch ms. */
	createdAt: number;
	lastTask: Task | undefined;
}

export interface Suspension {
	count: number;
	/** Wakes the execution; the service has it as `receive_url`. */
	resumeUrl: string;
	plans: Array<{ job: Job; settings: WaitSettings }>;
	pending: PendingTask[];
	/** The items of an input item that is over. */
	itemsOf(index: number): INodeExecutionData[];
	deliver(job: Job, taskId: string, task: Task, settings: WaitSettings): Promise<void>;
	fail(index: number, failure: Failure): void;
	/** The output if nothing is left to wait for. Throws as a run without suspension does. */
	output(): INodeExecutionData[];
}

/** Whether the node runs as a tool of an AI agent, where an execution can't be suspended. */
function isToolRun(context: IExecuteFunctions): boolean {
	const { isToolExecution } = context as Partial<Pick<IExecuteFunctions, 'isToolExecution'>>;
	return (
		(isToolExecution !== undefined && context.isToolExecution()) ||
		context.getNode().type.endsWith('Tool')
	);
}

/** The URL that wakes this execution, with n8n's own token and this node's ID as its last part; undefined if n8n has none. */
export function resumeUrlOf(context: IExecuteFunctions): string | undefined {
	const resumeUrl = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	if (typeof resumeUrl !== 'string' || !URL.canParse(resumeUrl)) return undefined;
	const url = new URL(resumeUrl);
	// Without a token anyone could wake the execution; n8n has it since 2.14.
	if (!url.searchParams.has('signature')) return undefined;
	url.pathname += `/${context.getNode().id}`;
	return url.href;
}

/** Throws an `invalid` failure where suspending can't work. */
export function checkSuspension(
	context: IExecuteFunctions,
	credentials: Credentials,
	resumeUrl: string | undefined,
	creates: boolean,
): void {
	const advice = 'Set Wait Mode to "Poll". Nothing was created.';
	if (isToolRun(context)) {
		throw invalid(
			"An execution can't be suspended while the node runs as a tool of an AI agent",
			advice,
		);
	}
	if (resumeUrl === undefined) {
		throw invalid(
			'This n8n gives no signed resume URL, which suspending needs',
			`Update n8n to 2.14 or newer, or do without. ${advice}`,
		);
	}
	const problem = creates ? callbackUrlProblem(resumeUrl, credentials.baseUrl) : undefined;
	if (problem !== undefined) {
		throw invalid(
			`The execution can't be suspended: ${problem}`,
			`${advice} Or set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to an address that the service can reach.`,
		);
	}
}

/** Looks once more at everything that is still open. What is over is delivered; what is not stays. */
async function lookOnceMore(
	client: ServiceClient,
	suspension: Suspension,
	signal?: AbortSignal,
): Promise<PendingTask[]> {
	const settingsOf = new Map(suspension.plans.map((plan) => [plan.job.index, plan]));
	const limiter = new Limiter(CONCURRENT_LOOKS);
	const looks = await Promise.all(
		suspension.pending.map(async (pending) => {
			const plan = settingsOf.get(pending.index);
			const kind = plan?.job.request?.kind ?? 'task';
			const route = plan?.job.route ?? 'auto';
			const at = { taskId: pending.taskId, kind, route, signal, timeoutMs: LAST_LOOK_TIMEOUT_MS };
			const look = await limiter.run(async () => await lookAtTask(client, at, Date.now));
			return { pending, plan, look };
		}),
	);
	const open: PendingTask[] = [];
	const over: Array<() => Promise<void>> = [];
	for (const { pending, plan, look } of looks) {
		const task = look.kind === 'task' ? look.task : undefined;
		const finished =
			task?.state === 'done' && outputsOf(task, addressesIn(plan?.job.request?.body)).length > 0;
		if (task !== undefined && finished && plan !== undefined) {
			over.push(
				async () => await suspension.deliver(plan.job, pending.taskId, task, plan.settings),
			);
		} else if (task?.state === 'failed') {
			suspension.fail(pending.index, failures.failed(pending.taskId, task));
		} else {
			open.push({ ...pending, lastTask: task ?? pending.lastTask });
		}
	}
	// Downloads would widen the moment between the look and the sleep, so they come first only if nothing is left to wait for.
	if (open.length === 0) {
		await Promise.all(over.map(async (deliver) => await deliver()));
		return [];
	}
	const stillOpen = new Set(open.map(({ index }) => index));
	const finished = looks.filter(
		({ pending, look }) =>
			!stillOpen.has(pending.index) && look.kind === 'task' && look.task.state === 'done',
	);
	return [
		...open,
		...finished.map(({ pending, look }) => ({
			...pending,
			lastTask: look.kind === 'task' ? look.task : undefined,
		})),
	];
}

/**
 * Suspends the execution with one item per input item, or returns the output if everything is over after the last look.
 */
export async function suspend(
	context: IExecuteFunctions,
	client: ServiceClient,
	suspension: Suspension,
): Promise<INodeExecutionData[][]> {
	const open = await lookOnceMore(client, suspension, context.getExecutionCancelSignal());
	if (open.length === 0) return [suspension.output()];

	const pendingByIndex = new Map(open.map((pending) => [pending.index, pending]));
	const planByIndex = new Map(suspension.plans.map((plan) => [plan.job.index, plan]));
	const items: INodeExecutionData[] = [];
	const notes: SuspendedItem[] = [];
	let deadline = Date.now();
	for (let index = 0; index < suspension.count; index += 1) {
		const pending = pendingByIndex.get(index);
		const plan = planByIndex.get(index);
		items.push(
			pending === undefined
				? onlyItem(suspension.itemsOf(index), index)
				: sleepingItem(pending, index),
		);
		const { download = true, binaryPropertyName = 'data', maxFileBytes = 0 } = plan?.settings ?? {};
		notes.push({
			taskId: pending?.taskId ?? '',
			complete: pending === undefined,
			kind: plan?.job.request?.kind ?? 'task',
			route: plan?.job.route ?? 'auto',
			files: { download, binaryPropertyName, maxFileBytes, splitFiles: false },
			requestUrls: addressesIn(plan?.job.request?.body),
		});
		if (pending !== undefined && plan !== undefined)
			deadline = Math.max(deadline, pending.createdAt + plan.job.timeoutMs);
	}
	const nodeContext = context.getContext('node') as Record<string, unknown>;
	nodeContext[CONTEXT_FIELD] = { id: randomUUID(), items: notes };
	context.getExecuteData().data = { main: [items] };
	await context.putExecutionToWait(new Date(deadline));
	callBackIfNeeded(context, suspension.resumeUrl, open);
	return [items];
}

/** If one task is sure to go on for a while, its callback will find the execution asleep, and all tasks are looked at then. */
function callBackIfNeeded(
	context: IExecuteFunctions,
	resumeUrl: string,
	open: readonly PendingTask[],
): void {
	const [first] = open;
	const now = Date.now();
	const allMayEnd = open.every(({ lastTask, createdAt }) => mayEndSoon(lastTask, now - createdAt));
	// Not awaited: the execution has to be saved first.
	if (first !== undefined && allMayEnd) void nudge(context, resumeUrl, first.taskId);
}

/** A suspended node has exactly one item per input item. */
function onlyItem(items: INodeExecutionData[], index: number): INodeExecutionData {
	return { ...(items[0] ?? { json: {} }), pairedItem: { item: index } };
}

/** What goes out for a task that is not over by the deadline. */
function sleepingItem({ taskId, lastTask }: PendingTask, index: number): INodeExecutionData {
	const json: IDataObject = {
		...(lastTask?.raw as IDataObject | undefined),
		task_id: taskId,
		timed_out: true,
	};
	return { json, pairedItem: { item: index } };
}

export interface SuspensionNotes {
	/** Tells this sleep from any other one of the same execution. */
	id: string;
	items: SuspendedItem[];
}

/** Reads the notes back when a callback arrives. Undefined where they are missing. */
export function readNotes(value: unknown): SuspensionNotes | undefined {
	if (!isObject(value) || typeof value.id !== 'string' || !Array.isArray(value.items))
		return undefined;
	const complete = value.items.every((note) => isObject(note) && typeof note.taskId === 'string');
	return complete ? { id: value.id, items: value.items as SuspendedItem[] } : undefined;
}

/** An expression for this node's notes; the name is quoted so that nothing in it can end the expression. */
export function notesExpression(nodeName: string): string {
	const quoted = JSON.stringify(nodeName).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	return `{{ $node[${quoted}].context["${CONTEXT_FIELD}"] }}`;
}
