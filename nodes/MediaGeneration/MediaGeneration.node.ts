/**
 * The action node. How an item travels: `operations/` turns its fields into a request, `create/` sends it, `wait/` follows the
 * task, `delivery/` makes the output item, and `run/` does so for all items; only `service/` talks to the network. What only a run needs is loaded by the first
 * run: n8n loads every node when it starts, and wants the description only.
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
import { properties, subtitle } from './operations';

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
		subtitle,
		description: 'Generate speech, sound effects and images, and wait for the results',
		defaults: { name: 'Media Generation' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'mediaGenerationApi',
				required: true,
				displayOptions: { hide: { resource: ['audio'] } },
			},
		],
		webhooks: resumeWebhooks,
		properties,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { runOperation } = await import('./run');
		return [await runOperation(this)];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { wake } = await import('./sleep/wake');
		return await wake(this);
	}
}
