/**
 * One execution of the action node: which operation it is, and who carries it out.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { nodeError } from '../delivery/failure';
import { operationOf } from '../operations';
import type { Operation } from '../operations/operation';
import { cleanly } from '../service/clean';
import { FailureError } from '../service/failures';
import { generate } from './run';
import { joinItems } from './joinItems';
import { readItems } from './readItems';

/** The operation that the node names. Throws n8n's error for a pair of resource and operation that does not exist. */
function chosen(context: IExecuteFunctions): Operation {
	try {
		return operationOf(
			context.getNodeParameter('resource', 0),
			context.getNodeParameter('operation', 0),
		);
	} catch (error) {
		throw error instanceof FailureError ? nodeError(context.getNode(), error.failure, 0) : error;
	}
}

async function carryOut(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const operation = chosen(context);
	switch (operation.work.kind) {
		case 'creates':
		case 'awaits':
			return await generate(context, operation);
		case 'joins':
			return await joinItems(context);
		case 'reads':
		case 'looks':
		case 'lists':
			return await readItems(context, operation);
	}
}

/** The one way in and out of a run. */
export async function runOperation(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	return await cleanly(context, async () => await carryOut(context));
}
