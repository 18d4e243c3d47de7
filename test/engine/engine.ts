/** What the workflows of the engine's tests are made of: the built nodes, and the least of n8n's server that n8n-core accepts. */
import 'reflect-metadata';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Container } from './container';
import { BinaryDataService, InstanceSettings } from 'n8n-core';
import {
	NodeConnectionTypes,
	type ExecutionError,
	type IBinaryData,
	type ICredentialDataDecryptedObject,
	type ICredentialsExpressionResolveValues,
	type ICredentialsHelper,
	type ICredentialType,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type INodeTypes,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

/** What is built, as n8n loads it: what is tested is what is published. @param path of a file in `dist` */
function load<T>(path: string, name: string): new () => T {
	const file = join(__dirname, '..', '..', 'dist', path);
	const { [name]: found } = existsSync(file)
		? (createRequire(__filename)(file) as Record<string, new () => T>)
		: {};
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

export interface EngineOptions {
	items?: Array<INodeExecutionData['json']>;
	inputs?: INodeExecutionData[];
	parameters: INodeParameters;
	/** Node settings: onError, retryOnFail, maxTries, waitBetweenTries ... */
	settings?: Partial<INode>;
	credentials: { apiKey: string; baseUrl: string; callbackSecret?: string; keyHeader?: string };
	/** Of the workflow: n8n then moves the files of items into their JSON. */
	binaryMode?: 'combined';
	/** Stops the execution when this resolves. */
	stopWhen?: Promise<unknown>;
}

export interface EngineResult {
	output: INodeExecutionData[];
	error: (ExecutionError & { description?: string | null }) | undefined;
	/** Everything that n8n would save, as text. */
	readonly saved: string;
	logs: string[];
}

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

/** Puts a file into n8n's store. */
export async function storeBinary(
	bytes: Buffer,
	fileName: string,
	mimeType: string,
): Promise<IBinaryData> {
	const of = { type: 'execution', workflowId: 'of-the-tests', executionId: '1' } as const;
	const empty = { data: '', fileName, mimeType };
	return await Container.get(BinaryDataService).store(of, bytes, empty);
}

export async function readBinary(binary: IBinaryData): Promise<Buffer> {
	return await Container.get(BinaryDataService).getAsBuffer(binary);
}

function credentialsHelper(data: EngineOptions['credentials']): ICredentialsHelper {
	const decrypted: ICredentialDataDecryptedObject = { callbackSecret: '', ...data };
	/** Expressions become the values of an item, unless they are asked for, as n8n's `CredentialsHelper` does. */
	const resolved = async (...given: unknown[]) => {
		const raw = given[5];
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } =
			(given[6] ?? {}) as ICredentialsExpressionResolveValues;
		const valueOf = (value: ICredentialDataDecryptedObject[string]) =>
			typeof value === 'string' && value.startsWith('=')
				? workflow.expression.getParameterValue(
						value,
						runExecutionData,
						runIndex,
						itemIndex,
						node.name,
						connectionInputData,
						'trigger',
						{},
					)
				: value;
		const data = Object.entries(decrypted).map(([name, value]) => [
			name,
			raw === true ? value : valueOf(value),
		]);
		return await Promise.resolve(Object.fromEntries(data) as ICredentialDataDecryptedObject);
	};
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
		getDecrypted: resolved,
		getCredentialsProperties: () => credentialType.properties,
	};
	return helper as unknown as ICredentialsHelper;
}

/** What n8n's server hands over with an execution. */
export function additionalDataFor(
	credentials: EngineOptions['credentials'],
	own: object = {},
): IWorkflowExecuteAdditionalData {
	return {
		credentialsHelper: credentialsHelper(credentials),
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
		...own,
	} as unknown as IWorkflowExecuteAdditionalData;
}

export function node(
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

/** What n8n asks for a node's type. */
export function typesOf(types: Record<string, INodeType>): INodeTypes {
	const getByName = (type: string) => types[type] as INodeType;
	return { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
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
