/** Whose a listed task is: nobody gets the task of another, and each creation its own where that is certain. */
import fc from 'fast-check';
import {
	assign,
	resemblance,
	type Listing,
	type Sought,
} from '../../nodes/MediaGeneration/task/matching';
import type { CreationRequest } from '../../nodes/MediaGeneration/actions/operation';
import type { ListedTask } from '../../nodes/MediaGeneration/transport/taskList';

const START = 1_700_000_000_000;
const typeOf = (kind: string) => (kind === '/v1m/task' ? 'music_generation' : undefined);
const request = (text: string, more: Partial<CreationRequest> = {}): CreationRequest => ({
	kind: 'sound-effect',
	type: 'sound_effect',
	path: '/v1/task/sound-effect',
	body: { text },
	...more,
});

/** "rain@500": its text, and when it was sent in ms. "rain?@500": of a run that ended without a word. */
function sendingOf(words: string): Sought {
	const [, text = '', fewer, at] = /^(\w*)(\??)@(\d+)$/.exec(words) ?? [];
	return { request: request(text), sentAt: START + Number(at), fewer: fewer === '?' };
}

/** "a:rain@500": its ID, its text and when it began in ms, by the service's clock. */
function taskOf(words: string): ListedTask {
	const [, taskId = '', text, , at] = /^(\w+):(\w*)(@(-?\d+))?$/.exec(words) ?? [];
	const createdAt = at === undefined ? undefined : START + Number(at);
	return { taskId, createdAt, raw: { id: taskId, ...(text === '' ? {} : { text }) } };
}

const listOf = (words: string) => words.split(' ').filter((word) => word !== '');

/** What becomes of each: the ID that is found, or why there is none. */
function outcomesOf(sought: Sought[], rivals: Sought[], reading: Omit<Listing, 'typeOf'>) {
	const verdicts = assign(sought, rivals, { ...reading, typeOf });
	expect(verdicts).toHaveLength(sought.length);
	return sought.map((each) => {
		const verdict = verdicts.find(({ sending }) => sending === each);
		return verdict?.kind === 'found' ? verdict.task.taskId : `${verdict?.kind}`;
	});
}

const HOUR = 3_600_000;
const UNDATED = { aheadMs: undefined };
test.each<[string, string, string, string, { aheadMs?: number | undefined; rivals?: string }?]>([
	['each its own', 'rain@0 wind@10', 'a:wind@20 b:rain@30', 'b a'],
	['by the order of sending', 'rain@5000 rain@0', 'b:rain@1001 a:rain@6001', 'a b'],
	['by the order of creation', 'rain@0 rain@5000', 'a:rain@6001 b:rain@1001', 'b a'],
	['by both, as they come', 'rain@0 rain@5000', 'a:rain@1001 b:rain@6001', 'a b'],
	['too early for the second', 'rain@0 rain@5000', 'a:rain@1001 b:rain@2001', 'open open'],
	['one for two', 'rain@0 rain@10', 'a:rain@21', 'open open'],
	['two for one', 'rain@0', 'a:rain@21 b:rain@22', 'several'],
	['one for two that may not both have been sent', 'rain?@0 rain?@10', 'a:rain@21', 'a open'],
	['none for one that may not have been sent', 'rain?@0', '', 'open'],
	['two for one that may not have been sent', 'rain?@0', 'a:rain@21 b:rain@22', 'several'],
	['of two, one may not be sent', 'rain?@0 rain@10', 'a:rain@21 b:rain@22', 'open open'],
	['an answer is due that may be it', 'rain@0', 'a:rain@21', 'open', { rivals: 'rain@10' }],
	['or one of two', 'rain@0', 'a:rain@1 b:rain@9001', 'open', { rivals: 'rain@8000' }],
	['of both', 'rain@0 rain@1', 'a:rain@2 b:rain@9001', 'open open', { rivals: 'rain@8000' }],
	['an answer is due to another text', 'rain@0', 'a:rain@21', 'a', { rivals: 'wind@10' }],
	['an answer is due to what was sent later', 'rain@0', 'a:rain@21', 'a', { rivals: 'rain@22' }],
	['the list does not repeat its text', 'rain@0', 'a:@21', 'open'],
	['nor that of one of two', 'rain@0 rain@1', 'a:rain@21 b:@22', 'open open'],
	['the list gives it no time', 'rain@0', 'a:rain', 'open'],
	['a service without a clock', 'rain@0', 'a:rain@21', 'open', UNDATED],
	['a fast clock: before', 'rain@1', `a:rain@${HOUR - 1}`, 'open', { aheadMs: HOUR }],
	['a fast clock: after', 'rain@1', `a:rain@${HOUR + 1}`, 'a', { aheadMs: HOUR }],
	['a slow clock: before', 'rain@2', `a:rain@${1 - HOUR}`, 'open', { aheadMs: -HOUR }],
	['a slow clock: after', 'rain@1', `a:rain@${2 - HOUR}`, 'a', { aheadMs: -HOUR }],
	['in the same millisecond', 'rain@501', 'a:rain@501', 'a'],
	['a millisecond before', 'rain@501', 'a:rain@500', 'open'],
	['in the same second', 'rain@999', 'a:rain@0', 'a'],
	['a second before', 'rain@1000', 'a:rain@0', 'open'],
])('%s: %s, the list has %s: %s', (_, sought, listed, expected, { rivals = '', ...clock } = {}) => {
	const sendingsOf = (words: string) => listOf(words).map(sendingOf);
	const reading = { tasks: listOf(listed).map(taskOf), aheadMs: 0, ...clock };
	expect(outcomesOf(sendingsOf(sought), sendingsOf(rivals), reading)).toEqual(listOf(expected));
});

