/**
 * The built node inside n8n's own engine: workflows are run by n8n-core, requests go over real HTTP to the stand-in.
 * Only what n8n's server adds (database, credentials store) is replaced by the least that the engine accepts.
 */
import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from './built';
import { BackendLogger, Container } from './container';
import {
	BinaryDataService,
	ExecutionLifecycleHooks,
	InstanceSettings,
	WorkflowExecute,
} from 'n8n-core';
import {
	createRunExecutionData,
	NodeConnectionTypes,
	NodeHelpers,
	Workflow,
	type ExecutionError,
	type IBinaryData,
	type IConnections,
	type ICredentialDataDecryptedObject,
	type ICredentialsHelper,
	type ICredentialType,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

function load<T>(path: string, name: string): new () => T {
	const loaded = built<Record<string, new () => T>>(path);
	const found = loaded[name];
	if (found === undefined) throw new Error(`${path} has no ${name}: run "npm run build" first`);
	return found;
}

const credentialType = new (load<ICredentialType>(
	'credentials/MediaGenerationApi.credentials.js',
	'MediaGenerationApi',
))();
const mediaGeneration = new (load<INodeType>(
	'nodes/MediaGeneration/MediaGeneration.node.js',
	'MediaGeneration',
))();
const mediaGenerationTrigger = new (load<INodeType>(
	'nodes/MediaGeneration/MediaGenerationTrigger.node.js',
	'MediaGenerationTrigger',
))();

/** Gives the items of the test to the workflow. */
function source(items: INodeExecutionData[]): INodeType {
	return passing('source', async () => await Promise.resolve([structuredClone(items)]));
}

function passing(name: string, execute: INodeType['execute']): INodeType {
	return {
		description: {
			displayName: name,
			name,
			group: ['transform'],
			version: 1,
			description: name,
			defaults: { name },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
		},
		execute,
	};
}

const noOp = passing('noOp', async function (this: IExecuteFunctions) {
	return await Promise.resolve([this.getInputData()]);
});

/** Sends its items around once more, then lets them out by its second output. */
function loopOnce(times: number): INodeType {
	let runs = 0;
	const node = passing('loop', async function (this: IExecuteFunctions) {
		runs += 1;
		const items = this.getInputData().map(({ json }) => ({ json: { round: runs, ...json } }));
		return await Promise.resolve(runs <= times ? [items, []] : [[], items]);
	});
	node.description.outputs = [NodeConnectionTypes.Main, NodeConnectionTypes.Main];
	return node;
}

export interface EngineOptions {
	items?: Array<INodeExecutionData['json']>;
	inputs?: INodeExecutionData[];
	parameters: INodeParameters;
	/** Node settings: onError, retryOnFail, maxTries, waitBetweenTries ... */
	settings?: Partial<INode>;
	credentials: { apiKey: string; baseUrl: string; callbackSecret?: string; keyHeader?: string };
	/** Stops the execution when this resolves. */
	stopWhen?: Promise<unknown>;
	/** Runs the node that often, in a loop. */
	rounds?: number;
	/** Retries a failed execution, as n8n's Retry does: a new execution that begins at the node that failed. */
	retryOf?: IRun;
}

export interface EngineResult {
	run: IRun;
	/** The node's output, or its error branch. */
	output: INodeExecutionData[];
	errorOutput: INodeExecutionData[];
	error:
		| (ExecutionError & {
				description?: string | null;
				httpCode?: string | null;
				context?: unknown;
		  })
		| undefined;
	/** Everything that n8n would save, as text. */
	saved: string;
	logs: string[];
}

let executions = 0;
let prepared: Promise<string> | undefined;
let userFolder: string | undefined;

/** Folder of n8n's binary store, in filesystem mode. */
export async function prepareEngine(): Promise<string> {
	prepared ??= (async () => {
		const folder = mkdtempSync(join(tmpdir(), 'media-generation-engine-'));
		userFolder = folder;
		process.env.N8N_USER_FOLDER = folder;
		process.env.N8N_ENCRYPTION_KEY = 'engine-tests';
		const settings = Container.get(InstanceSettings);
		const binaryData = Container.get(BinaryDataService);
		await binaryData.init();
		return settings.n8nFolder;
	})();
	return await prepared;
}

/** Removes what the suite's runs have stored. */
export function clearEngine(): void {
	if (userFolder !== undefined) rmSync(userFolder, { recursive: true, force: true });
}

export async function readBinary(binary: IBinaryData): Promise<Buffer> {
	return await Container.get(BinaryDataService).getAsBuffer(binary);
}

function credentialsHelper(data: EngineOptions['credentials']): ICredentialsHelper {
	const decrypted: ICredentialDataDecryptedObject = { callbackSecret: '', ...data };
	const helper = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		authenticate: async (
			credentials: ICredentialDataDecryptedObject,
			_type: string,
			options: IHttpRequestOptions,
		) => {
			if (typeof credentialType.authenticate !== 'function')
				throw new Error('The credential has no authenticate()');
			return await credentialType.authenticate(credentials, options);
		},
		preAuthentication: async () => await Promise.resolve(undefined),
		runPreAuthentication: async () => await Promise.resolve(undefined),
		getDecrypted: async () => await Promise.resolve({ ...decrypted }),
		getCredentialsProperties: () => credentialType.properties,
	};
	return helper as unknown as ICredentialsHelper;
}

