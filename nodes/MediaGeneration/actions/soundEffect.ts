/** Makes sound effects: `POST /v1/task/sound-effect` (docs/service.md, "Endpoints"). */
import type { Resource } from './operation';
import * as ui from './ui';

const soundField = ui.text('Text', 'text', {
	typeOptions: { rows: 3 },
	required: true,
	placeholder: 'e.g. Rain on a tin roof, distant thunder',
	description: 'Description of the sound',
});
const soundOptions = {
	duration_seconds: ui.amount('Duration (Seconds)', 'durationSeconds', {
		typeOptions: { minValue: 0, numberPrecision: 1 },
		default: 5,
		description: 'How long the sound is. Services usually make 0.5 to 30 seconds.',
	}),
	loop: ui.toggle('Loop', 'loop', {
		default: true,
		description: 'Whether to make a sound that can be looped without a gap',
	}),
	prompt_influence: ui.fraction('Prompt Influence', 'promptInfluence', {
		default: 0.3,
		description: 'How closely to follow the text, from 0 to 1',
	}),
};
const soundExtraFields = ui.extraFieldsOption('{"model_id": "sound-2"}');

export const soundEffect: Resource = {
	value: 'soundEffect',
	name: 'Sound Effect',
	fields: [soundField],
	options: [soundExtraFields, ...Object.values(soundOptions)],
	operations: [
		{
			value: 'generate',
			name: 'Generate',
			action: 'Generate sound effect',
			description: ui.costing(
				'Generate a sound effect from a description',
				'according to its duration',
			),
			subtitle: 'Sound Effect',
			work: {
				kind: 'creates',
				request: (item) => ({
					...{ kind: 'sound-effect', makesFile: true },
					path: '/v1/task/sound-effect',
					...item.sends({ text: soundField, ...soundOptions }, soundExtraFields),
				}),
			},
		},
	],
};
