/** What a listed task says of the request that it was made from. */
import type { CreationRequest } from '../../nodes/MediaGeneration/actions/operation';
import { resemblance } from '../../nodes/MediaGeneration/task/resemblance';

const request = (text: string, more: Partial<CreationRequest> = {}): CreationRequest => ({
	kind: 'sound-effect',
	type: 'sound_effect',
	path: '/v1/task/sound-effect',
	body: { text },
	...more,
});
const rain = { text: 'rain' };
const SPOKEN = { pathFields: { voice_id: 'x' } };
const [MOVIE, MODEL] = ['https://x.example/a.mp4', 'a-model-with-a-long-name'];

test.each<[Partial<CreationRequest>, object, string]>([
	[{}, { text: 'rain', credit_cost: 5 }, 'sure'],
	[{}, { metadata: { text: 'rain' } }, 'sure'],
	[{}, { input: { metadata: { request: { body: { params: { text: 'wind' } } } } } }, 'none'],
	[{}, { text: 'wind' }, 'none'],
	[{}, { prompt: 'rain' }, 'possible'],
	[{ body: { ...rain, duration_seconds: 5 } }, { ...rain, duration_seconds: '5' }, 'sure'],
	[{ body: { ...rain, duration_seconds: 5 } }, { ...rain, duration_seconds: 6 }, 'possible'],
	[{ body: { text: 'rain', loop: true } }, { text: 'rain', loop: 'true' }, 'sure'],
	[
		{ body: { text: 'rain', voice_settings: { speed: 1 } } },
		{ text: 'rain', speed: 2 },
		'possible',
	],
	[SPOKEN, { text: 'rain', voice_id: 'y' }, 'possible'],
	[{ ...SPOKEN, kind: 'speech-v1' }, { ...rain, voice_id: 'elevenlabs_x' }, 'sure'],
	[{ body: { to: 'de' }, files: [{} as never] }, { to: 'de' }, 'possible'],
	[{ qs: { output_format: 'mp3' } }, { text: 'rain', output_format: 'wav' }, 'possible'],
	[{ body: { model_id: 'm', prompt: 'cat' } }, { model_id: 'm' }, 'possible'],
	[{ body: { tags: ['a'] } }, { tags: ['b'] }, 'possible'],
	// Neither says anything by null or undefined.
	[{ body: { ...rain, seed: null } }, { ...rain, seed: 7 }, 'sure'],
	[{ body: { ...rain, seed: undefined } }, { ...rain, seed: 7 }, 'sure'],
	[{ body: { ...rain, seed: 7 } }, { ...rain, seed: null }, 'sure'],
	// A name that stands in several places: one of its values is enough.
	[{ body: { ...rain, context: { text: 'before' } } }, { text: 'rain' }, 'sure'],
	[{}, { ...rain, metadata: { text: 'said' } }, 'sure'],
	// Without a text: the longest value.
	[{ body: { source_url: MOVIE, to: 'de' } }, { source_url: MOVIE }, 'sure'],
	[{ body: { to: 'de', source_url: MOVIE } }, { source_url: MOVIE }, 'sure'],
	[{ body: { seconds: 12, loop: true } }, { seconds: 12, loop: true }, 'possible'],
	[{ body: { seconds: 123_456, to: 'de' } }, { seconds: 123_456 }, 'possible'],
	[{ body: { text: '', to: '' } }, { text: '', to: '' }, 'possible'],
	// A type rules nothing out, but only one that may be its own makes it sure.
	[{}, { ...rain, type: 'sound_wave' }, 'possible'],
	[{ type: undefined }, { text: 'rain', type: 'sound_effect' }, 'sure'],
	[{ type: undefined, path: '/v1/x' }, { text: 'rain', type: 'minimax_tts' }, 'sure'],
	[{ type: undefined, path: '/v1/x' }, { text: 'rain', type: 'sound_effect' }, 'possible'],
	// A list can cut texts.
	[{}, { text: 'ra', text_length: 4, text_truncated: true }, 'cut'],
	[{}, { text: 'ra ', text_truncated: true }, 'cut'],
	[{ body: { text: ' 😀😀 ' } }, { text: '😀', text_length: 2, text_truncated: true }, 'cut'],
	[{}, { text: 'ra', text_length: 5, text_truncated: true }, 'none'],
	[{}, { text: 'wi', text_length: 4, text_truncated: true }, 'none'],
	[{}, { text: '', text_length: 4, text_truncated: true }, 'none'],
	[{}, { text: 'ra', text_length: 4, text_truncated: false }, 'none'],
	// A form has other ends of lines than the text that was given.
	[{ body: { text: 'a\nb' } }, { text: 'a\r\nb' }, 'sure'],
	[{ body: { prompt: 'a\r\nb' } }, { prompt: 'a\nb' }, 'sure'],
	[{ body: { text: 'a\nb' } }, { text: 'A b' }, 'possible'],
	[{ body: { text: 'a\nb' } }, { text: 'a c' }, 'none'],
	...[5, 6, 7].map((length): [Partial<CreationRequest>, object, string] => [
		{ body: { text: 'a\r\nb\nc' } },
		{ text: 'a\r\nb\r', text_length: length, text_truncated: true },
		'cut',
	]),
	[{ body: { text: 'a\nb\nc' } }, { text: 'a\r\nb', text_length: 8, text_truncated: true }, 'none'],
])('%j and a task that says %j: %s', (more, raw, expected) => {
	expect(resemblance({ id: 'a', ...raw }, request('rain', more))).toBe(expected);
});

test.each(['text', 'prompt', 'idea', 'lyrics', 'input', 'description'])(
	'what tells one request from another: its %s',
	(name) => {
		const more = { body: { model_id: MODEL, [name]: 'rain' } };
		const resembles = (raw: object) => resemblance({ id: 'a', ...raw }, request('', more));
		expect(resembles({ [name]: 'rain' })).toBe('sure');
		expect(resembles({ model_id: MODEL })).toBe('possible');
	},
);

const OWN =
	'id,task_id,status,state,progress,created_at,updated_at,receive_url,error,last_error_code';
test.each([
	...OWN.split(',').map((name) => [name, 'sure'] as const),
	...['grid', 'id_of_voice'].map((name) => [name, 'possible'] as const),
])('what a task says of itself, not of what was asked for: %s: %s', (name, expected) => {
	const asked = request('rain', { body: { ...rain, [name]: 'one' } });
	expect(resemblance({ id: 'a', ...rain, [name]: 'other' }, asked)).toBe(expected);
});
