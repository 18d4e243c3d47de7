/** The built node in n8n-core's engine, and the least of n8n's server that it accepts. */
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	NodeConnectionTypes,
	Workflow,
	type ICredentialDataDecryptedObject,
	type ICredentialType,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

/** What is built, as n8n loads it. @param path of a file in `dist` */
function load<T>(path: string, name: string): new () => T {
	const file = join(__dirname, '..', '..', 'dist', path);
	const loaded = createRequire(__filename)(file) as Record<string, new () => T>;
	const found = loaded[name];
	if (found === undefined) throw new Error(`${path} has no ${name}: run "npm run build" first`);
	return found;
}

const credentialType = new (load<ICredentialType>(
	'credentials/MediaGenerationApi.credentials.js',
	'MediaGenerationApi',
))();
export const mediaGeneration = new (load<INodeType>(
	'nodes/MediaGeneration/MediaGeneration.node.js',
	'MediaGeneration',
))();

/** A node without fields. */
export function passing(name: string, execute: INodeType['execute']): INodeType {
	return {
		description: {
			...{ displayName: name, name, group: ['transform'], version: 1, description: name },
			...{ defaults: { name }, properties: [] },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
		},
		execute,
	};
}

interface Given {
	parameters: INodeParameters;
	items: IDataObject[];
	credentials: ICredentialDataDecryptedObject;
}

/** What n8n's server hands over with an execution. */
function additionalDataFor(credentials: Given['credentials']): IWorkflowExecuteAdditionalData {
	const credentialsHelper = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		authenticate: async (
			data: ICredentialDataDecryptedObject,
			_type: string,
			options: IHttpRequestOptions,
		) => {
			if (typeof credentialType.authenticate !== 'function')
				throw new Error('The credential has no authenticate()');
			return await credentialType.authenticate(data, options);
		},
		preAuthentication: async () => await Promise.resolve(undefined),
		runPreAuthentication: async () => await Promise.resolve(undefined),
		getDecrypted: async () => await Promise.resolve({ callbackSecret: '', ...credentials }),
		getCredentialsProperties: () => credentialType.properties,
	};
	return {
		credentialsHelper,
		executionId: '1',
		currentNodeExecutionIndex: 0,
		setExecutionStatus: () => undefined,
		hooks: { runHook: async () => await Promise.resolve() },
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
	} as unknown as IWorkflowExecuteAdditionalData;
}

const node = (name: string, parameters: INodeParameters = {}): INode => ({
	...{ id: `id-${name}`, name, type: name, typeVersion: 1, position: [0, 0], parameters },
	credentials: { mediaGenerationApi: { id: '1', name: 'Test' } },
});

/** Runs a node behind a source of items. @returns what it gives out */
export async function runNode({ parameters, items, credentials }: Given, type: INodeType) {
	const given = items.map((json): INodeExecutionData => ({ json }));
	const types: Record<string, INodeType> = {
		Source: passing('Source', async () => await Promise.resolve([given])),
		Media: type,
	};
	const getByName = (name: string) => types[name] as INodeType;
	const nodes = [node('Source'), node('Media', parameters)];
	const workflow = new Workflow({
		...{ id: 'bench', name: 'bench', active: true, nodes, staticData: {} },
		connections: {
			Source: { main: [[{ node: 'Media', type: NodeConnectionTypes.Main, index: 0 }]] },
		},
		nodeTypes: { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) },
		settings: { executionOrder: 'v1' },
	});
	const start = { node: node('Source'), data: { main: [[{ json: {} }]] }, source: null };
	const data = createRunExecutionData({ executionData: { nodeExecutionStack: [start] } });
	await workflow.expression.acquireIsolate?.();
	const additionalData = additionalDataFor(credentials);
	const run = await new WorkflowExecute(additionalData, 'trigger', data).processRunExecutionData(
		workflow,
	);
	return run.data.resultData.runData.Media?.at(-1)?.data?.main?.[0] ?? [];
}
