/** A refusal names the fields of the request as the editor shows them, and says what splits a long text. */
import { adviceOn } from '../../nodes/MediaGeneration/operations/refusal';

const OFF = { kind: 'off' } as const;
const request = (kind: string, text = 'Hello') => ({ kind, path: '/', body: { text } });

test.each([
	['image', 'model_id is required', ' "model_id" is the field "Model" of this node.'],
	['speech-v1', 'no such voice_id', ' "voice_id" is the field "Voice" of this node.'],
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
	expect(adviceOn('model_id, generations_count', request('image'), OFF)).toBe(
		' "model_id" is the field "Model" of this node. "generations_count" is the field "Number of Images" of this node.',
	);
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
