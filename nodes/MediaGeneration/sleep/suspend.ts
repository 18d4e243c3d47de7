/**
 * Putting an execution to sleep until its tasks are over (README, "Waiting"). The sleeping items are what goes out if the deadline
 * passes, so they carry the task IDs and say `timed_out`. Further items of one input item (Split Files) come last: n8n links the items
 * of a woken node by position. The list that n8n keeps is not the one that is returned, which n8n may empty.
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
import type { Done } from '../service/verdict';
import type { Watch } from '../wait/poll';
import type { Waking } from './checks';
import {
	CONTEXT_FIELD,
	openTasks,
	tooltipFragment,
	writeNotes,
	type Notes,
	type OpenTask,
	type SleepingItem,
} from './notes';
import { sleepOf } from './watch';

/** A task of an execution that goes to sleep. The files of one that is done are fetched when the execution wakes. */
type SleepingTask = OpenTask | { kind: 'done'; watch: Watch; done: Done };

/** One input item of an execution that goes to sleep. */
export type Sleeper =
	| { kind: 'complete'; items: INodeExecutionData[] }
	| {
			kind: 'open';
			tasks: SleepingTask[];
			files: FileSettings;
			assembly: Assembly;
			watched: boolean;
	  };

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

/** What goes out for an input item that is not over by the deadline, or its first item where it is over already. */
function firstItem(sleeper: Sleeper, index: number): INodeExecutionData {
	const pairedItem = { item: index };
	if (sleeper.kind === 'complete') return { ...(sleeper.items[0] ?? { json: {} }), pairedItem };
	const { tasks, assembly } = sleeper;
	const [first] = tasks;
	const taskIds = tasks.map(({ watch }) => watch.taskId);
	const seen = first?.kind === 'done' ? first.done.task : first?.task;
	return { json: unfinishedJson(assembly, taskIds, seen), pairedItem };
}

/** Suspends the execution, and returns the items that it sleeps on. */
export async function suspend(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ sleepers, waking }: { sleepers: readonly Sleeper[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	const further = sleepers.flatMap((sleeper) =>
		sleeper.kind === 'complete' ? sleeper.items.slice(1) : [],
	);
	const node = context.getNode();
	const all = [...sleepers.map(firstItem), ...further];
	// They leave by the deadline, without this node being called again.
	const items = cleanItems(
		context,
		all.map((item) => plainFailureItem(node, item)),
	);
	const notes: Notes = {
		id: randomUUID(),
		watched: sleepers.every((sleeper) => sleeper.kind === 'complete' || sleeper.watched),
		items: [
			...sleepers.map((sleeper) => noteOf(sleeper, waking)),
			...further.map((): SleepingItem => ({ kind: 'complete' })),
		],
	};
	(context.getContext('node') as Record<string, unknown>)[CONTEXT_FIELD] = writeNotes(notes);
	for (const item of items) asleep.add(item);
	context.getExecuteData().data = { main: [items] };
	const tasks = openTasks(notes);
	const latest = tasks.reduce((found, task) => Math.max(found, task.deadline), now());
	const deadline = Math.round(latest + clockAheadMs());
	const shown = tooltipFragment({ tasks: tasks.length, deadline });
	// Without the token of the resume URL.
	context.setMetadata({ resumeUrl: `${endpointOf(waking.resumeUrl)}#${shown}` });
	await context.putExecutionToWait(new Date(deadline));
	const sleep = sleepOf(notes.id, { context, client });
	for (const sleeper of sleepers)
		for (const task of sleeper.kind === 'open' ? sleeper.tasks : [])
			if (task.kind === 'done') sleep.note(task.done.taskId, task.done);
	// Nobody reports the end of a task whose callback goes elsewhere, as of one that an earlier execution has made.
	const watched = notes.watched ? tasks : tasks.filter(({ pace }) => pace !== 'asleep');
	sleep.watch(watched, { resumeUrl: waking.resumeUrl, coverage: notes.watched ? 'all' : 'some' });
	return copyOf(items);
}

function noteOf(sleeper: Sleeper, { callable, resumeUrl }: Waking): SleepingItem {
	if (sleeper.kind === 'complete') return { kind: 'complete' };
	const { files, assembly } = sleeper;
	const tasks = sleeper.tasks.map((task): Watch => {
		const called = task.kind === 'open' && callable && callsHere(task.receiveUrl, resumeUrl);
		return { ...task.watch, pace: called ? 'asleep' : 'poll' };
	});
	return { kind: 'open', files, assembly, tasks };
}

/** Whether a task's callback comes to this execution: one that an earlier execution made calls that one. */
function callsHere(receiveUrl: string | undefined, resumeUrl: string): boolean {
	return receiveUrl !== undefined && new URL(receiveUrl).pathname === new URL(resumeUrl).pathname;
}
