/** Images: `POST /v1i/task/generate-image`. Spec, Endpoints. Models differ in what they take, so empty values are left out. */
import type { INodeProperties } from 'n8n-workflow';
import { operationField, shownFor, type GeneratingOperation } from './operation';

const RESOURCE = 'image';
const displayOptions = shownFor(RESOURCE, 'generate');

export const imageFields: INodeProperties[] = [
	operationField(RESOURCE, 'generate', [
		{
			name: 'Generate',
			value: 'generate',
			action: 'Generate an image',
			description: 'Make one or more pictures from a prompt',
		},
	]),
	{
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		required: true,
		default: '',
		placeholder: 'e.g. A lighthouse at dawn, watercolour',
		description: 'What the picture should show',
		displayOptions,
	},
	{
		displayName: 'Model ID',
		name: 'modelId',
		type: 'string',
		default: '',
		placeholder: 'e.g. image-1',
		description:
			'Model to draw with, by its ID at the service. Leave empty only if the service chooses one by itself.',
		displayOptions,
	},
	{
		displayName: 'Number of Images',
		name: 'generationsCount',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 1,
		description:
			'How many pictures to make. All of them belong to one task; to get an item for each, use the option Split Files.',
		displayOptions,
	},
	{
		displayName: 'Aspect Ratio',
		name: 'aspectRatio',
		type: 'string',
		default: '',
		placeholder: 'e.g. 16:9',
		description: 'Shape of the picture. Leave empty for models that take none.',
		displayOptions,
	},
	{
		displayName: 'Resolution',
		name: 'resolution',
		type: 'string',
		default: '',
		placeholder: 'e.g. 2K',
		description: 'Size of the picture. Leave empty for models that take none.',
		displayOptions,
	},
];

export const imageOperations: GeneratingOperation[] = [
	{
		resource: RESOURCE,
		operation: 'generate',
		request: (fields) => ({
			kind: 'image',
			path: '/v1i/task/generate-image',
			body: fields.body({
				prompt: fields.requiredText('prompt', 'Prompt'),
				model_id: fields.optionalText('modelId', 'Model ID'),
				generations_count: fields.count('generationsCount', 'Number of Images'),
				model_parameters: {
					aspect_ratio: fields.optionalText('aspectRatio', 'Aspect Ratio'),
					resolution: fields.optionalText('resolution', 'Resolution'),
				},
			}),
		}),
	},
];
