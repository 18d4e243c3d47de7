/** What a listed task says of the request that it was made from. */
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import { resemblance } from '../../nodes/MediaGeneration/task/resemblance';

const rain = { text: 'rain' };
const request = (more: Partial<CreationRequest> = {}): CreationRequest => ({
	...{ kind: 'sound-effect', path: '/v1/task/sound-effect', body: rain },
	...more,
});
const speech = { kind: 'speech-v1', path: '/v1/x', pathFields: { voice_id: 'x' } };
const cut = { text_truncated: true };
const LONG = 'A text whose first forty characters are no other text';

test.each<[Partial<CreationRequest>, object, string]>([
	[{}, { ...rain, credit_cost: 5 }, 'sure'],
	[{}, { metadata: { params: { text: 'wind' } } }, 'none'],
	[{}, { prompt: 'rain' }, 'possible'],
	// Of a text that was not asked for, nobody knows what it is.
	[{}, { ...rain, lyrics: 'wind' }, 'cut'],
	...['text', 'prompt', 'idea', 'lyrics'].flatMap(
		(name): Array<[Partial<CreationRequest>, object, string]> => [
			[{ body: { model_id: 'm', [name]: 'rain' } }, { [name]: 'rain' }, 'sure'],
			[{ body: { model_id: 'm', [name]: 'rain' } }, { [name]: 'wind' }, 'none'],
			[{ body: { model_id: 'm', [name]: 'rain' } }, { model_id: 'm' }, 'possible'],
		],
	),
	// Another value of another field may be the service's own word for it.
	[{ body: { ...rain, seconds: 5 } }, { ...rain, seconds: '5' }, 'sure'],
	[{ body: { ...rain, seconds: 5 } }, { ...rain, seconds: 6 }, 'possible'],
	[{ qs: { output_format: 'mp3' } }, { ...rain, output_format: 'wav' }, 'possible'],
	[{ body: { ...rain, tags: ['a'] } }, { ...rain, tags: ['b'] }, 'possible'],
	[{ body: { ...rain, loop: true } }, { ...rain, loop: 'true' }, 'sure'],
	[speech, { ...rain, voice_id: 'elevenlabs_x' }, 'sure'],
	[speech, { ...rain, voice_id: 'y' }, 'possible'],
	// Nothing is said by null, undefined or an empty text.
	[{ body: { ...rain, seed: null } }, { ...rain, seed: 7 }, 'sure'],
	[{ body: { text: '', to: 'de' } }, { text: '', to: 'de' }, 'possible'],
	// A name that stands in several places: one of its values is enough.
	[{ body: { ...rain, context: { text: 'before' } } }, rain, 'sure'],
	[{}, { ...rain, metadata: { text: 'said' } }, 'sure'],
	// A type rules nothing out, but that of a sound effect is documented.
	[{}, { ...rain, type: 'sound_effect' }, 'sure'],
	[{}, { ...rain, type: 'sfx' }, 'possible'],
	[speech, { ...rain, type: 'minimax_tts' }, 'sure'],
	[speech, { ...rain, type: 'sound_effect' }, 'possible'],
	// A list can cut texts.
	[{}, { text: 'ra', ...cut }, 'cut'],
	[{}, { text: 'wi', ...cut }, 'none'],
	[{}, { text: '', ...cut }, 'possible'],
	[{}, { text: 'ra', text_truncated: false }, 'none'],
	// Not all of them say so.
	[{ body: { text: `${LONG} goes on` } }, { text: LONG }, 'cut'],
	[{ body: { text: `${LONG} goes on` } }, { text: LONG, text_truncated: false }, 'none'],
	[{ body: { text: LONG } }, { text: `${LONG} goes on` }, 'none'],
	[{ body: { prompt: 'Image 10' } }, { prompt: 'Image 1' }, 'none'],
	[{ body: { prompt: 'Image 10' } }, { prompt: 'Ima...' }, 'cut'],
	[{ body: { prompt: 'Image 10' } }, { prompt: 'Imag…' }, 'cut'],
	[{}, { ...rain, ...cut }, 'cut'],
	// A form has other ends of lines than the text that was given.
	[{ body: { text: ' a\nb ' } }, { text: 'a\r\nb' }, 'sure'],
	[{ body: { text: 'a\nb' } }, { text: 'a\r\n', ...cut }, 'cut'],
])('%j and a task that says %j: %s', (more, raw, expected) => {
	expect(resemblance({ id: 'a', ...raw }, request(more))).toBe(expected);
});

const OWN =
	'id,task_id,status,state,progress,created_at,updated_at,receive_url,error,last_error_code';
test.each(OWN.split(','))('what a task says of itself, not of what was asked for: %s', (name) => {
	const asked = request({ body: { ...rain, [name]: 'one' } });
	expect(resemblance({ ...rain, [name]: 'other' }, asked)).toBe('sure');
});
