/**
 * Describes and starts the action node (docs/architecture.md). The first run loads what only runs need: n8n loads every node when it
 * starts, but needs only the description then.
 */
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { properties, subtitle } from './actions';
import type { ListName } from './actions/ui';
import { credentialTest } from './methods/testMethod';
import { waitingTooltip } from './n8n/editor';
import { resumeWebhooks } from './suspend/resumeUrl';

/** n8n's AI workflow builder reads this. It is spread because the types of older versions do not know it. */
const forBuilders = {
	builderHint: {
		searchHint:
			'Use for AI speech (text to speech, voiceover, audiobook, captions), sound effects, images and music from one task-based service. It creates the tasks, waits, and outputs the files as binary data: no HTTP Request, Wait or loop is needed, and all items run at the same time. For long texts set longText to "join". For tasks of more than a few minutes set waitMode to "callback", and put a second node (resource "task", operation "wait") behind it. Voice and model IDs: resources "voice" and "model", operation "getAll".',
		relatedNodes: Object.entries({
			'n8n-nodes-media-generation.mediaGenerationTrigger':
				'Starts a workflow when a task has finished',
			'n8n-nodes-base.readWriteFile': 'Writes the binary field "data" to disk',
			'n8n-nodes-base.splitOut':
				'Makes an item of each text of a list, so that each becomes a file',
		}).map(([nodeType, relationHint]) => ({ nodeType, relationHint })),
	},
};

function listSearch(name: ListName) {
	return async function (this: ILoadOptionsFunctions, filter?: string, paginationToken?: string) {
		const { searchList } = await import('./methods/listSearch');
		return await searchList(this, name, { filter, paginationToken });
	};
}

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
		...forBuilders,
		subtitle,
		description:
			'Generate speech, music, sound effects and images, transcribe and dub, and wait for the results',
		defaults: { name: 'Media Generation' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'mediaGenerationApi',
				required: true,
				testedBy: 'mediaGenerationApiTest',
				displayOptions: { hide: { operation: ['join'] } },
			},
		],
		webhooks: resumeWebhooks,
		waitingNodeTooltip: waitingTooltip,
		properties,
	};

	methods = {
		credentialTest,
		listSearch: {
			searchAspectRatios: listSearch('searchAspectRatios'),
			searchImageModels: listSearch('searchImageModels'),
			searchResolutions: listSearch('searchResolutions'),
			searchSpeechModels: listSearch('searchSpeechModels'),
			searchVoices: listSearch('searchVoices'),
		} satisfies Record<ListName, unknown>,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { runOperation } = await import('./run/execute');
		return [await runOperation(this, this.continueOnFail())];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { wake } = await import('./suspend/wake');
		return await wake(this);
	}
}
