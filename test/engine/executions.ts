/** Executions by n8n's engine. */
import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	NodeConnectionTypes,
	Workflow,
	type IConnections,
	type INodeType,
} from 'n8n-workflow';
import { logLines } from './container';
import {
	additionalDataFor,
	mediaGeneration,
	mediaNode,
	node,
	prepareEngine,
	passing,
	typesOf,
	type EngineOptions,
	type EngineResult,
} from './engine';

let count = 0;

/** Runs the node "Media" behind a source of items. @param type another node in its place */
export async function runNode(
	options: EngineOptions,
	type: INodeType = mediaGeneration,
): Promise<EngineResult> {
	await prepareEngine();
	const { items = [{}], credentials, stopWhen, binaryMode } = options;
	const given = options.inputs ?? items.map((json) => ({ json }));
	const types = {
		source: passing('source', async () => await Promise.resolve([structuredClone(given)])),
		mediaGeneration: type,
	};
	const nodes = [node('Source', 'source'), mediaNode(options)];
	const connections: IConnections = {
		Source: { main: [[{ node: 'Media', type: NodeConnectionTypes.Main, index: 0 }]] },
	};
	const id = String((count += 1));
	const logsFrom = logLines.length;
	const workflow = new Workflow({
		id: 'engine-test',
		name: 'engine-test',
		active: true,
		...structuredClone({ nodes, connections }),
		nodeTypes: typesOf(types),
		staticData: {},
		settings: {
			executionOrder: 'v1',
			...(binaryMode && { binaryMode }),
		},
	});
	const start = { node: nodes[0]!, data: { main: [[{ json: {} }]] }, source: null };
	const data = createRunExecutionData({ executionData: { nodeExecutionStack: [start] } });
	const additionalData = additionalDataFor(credentials, {
		executionId: id,
		currentNodeExecutionIndex: 0,
		setExecutionStatus: () => undefined,
		hooks: { runHook: async () => await Promise.resolve() },
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
