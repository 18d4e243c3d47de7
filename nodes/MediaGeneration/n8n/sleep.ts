/** Puts an execution to sleep on a node's items, in n8n's way (n8n 2.41). */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

/** Items on which executions of this process sleep. n8n hands the same objects to the node's next try. */
const slept = new WeakSet<object>();

const copied = (items: readonly INodeExecutionData[]) => items.map((item) => ({ ...item }));

/**
 * Returns the items of a node that has run: n8n passes them on. It calls the node again for an execution that must stay asleep if the first
 * item has an `error` (`workflow-execute`), and for one that was killed after it woke: a Retry with the workflow as it is saved now enables
 * the node again (`execution.service`, n8n 2.41).
 */
export function itemsToPassOn(context: IExecuteFunctions): INodeExecutionData[] | undefined {
	const items = context.getInputData();
	// n8n's mark of a node that a call has woken (`webhook-helpers`). Its older types lack it.
	const metadata: object = context.getExecuteData().metadata ?? {};
	const isWoken = 'forwardAllOutputs' in metadata && metadata.forwardAllOutputs === true;
	const hasRun = isWoken || items.some((item) => slept.has(item));
	return hasRun ? copied(items) : undefined;
}

/** Field of the execution's context: the deadline of its last sleep, in epoch ms by the machine's clock. */
const DEADLINE = 'mediaGenerationDeadline';

/** Returns whether a node of this package has put the execution to sleep. */
export function hasSlept(context: IExecuteFunctions): boolean {
	return context.getContext('flow')[DEADLINE] !== undefined;
}

/**
 * Returns how long an execution must stay awake, in ms. n8n sets its timer up to 70 s before a deadline, and keeps it if the execution
 * wakes earlier: it then ends the next sleep, whatever that waits for (`wait-tracker`).
 */
export function timerLeftMs(context: IExecuteFunctions): number {
	// Some seconds more, because n8n takes an execution later than it reads it.
	const leftMs = Number(context.getContext('flow')[DEADLINE]) - Date.now() + 5_000;
	return leftMs > 0 && leftMs < 80_000 ? leftMs : 0;
}

/** @returns the node's output: copies, because n8n's `handleNodeErrorOutput` may empty the list that it is given. */
export async function putToSleep(
	context: IExecuteFunctions,
	items: INodeExecutionData[],
	{ deadline, shownUrl }: { deadline: Date; shownUrl: string },
): Promise<INodeExecutionData[]> {
	for (const item of items) slept.add(item);
	const entry = context.getExecuteData();
	entry.data = { main: [items] };
	// n8n disables the node of the entry that wakes (its waiting-webhooks.js). Other entries of its stack can share that object: they would
	// pass their items on untouched.
	entry.node = { ...entry.node };
	context.setMetadata({ resumeUrl: shownUrl });
	context.getContext('flow')[DEADLINE] = deadline.getTime();
	await context.putExecutionToWait(deadline);
	return copied(items);
}
