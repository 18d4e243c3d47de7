/** Images: `POST /v1i/task/generate-image`. docs/service.md, "Endpoints". Models differ in what they take, so empty values are left out. */
import type { JsonObject } from '../service/json';
import type { ItemFields } from './fields';
import { amount, locator, openChoice, text, type Resource } from './operation';

function modelParameters(item: ItemFields): JsonObject {
	const aspect_ratio = item.optionalText('aspectRatio', 'Aspect Ratio');
	const resolution = item.optionalText('resolution', 'Resolution');
	const hasAny = aspect_ratio !== undefined || resolution !== undefined;
	return hasAny ? { model_parameters: { aspect_ratio, resolution } } : {};
}

export const image: Resource = {
	value: 'image',
	name: 'Image',
	fields: [
		text('Prompt', 'prompt', {
			typeOptions: { rows: 4 },
			required: true,
			placeholder: 'e.g. A lighthouse at dawn, watercolour',
			description: 'What the picture should show',
		}),
		...locator('Model', 'modelId', {
			placeholder: 'e.g. image-1',
			description:
				'The model to draw with. If empty, the request names no model: some services then choose one, others refuse the request.',
			list: 'searchImageModels',
		}),
		amount('Number of Images', 'generationsCount', {
			typeOptions: { minValue: 1 },
			default: 1,
			description:
				'How many pictures to make. All of them belong to one task; to get an item for each, use the option Split Files.',
		}),
		openChoice('Aspect Ratio', 'aspectRatio', {
			description: 'Shape of the picture. Some models take none.',
			options: [
				{ name: '1:1 (Square)', value: '1:1' },
				{ name: '16:9 (Landscape)', value: '16:9' },
				{ name: '9:16 (Portrait)', value: '9:16' },
			],
		}),
		openChoice('Resolution', 'resolution', {
			description: 'Size of the picture. Some models take none.',
			options: ['1K', '2K', '4K'].map((size) => ({ name: size, value: size })),
		}),
	],
	extraFields: '{"model_parameters": {"quality": "high"}}',
	operations: [
		{
			value: 'generate',
			name: 'Generate',
			action: 'Generate image',
			description: 'Make one or more pictures from a prompt',
			subtitle: 'Image',
			work: {
				kind: 'creates',
				request: (item) => ({
					kind: 'image',
					path: '/v1i/task/generate-image',
					body: item.body({
						prompt: item.requiredText('prompt', 'Prompt'),
						model_id: item.optionalText('modelId', 'Model'),
						generations_count: item.count('generationsCount', 'Number of Images'),
						...modelParameters(item),
					}),
				}),
			},
		},
	],
};
