/** Makes sound effects: `POST /v1/task/sound-effect` (docs/service.md, "Endpoints"). */
import { text, type Resource } from './operation';

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
	extraFields: '{"duration_seconds": 5}',
	operations: [
		{
			value: 'generate',
			name: 'Generate',
			action: 'Generate sound effect',
			description: 'Generate a sound from a description',
			subtitle: 'Sound effect',
			work: {
				kind: 'creates',
				request: (item) => ({
					kind: 'sound-effect',
					type: 'sound_effect',
					path: '/v1/task/sound-effect',
					body: item.body({ text: item.requiredText('text', 'Text') }),
				}),
			},
		},
	],
};
