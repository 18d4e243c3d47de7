/** n8n's own engine without the rest of n8n: one execution of two nodes, the first of which makes the items. */
import 'reflect-metadata';
import { join } from 'node:path';
import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	NodeConnectionTypes,
	Workflow,
	type IDataObject,
	type IHttpRequestOptions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypes,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { check } from '../stats';

/** The action node as it was built, in this folder. */
export async function builtNode(folder: string): Promise<INodeType> {
	const file = join(folder, 'dist/nodes/MediaGeneration/MediaGeneration.node.js');
	const { MediaGeneration } = (await import(file)) as { MediaGeneration: new () => INodeType };
	return new MediaGeneration();
}

export interface Access {
	baseUrl: string;
	apiKey: string;
}

function sourceOf(items: INodeExecutionData[]): INodeType {
	return {
		description: {
			displayName: 'Source',
			name: 'source',
			group: ['input'],
			version: 1,
			description: 'Makes the items',
			defaults: { name: 'Source' },
			inputs: [],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
		},
		execute: () => Promise.resolve([items]),
	};
}

/** Stands in for n8n's database of credentials; what n8n pays for reading it, nobody is charged for here. */
function credentialsHelper(access: Access) {
	return {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getDecrypted: () => Promise.resolve({ ...access, callbackSecret: '' }),
		preAuthentication: () => Promise.resolve(undefined),
		authenticate: (credentials: { apiKey: string }, _type: string, options: IHttpRequestOptions) =>
			Promise.resolve({
				...options,
				headers: { ...options.headers, Authorization: `Bearer ${credentials.apiKey}` },
			}),
	};
}

/** Runs one execution with these items through the node; its output items. */
export async function runInEngine(
	node: INodeType,
	parameters: IDataObject,
	items: INodeExecutionData[],
	access: Access,
): Promise<INodeExecutionData[]> {
	const types: Record<string, INodeType> = { source: sourceOf(items), subject: node };
	const nodeTypes: INodeTypes = {
		getByName: (type) => types[type] as INodeType,
		getByNameAndVersion: (type) => types[type] as INodeType,
		getKnownTypes: () => ({}),
	};
	const common = { typeVersion: 1, position: [0, 0] as [number, number] };
	const workflow = new Workflow({
		id: 'bench',
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1' },
		nodes: [
			{ ...common, id: 'a', name: 'Source', type: 'source', parameters: {} },
			{
				...common,
				id: 'b',
				name: 'Subject',
				type: 'subject',
				parameters: parameters as never,
				credentials: { mediaGenerationApi: { id: '1', name: 'bench' } },
			},
		],
		connections: {
			Source: { main: [[{ node: 'Subject', type: NodeConnectionTypes.Main, index: 0 }]] },
		},
	});
	const additionalData = {
		executionId: String(Date.now()),
		currentNodeExecutionIndex: 0,
		credentialsHelper: credentialsHelper(access),
		hooks: new ExecutionLifecycleHooks('manual', '1', {
			id: 'bench',
			name: 'bench',
			active: false,
			isArchived: false,
			createdAt: new Date(),
			updatedAt: new Date(),
			activeVersionId: null,
			nodes: [],
			connections: {},
		}),
		restApiUrl: '',
		instanceBaseUrl: '',
		webhookBaseUrl: 'http://127.0.0.1/webhook/',
		webhookWaitingBaseUrl: 'http://127.0.0.1/webhook-waiting/',
		webhookTestBaseUrl: 'http://127.0.0.1/webhook-test/',
		formWaitingBaseUrl: 'http://127.0.0.1/form-waiting/',
		variables: {},
	} as unknown as IWorkflowExecuteAdditionalData;
	const execution = new WorkflowExecute(additionalData, 'manual', createRunExecutionData({}));
	const { data } = await execution.run({
		workflow,
		startNode: workflow.getNode('Source') ?? undefined,
	});
	check(data.resultData.error === undefined, data.resultData.error?.message ?? '');
	return data.resultData.runData.Subject?.[0]?.data?.main?.[0] ?? [];
}
