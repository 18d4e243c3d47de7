/**
 * The action node. How an item travels: `operations/` turns its fields into a request, `tasks/` submits it and waits,
 * `delivery/` makes the output item; only `service/` talks to the network.
 */
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { generatingOperations, properties, readingOperations } from './operations';
import { Generation } from './tasks/generate';
import { readItems } from './tasks/read';
import { wake } from './tasks/wake';

/** Wakes an execution that waits for its callbacks; its path is the node's ID, so that two such nodes don't mix. */
const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		path: '={{ $nodeId }}',
		isFullPath: true,
		restartWebhook: true,
	},
];

export class MediaGeneration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Media Generation',
		name: 'mediaGeneration',
		icon: {
			light: 'file:../../icons/mediaGeneration.svg',
			dark: 'file:../../icons/mediaGeneration.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["resource"] + ": " + $parameter["operation"] }}',
		description: 'Generate speech, sound effects and images, and wait for the results',
		defaults: { name: 'Media Generation' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'mediaGenerationApi', required: true }],
		webhooks: resumeWebhooks,
		properties,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const resource = this.getNodeParameter('resource', 0);
		const operation = this.getNodeParameter('operation', 0);
		const named = (entry: { resource: string; operation: string }) =>
			entry.resource === resource && entry.operation === operation;
		if (resource === 'task' && operation === 'get') return await readItems(this, undefined);
		const reading = readingOperations.find(named);
		if (reading !== undefined) return await readItems(this, reading);
		return await new Generation(this, generatingOperations.find(named)).execute();
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await wake(this);
	}
}
