/** Sound effects: `POST /v1/task/sound-effect`. Spec, Endpoints. */
import type { INodeProperties } from 'n8n-workflow';
import { operationField, shownFor, type GeneratingOperation } from './operation';

const RESOURCE = 'soundEffect';

export const soundEffectFields: INodeProperties[] = [
	operationField(RESOURCE, 'generate', [
		{
			name: 'Generate',
			value: 'generate',
			action: 'Generate a sound effect',
			description: 'Make a sound from a description of it',
		},
	]),
	{
		displayName: 'Text',
		name: 'text',
		type: 'string',
		typeOptions: { rows: 3 },
		required: true,
		default: '',
		placeholder: 'e.g. Rain on a tin roof, distant thunder',
		description: 'What the sound should be',
		displayOptions: shownFor(RESOURCE, 'generate'),
	},
];

export const soundEffectOperations: GeneratingOperation[] = [
	{
		resource: RESOURCE,
		operation: 'generate',
		request: (fields) => ({
			kind: 'sound-effect',
			path: '/v1/task/sound-effect',
			body: fields.body({ text: fields.requiredText('text', 'Text') }),
		}),
	},
];
