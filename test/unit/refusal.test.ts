/** A refusal names the fields of the request as the editor shows them, and says what splits a long text. */
import { adviceOn } from '../../nodes/MediaGeneration/actions/refusal';

const OFF = { kind: 'off' } as const;
const request = (kind: string, text = 'Hello') => ({ kind, path: '/', body: { text } });

test.each([
	['image', 'model_id is required', ' "model_id" is the field "Model" of this node.'],
	[
		'image',
		'bad model_parameters',
		' "model_parameters" is the field "Aspect Ratio" or "Resolution" of this node.',
	],
	['image', 'supermodel_idea', ''],
	['image', 'text is required', ''],
	['/v1m/task', 'model_id is required', ''],
])('%s: %s', (kind, said, advice) => {
	expect(adviceOn(said, request(kind), OFF)).toBe(advice);
});

test('all fields that are named', () => {
	const labels = {
		...{ voice_id: 'Voice', model_id: 'Model', generations_count: 'Number of Images' },
		...{ aspect_ratio: 'Aspect Ratio', output_format: 'Output Format' },
		...{ with_transcript: 'Captions and Word Timings', receive_url: 'Callback URL' },
		...{ assets: 'Reference Images', task_ids: 'Task ID' },
	};
	const advice = adviceOn(Object.keys(labels).join(), request('image'), OFF);
	const named = Object.entries(labels).map(([name, label]) => {
		return ` "${name}" is the field "${label}" of this node.`;
	});
	expect(advice).toBe(named.join(''));
});

test('a text of more than 5,000 characters that is sent as it is', () => {
	const long = 'a'.repeat(5_001);
	const advice =
		' The text has 5001 characters: the field "Long Text" splits it into several requests.';
	expect(adviceOn('too long', request('speech-v1e', long), OFF)).toBe(advice);
	expect(adviceOn('too long', request('speech-v1e', long.slice(1)), OFF)).toBe('');
	expect(adviceOn('too long', request('sound-effect', long), OFF)).toBe('');
	const parts = { kind: 'parts', maxCharacters: 6_000 } as const;
	expect(adviceOn('too long', request('speech-v1e', long), parts)).toBe('');
});
