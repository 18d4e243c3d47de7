/** The table of all resources and operations (contract, "Action node"). */
import type { INodeProperties } from 'n8n-workflow';
import { accountOperations, apiKeyFields, creditsFields } from './account';
import { imageFields, imageOperations } from './image';
import type { GeneratingOperation, ReadingOperation } from './operation';
import { soundEffectFields, soundEffectOperations } from './soundEffect';
import { speechFields, speechOperations } from './speech';
import { taskFields } from './task';
import { waitingFields } from './waiting';

export const generatingOperations: GeneratingOperation[] = [
	...speechOperations,
	...soundEffectOperations,
	...imageOperations,
];

export const readingOperations: ReadingOperation[] = accountOperations;

const resourceField: INodeProperties = {
	displayName: 'Resource',
	name: 'resource',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'API Key', value: 'apiKey' },
		{ name: 'Credit', value: 'credits' },
		{ name: 'Image', value: 'image' },
		{ name: 'Sound Effect', value: 'soundEffect' },
		{ name: 'Speech', value: 'speech' },
		{ name: 'Task', value: 'task' },
	],
	default: 'speech',
};

/** What the canvas says below the node's name: words instead of the values that workflows carry. */
const subtitles: Record<string, string> = {
	'speech:generateByVoiceId': 'Speech by voice ID',
	'speech:generateByVoiceName': 'Speech by voice name',
	'soundEffect:generate': 'Sound effect',
	'image:generate': 'Image',
	'task:get': 'Get task',
	'task:wait': 'Wait for task',
	'credits:get': 'Get credits',
	'apiKey:getAll': 'Get API keys',
};

export const subtitle = `={{ (${JSON.stringify(subtitles)})[$parameter["resource"] + ":" + $parameter["operation"]] ?? $parameter["operation"] }}`;

export const properties: INodeProperties[] = [
	resourceField,
	...speechFields,
	...soundEffectFields,
	...imageFields,
	...taskFields,
	...creditsFields,
	...apiKeyFields,
	...waitingFields,
];
