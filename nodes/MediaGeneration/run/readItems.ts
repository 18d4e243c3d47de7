/** The operations that only read: credits, API keys, `task: get` and the list of tasks. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { failureItem, nodeError } from '../delivery/failure';
import { ItemFields } from '../operations/fields';
import type { Work } from '../operations/operation';
import { attemptLater, valueOf } from '../service/failures';
import { openClient } from './prepare';

export async function readItems(
	context: IExecuteFunctions,
	work: Extract<Work, { kind: 'reads' }>,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	const signal = context.getExecutionCancelSignal();
	const opened = await attemptLater(async () => valueOf(await openClient(context)));
	for (let index = 0; index < context.getInputData().length; index += 1) {
		const fields = new ItemFields(context, index);
		const items = await attemptLater(
			async () => await work.read({ client: valueOf(opened), signal }, fields),
		);
		if (items.ok) {
			for (const json of items.value as IDataObject[])
				output.push({ json, pairedItem: { item: index } });
			continue;
		}
		if (!context.continueOnFail()) throw nodeError(context.getNode(), items.failure, index);
		output.push(failureItem(context.getNode(), items.failure, index, undefined));
	}
	return output;
}
