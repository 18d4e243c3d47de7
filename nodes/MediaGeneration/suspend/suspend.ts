/** Puts an execution to sleep until its tasks have finished. Its items are output if the deadline passes, so they carry the task IDs. */
import { randomUUID } from 'crypto';
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { plainFailureItem } from '../items/nodeError';
import { tooltipFragment } from '../n8n/editor';
import { storeOf } from '../n8n/execution';
import { cleanItems } from '../n8n/clean';
import { putToSleep } from '../n8n/sleep';
import type { ServiceClient } from '../transport/client';
import { clockAheadMs } from '../base/clock';
import { endpointOf } from '../base/url';
import { CONTEXT_FIELD, lastDeadline, tasksIn, writeNotes, type WaitingItem } from './notes';
import { noteSleep } from './stillAsleep';
import { watchOver } from './watch';

/** What becomes of an input item when the execution is suspended. */
export interface SuspendedItem {
	/** They go out at the deadline: the first one in its place, the others after all of those. */
	items: INodeExecutionData[];
	/** null if they are complete. */
	waits: WaitingItem | null;
}

export async function suspend(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ suspended, resumeUrl }: { suspended: readonly SuspendedItem[]; resumeUrl: string },
): Promise<INodeExecutionData[]> {
	const first = suspended.map(({ items: [item = { json: {} }] }, index) => {
		return { ...item, pairedItem: { item: index } };
	});
	// They come last, because n8n links the items of a woken node by position.
	const further = suspended.flatMap(({ items }) => items.slice(1));
	const node = context.getNode();
	// The deadline outputs them without another call of this node.
	const all = [...first, ...further].map((item) => plainFailureItem(node, item));
	const items = await cleanItems(context, all);
	const waiting = [...suspended.map(({ waits }) => waits), ...further.map(() => null)];
	const notes = { id: randomUUID(), items: waiting };
	storeOf(context)[CONTEXT_FIELD] = writeNotes(notes);
	const tasks = tasksIn(notes);
	const deadline = Math.round(lastDeadline(tasks) + clockAheadMs());
	// The tooltip reads this URL, which has no token.
	const taskIds = tasks.map(({ taskId }) => taskId);
	const shownUrl = endpointOf(resumeUrl) + tooltipFragment(taskIds, deadline);
	const output = await putToSleep(context, items, { deadline: new Date(deadline), shownUrl });
	noteSleep(notes.id, context);
	watchOver({ id: notes.id, tasks, resumeUrl, context, client });
	return output;
}
