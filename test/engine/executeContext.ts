/** What a node gets as `this` in n8n's engine, without running a workflow: its helpers are n8n's own. */
import './container';
import { ExecuteContext } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type IExecuteFunctions,
	type INode,
	type INodeTypes,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { prepareEngine } from './engine';

export async function executeContext(): Promise<IExecuteFunctions> {
	await prepareEngine();
	const node: INode = {
		id: 'node',
		name: 'Node',
		type: 'node',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const nodeTypes = {
		getByName: () => undefined,
		getByNameAndVersion: () => undefined,
		getKnownTypes: () => ({}),
	} as unknown as INodeTypes;
	const workflow = new Workflow({
		id: 'fuzz',
		nodes: [],
		connections: {},
		active: false,
		nodeTypes,
	});
	return new ExecuteContext(
		workflow,
		node,
		{ executionId: 'fuzz' } as unknown as IWorkflowExecuteAdditionalData,
		'trigger',
		createRunExecutionData(),
		0,
		[],
		{ main: [[]] },
		{ node, data: { main: [[]] }, source: null },
		[],
	);
}
