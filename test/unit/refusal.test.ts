/** A refusal names the fields of the request as the editor shows them, and says what splits a long text. */
import { adviceOn } from '../../nodes/MediaGeneration/actions/refusal';

const OFF = { longText: { kind: 'off' }, waiting: { kind: 'no', callbackUrl: 'x' } } as const;
const labels = { model_id: 'Model', model_parameters: ['Aspect Ratio', 'Resolution'] };
const request = (kind: string, text = 'Hello') => ({ kind, path: '/', body: { text } });

test.each([
	['model_id is required', ' "model_id" is the field \'Model\' of this node.'],
	[
		'bad model_parameters',
		" \"model_parameters\" is the field 'Aspect Ratio' or 'Resolution' of this node.",
	],
	['no receive_url', ' "receive_url" is the field \'Callback URL\' of this node.'],
	['supermodel_idea', ''],
])('%s', (said, advice) => {
	expect(adviceOn(said, { ...request('image'), labels }, OFF)).toBe(advice);
});

test('a node that waits has no field for a callback', () => {
	const waits = { ...OFF, waiting: { kind: 'suspend', graceMs: 0 } } as const;
	expect(adviceOn('bad receive_url', { ...request('image'), labels }, waits)).toBe('');
});

test('"Task: Create" has the fields of the request itself', () => {
	expect(adviceOn('model_id is required', request('/v1m/task'), OFF)).toBe('');
});

test('a text of more than 5,000 characters that is sent as it is', () => {
	const long = 'a'.repeat(5_001);
	const advice = " The text has 5001 characters: 'Long Text' splits it into several requests.";
	expect(adviceOn('too long', request('speech-v1e', long), OFF)).toBe(advice);
	expect(adviceOn('too long', request('speech-v1e', long.slice(1)), OFF)).toBe('');
	expect(adviceOn('too long', request('sound-effect', long), OFF)).toBe('');
	const parts = { ...OFF, longText: { kind: 'parts', maxCharacters: 6_000 } } as const;
	expect(adviceOn('too long', request('speech-v1e', long), parts)).toBe('');
});
