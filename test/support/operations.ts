/** The operations that create tasks, as a test goes through them. */
import { resources } from '../../nodes/MediaGeneration/actions';

export const creating = resources.flatMap(({ value: resource, operations }) =>
	operations
		.filter(({ work }) => work.kind === 'creates')
		.map(({ value: operation }) => ({ resource, operation })),
);

/** A value of each field that one of them requires, with which the stand-in makes something. */
export const USABLE = {
	...{ voiceId: 'elevenlabs_21m00Tcm4TlvDq8ikWAM', voice: 'en-US-AriaNeural', modelId: 'm' },
	...{ text: 'Hi', prompt: 'Hi', lyrics: 'La', targetLanguage: 'de' },
	...{ inputBinaryField: 'data', outputBinaryField: 'data' },
	...{ path: '/v1/task/sound-effect', body: '{"text": "Rain"}' },
	lines: {
		line: ['edge_voice-00002', 'edge_voice-00003'].map((voiceId) => ({ voiceId, text: 'Hi' })),
	},
	linesJson: '[{"voice_id": "v", "text": "Hi"}]',
};
