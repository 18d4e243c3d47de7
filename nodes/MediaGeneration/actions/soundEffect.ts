/** Makes sound effects: `POST /v1/task/sound-effect` (docs/service.md, "Endpoints"). */
import { asBoolean } from '../base/json';
import { amount, text, toggle, type Resource } from './operation';

const SOUND_EXAMPLE = '{"model_id": "sound-2"}';

export const soundEffect: Resource = {
	value: 'soundEffect',
	name: 'Sound Effect',
	fields: [
		text('Text', 'text', {
			typeOptions: { rows: 3 },
			required: true,
			placeholder: 'e.g. Rain on a tin roof, distant thunder',
			description: 'Description of the sound',
		}),
	],
	extraFields: SOUND_EXAMPLE,
	options: [
		amount('Duration (Seconds)', 'durationSeconds', {
			typeOptions: { minValue: 0, numberPrecision: 1 },
			default: 5,
			description: 'How long the sound is. Services usually make 0.5 to 30 seconds.',
		}),
		toggle('Loop', 'loop', {
			default: true,
			description: 'Whether to make a sound whose end leads into its beginning',
		}),
		amount('Prompt Influence', 'promptInfluence', {
			typeOptions: { minValue: 0, maxValue: 1, numberPrecision: 2 },
			default: 0.3,
			description: 'How closely to follow the text, from 0 to 1',
		}),
	],
	operations: [
		{
			value: 'generate',
			name: 'Generate',
			action: 'Generate sound effect',
			description: 'Generate a sound effect from a description',
			subtitle: 'Sound Effect',
			work: {
				kind: 'creates',
				request: (item) => ({
					kind: 'sound-effect',
					path: '/v1/task/sound-effect',
					body: item.body(
						{
							text: item.requiredText('text', 'Text'),
							duration_seconds: item.sentNumber('durationSeconds', 'Duration (Seconds)'),
							prompt_influence: item.sentNumber('promptInfluence', 'Prompt Influence'),
							loop: asBoolean(item.options.loop),
						},
						SOUND_EXAMPLE,
					),
					labels: {
						duration_seconds: 'Duration (Seconds)',
						prompt_influence: 'Prompt Influence',
						loop: 'Loop',
					},
				}),
			},
		},
	],
};
