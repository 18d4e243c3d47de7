/** Puts an execution to sleep until its tasks are over. Its items go out if the deadline passes, so they carry the task IDs. */
import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { endpointOf } from '../task/ledger';
import { unfinishedJson, type Assembly } from '../files/assembly';
import { plainFailureItem } from '../files/failure';
import { carryInput } from '../files/item';
import type { FileSettings } from '../actions/waiting';
import { storeOf } from '../n8n/execution';
import { cleanItems } from '../n8n/clean';
import { forExpressions } from '../n8n/itemFiles';
import { putToSleep } from '../n8n/sleep';
import type { ServiceClient } from '../transport/client';
import { clockAheadMs } from '../base/clock';
import { urlOf } from '../base/json';
import type { Done } from '../transport/verdict';
import type { Watch } from '../task/wait';
import type { Waking } from './checks';
import {
	CONTEXT_FIELD,
	lastDeadline,
	notedTasks,
	tooltipFragment,
	writeNotes,
	type NotedTask,
	type OpenTask,
	type SleepingItem,
} from './notes';
import { watchOver } from './watch';

/** An execution goes to sleep with such tasks. The files of one that is done are fetched when the execution wakes. */
export type SleepingTask = OpenTask | (Done & { watch: Watch });

export type Sleeper =
	| { kind: 'complete'; items: INodeExecutionData[] }
	| {
			kind: 'open';
			tasks: SleepingTask[];
			files: FileSettings;
			assembly: Assembly;
			/** The JSON that came in, if the output is to carry it. */
			input?: IDataObject | undefined;
	  };

/** Makes what goes out for an input item that is open at the deadline; the first item of one that is complete already. */
function firstItem(sleeper: Sleeper, index: number): INodeExecutionData {
	const pairedItem = { item: index };
	if (sleeper.kind === 'complete') return { ...(sleeper.items[0] ?? { json: {} }), pairedItem };
	const { tasks, assembly } = sleeper;
	const taskIds = tasks.map(({ watch }) => watch.taskId);
	const json = unfinishedJson(assembly, taskIds, tasks[0]?.task);
	return carryInput({ json, pairedItem }, sleeper.input);
}

export async function suspend(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ sleepers, waking }: { sleepers: readonly Sleeper[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	// They come last: n8n links the items of a woken node by position.
	const further = sleepers.flatMap((sleeper) =>
		sleeper.kind === 'complete' ? sleeper.items.slice(1) : [],
	);
	const node = context.getNode();
	// They leave by the deadline, without this node being called again.
	const all = [...sleepers.map(firstItem), ...further].map((item) => plainFailureItem(node, item));
	const kept = all.map((item) => forExpressions(context, item));
	const items = await cleanItems(context, kept);
	const ownPath = waking.callable ? pathOf(waking.resumeUrl) : '';
	const noted = (task: SleepingTask): NotedTask => {
		if (task.kind === 'done') return { ...task.watch, known: task.task };
		// The callback of a task that an earlier execution made goes to that one.
		return { ...task.watch, called: pathOf(task.receiveUrl) === ownPath };
	};
	const sleeping = sleepers.map((sleeper): SleepingItem => {
		if (sleeper.kind === 'complete') return { kind: 'complete' };
		const { files, assembly, input } = sleeper;
		const carriesInput = input !== undefined;
		return { kind: 'open', files, assembly, carriesInput, tasks: sleeper.tasks.map(noted) };
	});
	const notes = {
		id: randomUUID(),
		items: [...sleeping, ...further.map((): SleepingItem => ({ kind: 'complete' }))],
	};
	storeOf(context)[CONTEXT_FIELD] = writeNotes(notes);
	const tasks = notedTasks(notes);
	const deadline = Math.round(lastDeadline(tasks) + clockAheadMs());
	// The tooltip reads this address, which has no token.
	const shownUrl = endpointOf(waking.resumeUrl) + tooltipFragment(tasks, deadline);
	const output = await putToSleep(context, items, { deadline: new Date(deadline), shownUrl });
	watchOver({ id: notes.id, tasks, resumeUrl: waking.resumeUrl, context, client }, 'later');
	return output;
}

const pathOf = (url?: string) => urlOf(url)?.pathname;
