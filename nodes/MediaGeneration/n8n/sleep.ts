/** Puts an execution to sleep on a node's items, in n8n's way (n8n 2.41). */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

/** Items on which executions of this process sleep. n8n hands the same objects to the node's next try. */
const slept = new WeakSet<object>();

const copied = (items: readonly INodeExecutionData[]) => items.map((item) => ({ ...item }));

/** Returns the items of an execution that must stay asleep: n8n also repeats a node that returned if its first item has an `error` (`workflow-execute`). */
export function sleepingInput(context: IExecuteFunctions): INodeExecutionData[] | undefined {
	const items = context.getInputData();
	return items.some((item) => slept.has(item)) ? copied(items) : undefined;
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
	await context.putExecutionToWait(deadline);
	return copied(items);
}
