/** Executions of workflows by n8n's engine. */
import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	NodeConnectionTypes,
	Workflow,
	type IConnections,
	type INode,
	type INodeType,
} from 'n8n-workflow';
import { logLines } from './container';
import {
	additionalDataFor,
	mediaGeneration,
	mediaNode,
	node,
	prepareEngine,
	source,
	typesOf,
	type EngineOptions,
	type EngineResult,
} from './engine';

/** A workflow as it is saved. */
interface Definition extends Pick<EngineOptions, 'credentials' | 'stopWhen' | 'binaryMode'> {
	nodes: INode[];
	connections: IConnections;
	types: Record<string, INodeType>;
}

let count = 0;

/** Runs a workflow from its first node. The result is that of the node "Media". */
export async function runWorkflow(definition: Definition): Promise<EngineResult> {
	await prepareEngine();
	const { nodes, connections, types, credentials, stopWhen, binaryMode } = definition;
	const id = String((count += 1));
	const logsFrom = logLines.length;
	const named = { id: 'engine-test', name: 'engine-test', active: true };
	const workflow = new Workflow({
		...named,
		...structuredClone({ nodes, connections }),
		nodeTypes: typesOf(types),
		staticData: {},
		settings: {
			executionOrder: 'v1',
			...(binaryMode && { binaryMode }),
		},
	});
	const start = { node: nodes[0] as INode, data: { main: [[{ json: {} }]] }, source: null };
	const data = createRunExecutionData({ executionData: { nodeExecutionStack: [start] } });
	const hooks = new ExecutionLifecycleHooks('trigger', id, {
		...named,
		isArchived: false,
		createdAt: new Date(),
		updatedAt: new Date(),
		activeVersionId: '1',
		connections,
		nodes,
	});
	const additionalData = additionalDataFor(credentials, {
		executionId: id,
		currentNodeExecutionIndex: 0,
		setExecutionStatus: () => undefined,
		hooks,
	});
	await workflow.expression.acquireIsolate?.();
	const execution = new WorkflowExecute(additionalData, 'trigger', data).processRunExecutionData(
		workflow,
	);
	void stopWhen?.then(() => execution.cancel());
	const run = await execution;
	const { runData, error } = run.data.resultData;
	return {
		output: runData.Media?.at(-1)?.data?.main?.[0] ?? [],
		error,
		get saved() {
			return JSON.stringify(run);
		},
		logs: logLines.slice(logsFrom),
	};
}

/** Runs the node "Media" behind a source of items. @param type another node in its place */
export async function runNode(
	options: EngineOptions,
	type: INodeType = mediaGeneration,
): Promise<EngineResult> {
	const { items = [{}], credentials, stopWhen, binaryMode } = options;
	const inputs = options.inputs ?? items.map((json) => ({ json }));
	return await runWorkflow({
		credentials,
		stopWhen,
		binaryMode,
		types: { source: source(inputs), mediaGeneration: type },
		nodes: [node('Source', 'source'), mediaNode(options)],
		connections: {
			Source: { main: [[{ node: 'Media', type: NodeConnectionTypes.Main, index: 0 }]] },
		},
	});
}
