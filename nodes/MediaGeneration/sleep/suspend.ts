/**
 * Putting an execution to sleep until its tasks are over (README, "Waiting"). Rules that must not regress:
 * - nothing sleeps before every task has been looked at once more, as a callback that came earlier will not come again;
 * - one item per input item first, in order: n8n links the items of a resumed node by position;
 * - the sleeping items are what goes out if the deadline passes, so they carry the task IDs and say `timed_out`;
 * - the list that n8n keeps is not the one that is returned: n8n empties the returned list where failures have a branch of their own.
 */
import { randomUUID } from 'crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { endpointOf } from '../create/ledger';
import { unfinishedJson, type Assembly } from '../delivery/assembly';
import { plainFailureItem } from '../delivery/failure';
import type { FileSettings } from '../operations/waiting';
import { cleanItems } from '../service/clean';
import type { ServiceClient } from '../service/client';
import { clockAheadMs, now } from '../service/clock';
import { Limiter } from '../service/limiter';
import { lookAtTask } from '../service/look';
import { verdictOf, type Verdict } from '../service/verdict';
import type { Watch } from '../wait/poll';
import type { Waking } from './checks';
import {
	CONTEXT_FIELD,
	moved,
	openTasks,
	writeNotes,
	type Notes,
	type SleepingItem,
	type SleepingTask,
} from './notes';
import { tooltipFragment } from './tooltip';
import { sleepOf } from './watch';

const LAST_LOOK_TIMEOUT_MS = 5_000;
const CONCURRENT_LOOKS = 10;

/** One input item of an execution that goes to sleep. */
export type Sleeper =
	/** Over already, with its items. */
	| { kind: 'complete'; items: INodeExecutionData[] }
	| {
			kind: 'open';
			tasks: SleepingTask[];
			files: FileSettings;
			assembly: Assembly;
			watched: boolean;
	  };

type Open = Extract<Sleeper, { kind: 'open' }>;

/** Looks once more at tasks that are still open, in order. Undefined where a look fails: it says nothing. */
export async function lookOnceMore(
	client: ServiceClient,
	watches: readonly Watch[],
	signal?: AbortSignal,
): Promise<Array<Verdict | undefined>> {
	const limiter = new Limiter(CONCURRENT_LOOKS);
	return await Promise.all(
		watches.map(async ({ taskId, kind, route = 'auto', echoes }) => {
			const timeoutMs = LAST_LOOK_TIMEOUT_MS;
			const look = await limiter.run(
				async () => await lookAtTask(client, { taskId, kind, route, timeoutMs, signal }),
			);
			return look.kind === 'task' ? verdictOf(taskId, look.task, echoes) : undefined;
		}),
	);
}

/** What goes out for an item that is not over by the deadline. */
function sleepingItem({ tasks, assembly }: Open, index: number): INodeExecutionData {
	const [first] = tasks;
	const taskIds = tasks.map(({ watch }) => watch.taskId);
	const seen = first?.kind === 'over' ? first.done.task : first?.task;
	return { json: unfinishedJson(assembly, taskIds, seen), pairedItem: { item: index } };
}

/** The inputs that executions of this process sleep on: n8n's Retry On Fail runs the node again on them. */
const asleep = new WeakSet<object>();

/**
 * The items of an execution that is asleep already. n8n repeats a node also when it returned normally and its first item has
 * an `error`; the input then is what this node put to sleep, and it has to sleep on unchanged.
 */
export function sleepingInput(context: IExecuteFunctions): INodeExecutionData[] | undefined {
	const items = context.getInputData();
	return items.some((item) => asleep.has(item)) ? copyOf(items) : undefined;
}

function copyOf(items: readonly INodeExecutionData[]): INodeExecutionData[] {
	return items.map((item) => {
		const copy = { ...item };
		// Failures carry their error as a hidden property, for the error branch.
		const error = Object.getOwnPropertyDescriptor(item, 'error');
		if (error !== undefined) Object.defineProperty(copy, 'error', error);
		return copy;
	});
}

/** Suspends the execution, and returns the items that it sleeps on. */
export async function suspend(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ sleepers, waking }: { sleepers: readonly Sleeper[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	const node = context.getNode();
	const firsts = sleepers.map((sleeper, index) =>
		sleeper.kind === 'complete'
			? plainFailureItem(node, {
					...(sleeper.items[0] ?? { json: {} }),
					pairedItem: { item: index },
				})
			: sleepingItem(sleeper, index),
	);
	// Further items of one input item (Split Files) come last: n8n links the items of a woken node by position.
	const further = sleepers.flatMap((sleeper) =>
		sleeper.kind === 'complete' ? sleeper.items.slice(1) : [],
	);
	// They leave by the deadline, without this node being called again.
	const items = cleanItems(context, [
		...firsts,
		...further.map((item) => plainFailureItem(node, item)),
	]);
	const notes: Notes = {
		id: randomUUID(),
		watched: sleepers.every((sleeper) => sleeper.kind === 'complete' || sleeper.watched),
		items: [
			...sleepers.map((sleeper) => noteOf(sleeper, waking)),
			...further.map((): SleepingItem => ({ kind: 'complete' })),
		],
	};
	const tasks = openTasks(notes);
	const aheadMs = clockAheadMs();
	(context.getContext('node') as Record<string, unknown>)[CONTEXT_FIELD] = writeNotes(
		moved(notes, aheadMs),
	);
	for (const item of items) asleep.add(item);
	context.getExecuteData().data = { main: [items] };
	const latest = tasks.reduce((found, task) => Math.max(found, task.deadline), now());
	const deadline = Math.round(latest + aheadMs);
	// Without the token of the resume URL.
	const shown = `${endpointOf(waking.resumeUrl)}#${tooltipFragment({ tasks: tasks.length, deadline })}`;
	context.setMetadata({ resumeUrl: shown });
	await context.putExecutionToWait(new Date(deadline));
	const sleep = sleepOf(notes.id, { context, client });
	for (const task of sleepers.flatMap(tasksOf))
		if (task.kind === 'over') sleep.note(task.done.taskId, task.done);
	// Nobody reports the end of a task whose callback goes elsewhere, as of one that an earlier execution has made.
	if (notes.watched) sleep.watchAll(tasks, waking.resumeUrl);
	else
		sleep.watch(
			tasks.filter(({ pace }) => pace !== 'asleep'),
			waking.resumeUrl,
		);
	return copyOf(items);
}

function noteOf(sleeper: Sleeper, waking: Waking): SleepingItem {
	if (sleeper.kind === 'complete') return { kind: 'complete' };
	const { files, assembly } = sleeper;
	const tasks = sleeper.tasks.map((task): Watch => {
		const called =
			task.kind === 'open' && waking.callable && callsHere(task.receiveUrl, waking.resumeUrl);
		// Where the service calls back, looks are only for lost callbacks.
		return { ...task.watch, lookAtOnce: false, pace: called ? 'asleep' : 'poll' };
	});
	return { kind: 'open', files, assembly, tasks };
}

function tasksOf(sleeper: Sleeper): SleepingTask[] {
	return sleeper.kind === 'open' ? sleeper.tasks : [];
}

/** Whether a task's callback comes to this execution: one that an earlier execution made calls that one. */
function callsHere(receiveUrl: string | undefined, resumeUrl: string): boolean {
	return receiveUrl !== undefined && new URL(receiveUrl).pathname === new URL(resumeUrl).pathname;
}