test('what is found was made by an equal creation, and where nobody else could have made it, all are found', () => {
	const creation = fc.record({
		text: fc.constantFrom('rain', 'wind', 'snow'),
		sentAt: fc.nat(5_000),
		answeredAfter: fc.nat(3_000),
		fate: fc.constantFrom('sought', 'sought', 'sought', 'created nothing', 'answer due'),
		place: fc.nat(),
	});
	const world = fc.record({
		creations: fc.array(creation, { maxLength: 8 }),
		fewer: fc.boolean(),
		wholeSeconds: fc.boolean(),
		aheadMs: fc.integer({ min: -HOUR, max: HOUR }),
	});
	const property = fc.property(world, ({ creations, fewer, wholeSeconds, aheadMs }) => {
		const made = creations.map(({ sentAt, answeredAfter, ...rest }, index) => {
			const sending = { request: request(rest.text), sentAt: START + sentAt, fewer };
			const at = START + sentAt + answeredAfter + aheadMs;
			const createdAt = wholeSeconds ? at - (at % 1_000) : at;
			const task = { taskId: `${index}`, createdAt, raw: { text: rest.text } };
			return { ...rest, sending, task };
		});
		const sendingsOf = (all: typeof made) => all.map(({ sending }) => sending);
		const rivals = made.filter(({ fate }) => fate === 'answer due');
		const sought = made.filter((one) => !rivals.includes(one));
		const listed = made.filter(({ fate }) => fate !== 'created nothing');
		const tasks = listed.sort((one, other) => one.place - other.place).map(({ task }) => task);
		const outcomes = outcomesOf(sendingsOf(sought), sendingsOf(rivals), { tasks, aheadMs });
		const found = outcomes.filter((outcome) => outcome !== 'open');
		expect(new Set(found).size).toBe(found.length);
		for (const [index, { text }] of sought.entries()) {
			const maker = made.find(({ task }) => task.taskId === outcomes[index]);
			if (maker !== undefined) expect(maker).toMatchObject({ text, fate: 'sought' });
			const equal = made.filter((one) => one.text === text);
			if (equal.every(({ fate }) => fate === 'sought')) expect(maker).toBeDefined();
		}
	});
	fc.assert(property, { seed: 28, numRuns: 500 });
});

