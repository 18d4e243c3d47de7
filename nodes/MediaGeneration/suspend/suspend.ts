/** Puts an execution to sleep until its tasks have ended. Its items are output if the deadline passes, so they carry the task IDs. */
import { randomUUID } from 'crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { endpointOf } from '../task/ledger';
import { plainFailureItem } from '../files/failure';
import { storeOf } from '../n8n/execution';
import { cleanItems } from '../n8n/clean';
import { putToSleep } from '../n8n/sleep';
import type { ServiceClient } from '../transport/client';
import { clockAheadMs } from '../base/clock';
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
	type OpenItem,
	type OpenTask,
} from './notes';
import { watchOver } from './watch';

/** A task that an execution sleeps on. If it is done, its files are fetched when the execution wakes. */
export type SleepingTask = OpenTask | (Done & { watch: Watch });

/** What remains of an input item. */
export interface Sleeper {
	/** Output at the deadline: the first one in its place, the others after all of those. */
	items: INodeExecutionData[];
	/** null: they are complete. */
	open: OpenItem<SleepingTask> | null;
}

export async function suspend(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ sleepers, waking }: { sleepers: readonly Sleeper[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	const first = sleepers.map(({ items: [item = { json: {} }] }, index) => {
		return { ...item, pairedItem: { item: index } };
	});
	// They come last, because n8n links the items of a woken node by position.
	const further = sleepers.flatMap(({ items }) => items.slice(1));
	const node = context.getNode();
	// The deadline outputs them without another call of this node.
	const all = [...first, ...further].map((item) => plainFailureItem(node, item));
	const items = await cleanItems(context, all);
	const { resumeUrl, callable } = waking;
	const noted = (task: SleepingTask): NotedTask => {
		if (task.kind === 'done') return { ...task.watch, known: task.task };
		return { ...task.watch, called: callable && task.receiveUrl === resumeUrl };
	};
	const open = sleepers.map((sleeper) => {
		return sleeper.open && { ...sleeper.open, tasks: sleeper.open.tasks.map(noted) };
	});
	const notes = { id: randomUUID(), items: [...open, ...further.map(() => null)] };
	storeOf(context)[CONTEXT_FIELD] = writeNotes(notes);
	const tasks = notedTasks(notes);
	const deadline = Math.round(lastDeadline(tasks) + clockAheadMs());
	// The tooltip reads this URL, which has no token.
	const shownUrl = endpointOf(resumeUrl) + tooltipFragment(tasks, deadline);
	const output = await putToSleep(context, items, { deadline: new Date(deadline), shownUrl });
	watchOver({ id: notes.id, tasks, resumeUrl, context, client }, 'later');
	return output;
}
