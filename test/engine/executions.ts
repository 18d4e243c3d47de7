/** Executions as n8n's server keeps them: saved as text at their end, from which its Retry begins. */
import { parse, stringify } from 'flatted';
import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type IConnections,
	type INode,
	type INodeType,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { logLines } from './container';
import {
	connect,
	credentialsHelper,
	mediaGeneration,
	mediaNode,
	node,
	noOp,
	prepareEngine,
	source,
	typesOf,
	type EngineOptions,
	type EngineResult,
} from './engine';

/** A workflow as it is saved. */
interface Definition extends Pick<
	EngineOptions,
	'credentials' | 'stopWhen' | 'retryOf' | 'binaryMode' | 'timezone'
> {
	nodes: INode[];
	connections: IConnections;
	types: Record<string, INodeType>;
}

/** The failed executions by ID, as they stand in n8n's database. */
const saved = new Map<string, string>();
let count = 0;

/**
 * The saved data of a failed execution as n8n's Retry ("with currently saved workflow") hands it to the next one: without
 * the end of the node that failed, and with the node as the workflow has it now.
 */
function dataOfRetry(failed: string, workflow: Workflow): IRunExecutionData {
	const text = saved.get(failed);
	if (text === undefined) throw new Error(`Execution ${failed} has not failed`);
	const data = parse(text) as unknown as IRunExecutionData;
	const { resultData } = data;
	delete resultData.error;
	const last = resultData.runData[resultData.lastNodeExecuted ?? ''];
	if (last?.at(-1)?.error !== undefined) last.pop();
	for (const entry of data.executionData?.nodeExecutionStack ?? [])
		entry.node = workflow.getNode(entry.node.name) ?? entry.node;
	return data;
}

/** Runs a workflow from its first node. The result is that of the node "Media". */
export async function runWorkflow(definition: Definition): Promise<EngineResult> {
	await prepareEngine();
	const { nodes, connections, types, credentials, stopWhen, retryOf } = definition;
	const { binaryMode, timezone } = definition;
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
			...(timezone && { timezone }),
		},
	});
	const start = { node: nodes[0] as INode, data: { main: [[{ json: {} }]] }, source: null };
	const data =
		retryOf === undefined
			? createRunExecutionData({ executionData: { nodeExecutionStack: [start] } })
			: dataOfRetry(retryOf, workflow);
	const mode = retryOf === undefined ? 'trigger' : 'retry';
	const hooks = new ExecutionLifecycleHooks(mode, id, {
		...named,
		isArchived: false,
		createdAt: new Date(),
		updatedAt: new Date(),
		activeVersionId: '1',
		connections,
		nodes,
	});
	const additionalData = {
		credentialsHelper: credentialsHelper(credentials),
		executionId: id,
		currentNodeExecutionIndex: 0,
		variables: {},
		restApiUrl: 'http://localhost/rest',
		instanceBaseUrl: 'http://localhost/',
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
		setExecutionStatus: () => undefined,
		hooks,
	} as unknown as IWorkflowExecuteAdditionalData;
	await workflow.expression.acquireIsolate?.();
	const execution = new WorkflowExecute(additionalData, mode, data).processRunExecutionData(
		workflow,
	);
	void stopWhen?.then(() => execution.cancel());
	const run = await execution;
	const { runData, error } = run.data.resultData;
	if (error !== undefined) saved.set(id, stringify(run.data));
	const last = runData.Media?.at(-1)?.data?.main;
	return {
		id,
		run,
		output: last?.[0] ?? [],
		errorOutput: last?.[1] ?? [],
		error,
		get saved() {
			return JSON.stringify(run);
		},
		logs: logLines.slice(logsFrom),
	};
}

/** Runs the node "Media" between a source of items and what comes after it. @param type another node in its place */
export async function runNode(
	options: EngineOptions,
	type: INodeType = mediaGeneration,
): Promise<EngineResult> {
	const { items = [{}], credentials, stopWhen, retryOf, binaryMode, timezone } = options;
	const inputs = options.inputs ?? items.map((json) => ({ json }));
	return await runWorkflow({
		credentials,
		stopWhen,
		retryOf,
		binaryMode,
		timezone,
		types: { source: source(inputs), noOp, mediaGeneration: type },
		nodes: [
			node('Source', 'source'),
			mediaNode(options),
			node('After', 'noOp'),
			node('Failed', 'noOp'),
		],
		connections: connect(['Source', 'Media'], ['Media', 'After'], ['Media', 'Failed', 1]),
	});
}