function node(
	name: string,
	type: string,
	parameters: INodeParameters = {},
	settings: Partial<INode> = {},
): INode {
	return {
		id: `id-${name}`,
		name,
		type,
		typeVersion: 1,
		position: [0, 0],
		parameters,
		...settings,
	};
}

function connect(...pairs: Array<[string, string, number?]>): IConnections {
	const connections: IConnections = {};
	for (const [from, to, output = 0] of pairs) {
		// A node may be called "constructor".
		if (!Object.hasOwn(connections, from)) connections[from] = { main: [] };
		const main = ((connections[from] ??= { main: [] }).main ??= []);
		while (main.length <= output) main.push([]);
		main[output]?.push({ node: to, type: NodeConnectionTypes.Main, index: 0 });
	}
	return connections;
}

export interface WorkflowToRun extends Pick<EngineOptions, 'credentials' | 'stopWhen' | 'retryOf'> {
	/** Node types by name. */
	types: Record<string, INodeType>;
	nodes: INode[];
	connections: IConnections;
}

/**
 * The saved data of a failed execution as n8n's Retry ("with currently saved workflow") hands it to the next one: without
 * the end of the node that failed, and with the node as the workflow has it now.
 */
export function dataOfRetry(failed: IRunExecutionData, workflow: Workflow): IRunExecutionData {
	const data = structuredClone(failed);
	const { resultData } = data;
	delete resultData.error;
	const last = resultData.runData[resultData.lastNodeExecuted ?? ''];
	if (last?.at(-1)?.error !== undefined) last.pop();
	for (const entry of data.executionData?.nodeExecutionStack ?? [])
		entry.node = workflow.getNode(entry.node.name) ?? entry.node;
	return data;
}

/** Runs a workflow from its first node. The result is that of the node "Media". */
export async function runWorkflow(options: WorkflowToRun): Promise<EngineResult> {
	await prepareEngine();
	const { types, nodes, connections, retryOf } = options;
	const nodeTypes = {
		getByName: (type: string) => types[type] as INodeType,
		getByNameAndVersion: (type: string) => types[type] as INodeType,
		getKnownTypes: () => ({}),
	} as INodeTypes;
	const workflow = new Workflow({
		id: 'engine-test',
		name: 'Engine test',
		nodes,
		connections,
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1' },
	});
	await workflow.expression.acquireIsolate?.();
	const executionId = String((executions += 1));
	const mode = retryOf === undefined ? 'trigger' : 'retry';
	const hooks = new ExecutionLifecycleHooks(mode, executionId, {
		id: 'engine-test',
		name: 'Engine test',
		active: false,
		isArchived: false,
		createdAt: new Date(),
		updatedAt: new Date(),
		activeVersionId: null,
		connections: {},
		nodes,
	});
	const additionalData = {
		credentialsHelper: credentialsHelper(options.credentials),
		executionId,
		hooks,
		currentNodeExecutionIndex: 0,
		variables: {},
		restApiUrl: 'http://localhost/rest',
		instanceBaseUrl: 'http://localhost/',
		webhookBaseUrl: 'http://localhost/webhook',
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		webhookTestBaseUrl: 'http://localhost/webhook-test',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
		setExecutionStatus: () => undefined,
	} as unknown as IWorkflowExecuteAdditionalData;
	const logger = BackendLogger();
	const before = logger.lines.length;
	const data =
		retryOf === undefined ? createRunExecutionData() : dataOfRetry(retryOf.data, workflow);
	const execution = new WorkflowExecute(additionalData, mode, data);
	const promise =
		retryOf === undefined
			? execution.run({ workflow, startNode: workflow.getNode(nodes[0]?.name ?? '') as INode })
			: execution.processRunExecutionData(workflow);
	void options.stopWhen?.then(() => promise.cancel());
	const run = await promise;
	const { runData, error } = run.data.resultData;
	const branch = (index: number) => runData.Media?.at(-1)?.data?.main?.[index] ?? [];
	return {
		run,
		output: branch(0),
		errorOutput: branch(1),
		error: error,
		saved: JSON.stringify(run),
		logs: logger.lines.slice(before),
	};
}

/** The node "Media" as a workflow has it. */
export function mediaNode({
	parameters,
	settings,
}: Pick<EngineOptions, 'parameters' | 'settings'>): INode {
	return node('Media', 'mediaGeneration', parameters, {
		credentials: { mediaGenerationApi: { id: '1', name: 'Test' } },
		...settings,
	});
}

export async function runNode(options: EngineOptions): Promise<EngineResult> {
	const inputs = options.inputs ?? (options.items ?? [{}]).map((json) => ({ json }));
	const looping = options.rounds !== undefined;
	return await runWorkflow({
		...options,
		types: {
			source: source(inputs),
			noOp,
			loop: loopOnce(options.rounds ?? 1),
			mediaGeneration,
		},
		nodes: [
			node('Source', 'source'),
			...(looping ? [node('Loop', 'loop')] : []),
			mediaNode(options),
			node('After', 'noOp'),
			node('Failed', 'noOp'),
		],
		connections: looping
			? connect(['Source', 'Loop'], ['Loop', 'Media'], ['Media', 'Loop'], ['Loop', 'After', 1])
			: connect(['Source', 'Media'], ['Media', 'After'], ['Media', 'Failed', 1]),
	});
}

export { NodeHelpers };

/** What the harness for webhooks (`webhook.ts`) builds its workflows from. */
export {
	connect,
	credentialsHelper,
	credentialType,
	mediaGeneration,
	mediaGenerationTrigger,
	node,
	noOp,
	passing,
	source,
};