const rain = { text: 'rain' };
const SPOKEN = { pathFields: { voice_id: 'x' } };
const [MOVIE, MODEL] = ['https://x.example/a.mp4', 'a-model-with-a-long-name'];
const repeating = (raw: object) => ({ taskId: 'a', createdAt: 0, raw: { id: 'a', ...raw } });
test.each<[Partial<CreationRequest>, object, string]>([
	[{}, { text: 'rain', credit_cost: 5 }, 'sure'],
	[{}, { metadata: { text: 'rain' } }, 'sure'],
	[{}, { input: { metadata: { request: { body: { params: { text: 'wind' } } } } } }, 'none'],
	[{}, { text: 'wind' }, 'none'],
	[{}, { prompt: 'rain' }, 'possible'],
	[{ body: { ...rain, duration_seconds: 5 } }, { ...rain, duration_seconds: '5' }, 'sure'],
	[{ body: { ...rain, duration_seconds: 5 } }, { ...rain, duration_seconds: 6 }, 'none'],
	[{ body: { text: 'rain', loop: true } }, { text: 'rain', loop: 'true' }, 'sure'],
	[{ body: { text: 'rain', voice_settings: { speed: 1 } } }, { text: 'rain', speed: 2 }, 'none'],
	[SPOKEN, { text: 'rain', voice_id: 'y' }, 'none'],
	[{ ...SPOKEN, kind: 'speech-v1' }, { ...rain, voice_id: 'elevenlabs_x' }, 'sure'],
	[{ body: { to: 'de' }, files: [{} as never] }, { to: 'de' }, 'possible'],
	[{ qs: { output_format: 'mp3' } }, { text: 'rain', output_format: 'wav' }, 'none'],
	[{ body: { model_id: 'm', prompt: 'cat' } }, { model_id: 'm' }, 'possible'],
	[{ body: { tags: ['a'] } }, { tags: ['b'] }, 'none'],
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
	// What the service has named counts, not words.
	[{}, { ...rain, type: 'sound_wave' }, 'none'],
	[{ type: undefined, kind: '/v1m/task' }, { text: 'rain', type: 'music' }, 'none'],
	[{ type: undefined, kind: '/v1m/task' }, { ...rain, type: 'music_generation' }, 'sure'],
	[{ type: undefined, path: '/v1m/task/music' }, { ...rain, type: 'music' }, 'sure'],
	// A type that the service has not named yet says nothing.
	[{ type: undefined }, { text: 'rain', type: 'tts' }, 'sure'],
	[{ type: undefined }, { prompt: 'rain', type: 'imagen2' }, 'possible'],
	[{ type: undefined, path: '/v1/x' }, { text: 'rain', type: 'sound_effect' }, 'none'],
	[{ type: undefined }, { text: 'rain', type: 'sound_effect' }, 'sure'],
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
	[{ body: { text: 'a\nb' } }, { text: 'a b' }, 'none'],
	...[5, 6, 7].map((length): [Partial<CreationRequest>, object, string] => [
		{ body: { text: 'a\r\nb\nc' } },
		{ text: 'a\r\nb\r', text_length: length, text_truncated: true },
		'cut',
	]),
	[{ body: { text: 'a\nb\nc' } }, { text: 'a\r\nb', text_length: 8, text_truncated: true }, 'none'],
])('%j and a task that says %j: %s', (more, raw, expected) => {
	expect(resemblance(repeating(raw), request('rain', more), typeOf)).toBe(expected);
});

test.each(['text', 'prompt', 'idea', 'lyrics', 'input', 'description'])(
	'what tells one request from another: its %s',
	(name) => {
		const more = { body: { model_id: MODEL, [name]: 'rain' } };
		const resembles = (raw: object) => resemblance(repeating(raw), request('', more), typeOf);
		expect(resembles({ [name]: 'rain' })).toBe('sure');
		expect(resembles({ model_id: MODEL })).toBe('possible');
	},
);

const OWN =
	'id,task_id,status,state,progress,created_at,updated_at,receive_url,error,last_error_code';
test.each([
	...OWN.split(',').map((name) => [name, 'sure'] as const),
	...['grid', 'id_of_voice'].map((name) => [name, 'none'] as const),
])('what a task says of itself, not of what was asked for: %s: %s', (name, expected) => {
	const asked = request('rain', { body: { ...rain, [name]: 'one' } });
	expect(resemblance(repeating({ ...rain, [name]: 'other' }), asked, typeOf)).toBe(expected);
});
