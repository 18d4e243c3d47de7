/** Runs the action node once, according to its operation's kind. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { operationOf } from '../actions';
import { ItemFields } from '../actions/fields';
import type { Job } from '../actions/operation';
import { NodeParameters } from '../actions/parameters';
import { attemptAsync, FailureError, valueOf } from '../base/outcomes';
import { agentItem } from '../items/agentItem';
import { nodeError } from '../items/nodeError';
import { cleanly } from '../n8n/clean';
import { isToolRun } from '../n8n/execution';
import { withoutEmptyError } from '../n8n/errorItems';
import { itemsToPassOn } from '../n8n/sleep';
import { generate } from './generate';
import { joinItems } from './joinItems';
import { failedItem, type Executing } from './output';
import { openOne } from './run';

/** @param continueOnFail whether failures become items, according to "On Error" */
export async function runOperation(
	context: IExecuteFunctions,
	continueOnFail: boolean,
): Promise<INodeExecutionData[]> {
	return await cleanly(context, async () => {
		// This is asked before anything is paid for, because n8n may fail later.
		const isTool = isToolRun(context);
		const output = await carryOut({ context, continueOnFail });
		return isTool ? output.map(agentItem) : output;
	});
}

async function carryOut(executing: Executing): Promise<INodeExecutionData[]> {
	const { context } = executing;
	const parameters = new NodeParameters(context);
	const items = context
		.getInputData()
		.map((_, index) => new ItemFields(context, index, parameters));
	try {
		const operation = operationOf(
			context.getNodeParameter('resource', 0),
			context.getNodeParameter('operation', 0),
		);
		switch (operation.work.kind) {
			case 'creates':
			case 'awaits':
				return itemsToPassOn(context) ?? (await generate(executing, operation, items));
			case 'joins':
				return await joinItems(executing, items);
			case 'reads':
				return await readItems(executing, operation.work, items);
		}
	} catch (error) {
		throw error instanceof FailureError
			? nodeError(context.getNode(), { failure: error.failure, index: 0 })
			: error;
	}
}

async function readItems(
	executing: Executing,
	work: Extract<Job, { kind: 'reads' }>,
	items: readonly ItemFields[],
): Promise<INodeExecutionData[]> {
	const { context } = executing;
	const output: INodeExecutionData[] = [];
	const signal = context.getExecutionCancelSignal();
	const opened = await attemptAsync(async () => await openOne(context));
	for (const fields of items) {
		const { itemIndex: item } = fields;
		const reading = async () => await work.read({ client: valueOf(opened), signal }, fields);
		const entries = await attemptAsync(reading);
		if (entries.ok) {
			for (const json of entries.value)
				output.push({ json: withoutEmptyError(json), pairedItem: { item } });
		} else output.push(failedItem(executing, entries.failure, item));
	}
	return output;
}
