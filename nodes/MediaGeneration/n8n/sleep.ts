/** Puts an execution to sleep on a node's items, in n8n's way (n8n 2.41). */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

const copied = (items: readonly INodeExecutionData[]) => items.map((item) => ({ ...item }));

/**
 * Returns the items of a node that has slept: n8n passes them on. It calls the node again for an execution that must stay asleep if the first
 * item has an `error` (`workflow-execute`), and for one that was killed after it woke: a Retry with the workflow as it is saved now enables
 * the node again (`execution.service`, n8n 2.41).
 */
export function itemsToPassOn(context: IExecuteFunctions): INodeExecutionData[] | undefined {
	// `putToSleep` leaves it with the entry of n8n's stack, which n8n saves. Each further run has an entry of its own.
	const hasRun = context.getExecuteData().metadata?.resumeUrl !== undefined;
	return hasRun ? copied(context.getInputData()) : undefined;
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
