/** What each operation sends for the fields of an item, and in which words it refuses them (README, "Operations"). */
import { atOnce } from '../support/work';
import type { INodeProperties } from 'n8n-workflow';
import { operationOf, properties } from '../../nodes/MediaGeneration/actions';
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import { requestsFor, requestText, textsOf } from '../../nodes/MediaGeneration/actions/longText';
import { readTaskId, readTaskIds } from '../../nodes/MediaGeneration/actions/taskIds';
import { planItems } from '../../nodes/MediaGeneration/run/plan';
import { creating } from '../support/operations';
import { empty, fieldsWith, refusalOf } from './itemFields';

type Fields = Record<string, unknown>;

const speech = { resource: 'speech', operation: 'generateByVoiceId', voiceId: 'v', text: 'Hello' };
const byName = {
	...{ resource: 'speech', operation: 'generateByVoiceName' },
	...{ voice: 'Aria', text: 'Hi', withTranscript: false },
};
const sound = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
const image = { resource: 'image', operation: 'generate', prompt: 'A boat', generationsCount: 1 };
const music = { resource: 'music', operation: 'generate', prompt: 'A waltz' };
const song = { resource: 'music', operation: 'generate', mode: 'custom' };
const lines = {
	line: [
		{ voiceId: 'edge_a', text: ' Is it\r\n\non? ' },
		{ voiceId: { __rl: true, mode: 'list', value: 'edge_b' }, text: 'Yes.' },
		{ voiceId: 'edge_a', text: 'Good.' },
	],
};
const dialogue = { resource: 'speech', operation: 'generateDialogue', lines };
const byJson = { ...dialogue, specifyLines: 'json' };
const audio = (operation: string, more: Fields = {}) => ({
	...{ resource: 'audio', operation, inputBinaryField: 'data' },
	...more,
});
const dub = audio('dub', { targetLanguage: ' de ' });
const dubbed = { target_lang: 'de', source_lang: 'auto', disable_voice_cloning: false };
const changed = audio('changeVoice', { voiceId: 'elevenlabs_v', modelId: 'm' });
const create = { resource: 'task', operation: 'create', path: '/v1m/task/music-generation' };

/** @param typed the fields as the workflow has them, expressions included */
function request(fields: Fields, typed = fields): CreationRequest {
	const { work } = operationOf(fields.resource, fields.operation);
	if (work.kind !== 'creates') throw new Error(`It ${work.kind}`);
	return work.request(fieldsWith(fields, { typed }));
}

const picked = (value: unknown) => ({ __rl: true, mode: 'list', value, cachedResultName: 'x' });

const plainImage = { prompt: 'A boat', generations_count: 1 };

const none = { modelId: picked(''), outputFormat: ' ', withTranscript: false };
const allOfImage = { modelId: 'm', generationsCount: '3', aspectRatio: '16:9', resolution: '2K' };
const extra = (extraFields: unknown) => ({ options: { extraFields } });
const wholeImage = {
	...{ prompt: 'A boat', model_id: 'm', generations_count: 3 },
	model_parameters: { aspect_ratio: '16:9', resolution: '2K' },
};
const form = { ...create, bodyContentType: 'multipart-form-data' };
const fields = { field: [{ name: ' a ', value: 'x' }, { name: 'c' }] };
const rows = { ...form, body: '{"a": 1, "b": [2]}', fields };
const ship = extra('{"model_parameters": {"seed": 7}, "prompt": "A ship"}');
const shipModel = { aspect_ratio: '16:9', seed: 7 };
const shipped = { ...plainImage, prompt: 'A ship', model_parameters: shipModel };
const options = (given: Fields) => ({ options: given });
const settings = { speed: 1.1, stability: '0.4', similarityBoost: 0, style: 0 };
const voiceSettings = { similarity_boost: 0, speed: 1.1, stability: 0.4, style: 0 };
const allOfSpeech = {
	...{ modelId: picked(' m '), withTranscript: 'true', voiceSettings: settings },
	...options({ pronunciationDictionaryId: ' 42 ' }),
};
const wholeSpeech = {
	...{ text: 'Hello', model_id: 'm', with_transcript: true },
	...{ voice_settings: voiceSettings, pronunciation_dictionary_id: '42' },
};
const steered = { durationSeconds: 0.5, promptInfluence: '1', loop: true };
const [V1, MP3] = ['/v1/text-to-speech', 'mp3_44100_128'];
/** All but Task: Create make a file, unless a row says otherwise. */
const made: Array<[Fields, object]> = [
	[{ ...speech, voiceId: picked(' a voice ') }, { path: `${V1}/a%20voice` }],
	[byName, { path: '/v1e/task/text-to-speech' }],
	[sound, { path: '/v1/task/sound-effect' }],
	[image, { path: '/v1i/task/generate-image' }],
	[music, { path: '/v1s/task/music-generation', kind: 'music', optional: 'Music: Generate' }],
	[dialogue, { path: '/v3/text-to-speech/dialogue', form: true }],
	[audio('transcribe'), { path: '/v1/task/speech-to-text', form: true, makesFile: false }],
	[dub, { path: '/v1/task/dubbing', form: true, usualFileMb: 20 }],
	[changed, { path: '/v1/task/voice-changer', form: true }],
	[audio('isolateVoice'), { path: '/v1/task/voice-isolate', form: true }],
	[{ ...create, path: ' /v1/a voice ' }, { path: '/v1/a%20voice' }],
	[{ ...speech, outputFormat: MP3 }, { qs: { output_format: MP3 } }],
	[{ ...create, query: ' ' }, { qs: undefined }],
	[{ ...create, query: '{"a": 1}' }, { qs: { a: 1 } }],
	[{ ...speech, voiceId: 'a b' }, { pathFields: { voice_id: 'a b' } }],
];

test.each(made)('%j makes a request with %j', (fields, expected) => {
	const { makesFile = false, labels = {}, ...others } = request(fields);
	const usual = { makesFile: fields.resource !== 'task' };
	expect({ ...others, makesFile }).toMatchObject({ ...usual, ...expected });
	// What a refusal names is a field of the operation.
	for (const label of Object.values(labels).flat()) expect(namesOf(fields)).toContain(label);
});

test('every operation that creates has a row above', () => {
	const rows = made.map(([{ resource, operation }]) => ({ resource, operation }));
	expect(rows).toEqual(expect.arrayContaining(creating));
});

test.each<[string, Fields, object]>([
	['no more than its text', { ...speech, ...none }, { text: 'Hello' }],
	['a text as it is', { ...speech, text: ' Hello\n' }, { text: ' Hello\n' }],
	[
		'a voice name',
		{ ...byName, voice: ' Aria\n' },
		{ text: 'Hi', voice: 'Aria', with_transcript: false },
	],
	['all of a speech', { ...speech, ...allOfSpeech }, wholeSpeech],
	[
		'options of a sound effect that were added',
		{ ...sound, ...options(steered) },
		{ text: 'Rain', duration_seconds: 0.5, prompt_influence: 1, loop: true },
	],
	[
		'a description of music',
		{ ...music, instrumental: true },
		{ create_mode: 'simple', gpt_description_prompt: 'A waltz', make_instrumental: true },
	],
	[
		'a song',
		{ ...song, title: 'T', lyrics: 'La', ...options({ vocalGender: 'f' }) },
		{ create_mode: 'custom', title: 'T', lyrics: 'La', vocal_gender: 'f' },
	],
	['a song of tags alone', { ...song, tags: 'folk' }, { create_mode: 'custom', tags: 'folk' }],
	[
		'lines with a letter for each voice, in the order in which they first speak',
		{ ...dialogue, withTranscript: true, ...options({ pauseBetweenLines: 1.5 }) },
		{
			text: 'A> Is it on?\nB> Yes.\nA> Good.',
			speakers: [{ voice_id: 'edge_a' }, { voice_id: 'edge_b' }],
			...{ with_transcript: true, delay: 1.5 },
		},
	],
	[
		'lines as JSON; a voice of two speeds has two letters',
		{
			...byJson,
			linesJson: '[{"voice_id":"a","text":"1"},{"voice_id":"a","text":"2","speed":"1.2"}]',
		},
		{ text: 'A> 1\nB> 2', speakers: [{ voice_id: 'a' }, { voice_id: 'a', speed: 1.2 }] },
	],
	[
		'what is to be noted',
		audio('transcribe', options({ tagAudioEvents: true })),
		{ tag_audio_events: true },
	],
	['a dubbing', dub, dubbed],
	[
		'all of a dubbing',
		{ ...dub, sourceLanguage: 'en', ...options({ numberOfSpeakers: 2, keepVoices: false }) },
		{ ...dubbed, source_lang: 'en', num_speakers: 2, disable_voice_cloning: true },
	],
	['a voice without its provider', changed, { voice_id: 'v', model_id: 'm' }],
	[
		'all of another voice',
		{ ...changed, voiceSettings: { stability: 1 }, ...options({ removeBackgroundNoise: true }) },
		{
			voice_id: 'v',
			model_id: 'm',
			voice_settings: { stability: 1 },
			remove_background_noise: true,
		},
	],
	['all fields of an image', { ...image, ...allOfImage }, wholeImage],
	['rows of a form, which win, and simple values as they are', rows, { a: 'x', b: [2], c: '' }],
	[
		'rows that share a name, as a list',
		{
			...form,
			fields: {
				field: [
					{ name: 'l', value: 'de' },
					{ name: 'l', value: 'en' },
				],
			},
		},
		{ l: ['de', 'en'] },
	],
	['no rows where it is JSON', { ...create, fields: { field: [{ name: 'a', value: 'x' }] } }, {}],
	['empty values', { ...create, body: '{"b": {}, "c": null, "d": ""}' }, { b: {}, c: null, d: '' }],
	[
		'extra fields, which win and go into depth',
		{ ...image, aspectRatio: '16:9', ...ship },
		shipped,
	],
])('the body has %s', (_, fields, body) => {
	expect(request(fields).body).toEqual(body);
});

/** The names on screen of all fields and options of an operation. */
function namesOf(chosen: Fields): string[] {
	const shown = (field: INodeProperties, prefix = '') =>
		['resource', 'operation'].every(
			(name) => field.displayOptions?.show?.[prefix + name]?.includes(String(chosen[name])) ?? true,
		);
	return properties
		.filter((field) => shown(field))
		.flatMap(({ displayName, options = [] }) => {
			const added = options.filter((option): option is INodeProperties => 'type' in option);
			return [
				displayName,
				...added.filter((each) => shown(each, '/')).map((each) => each.displayName),
			];
		});
}

describe('bad fields are refused in words', () => {
	const noAddress = (value: string) => [
		`The field 'Voice' can't be used in an address: it ${value}`,
		'Enter the ID as the service shows it.',
	];
	const elsewhere = noAddress('contains the character /');
	const nameless = [
		"A row of the field 'Fields' has no name",
		'Enter the name that the service documents for it, or remove the row. Nothing was sent.',
	];
	const noSong = [
		"The fields 'Lyrics' and 'Tags' are empty",
		"Fill in 'Lyrics', 'Tags' or both, or set 'Mode' to Simple. Nothing was sent.",
	];
	const noLines = [
		"The field 'Lines' is empty",
		'Add a line for each thing that somebody says. Nothing was sent.',
	];
	const wrongLine = (problem: string) => [
		`Line 1 of 'Lines' ${problem}`,
		'Each line needs a voice and a text (in JSON: "voice_id" and "text"). If they are expressions, check that this item has values for them. Nothing was sent.',
	];
	const noVoice = wrongLine('has no voice');
	const noWords = wrongLine('has no text');
	const tooFast = wrongLine('has a speed that is not a number from 0.5 to 1.5');
	const spaces = ' '.repeat(1_000_000);
	const crowd = Array.from({ length: 27 }, (_, number) => ({ voice_id: `v${number}`, text: 'x' }));
	const tooMany = [
		'The dialogue has more than 26 voices',
		'Split it into several items, and join their files with "Audio: Join". Nothing was sent.',
	];
	const inexactly = (number: number) =>
		`The field 'Extra Body Fields' contains a number with too many digits: it would be sent as ${number}`;
	const inexact = [
		inexactly(12345678901234567000),
		'Put the number in double quotes. Nothing was sent.',
	];
	const withImages = (referenceImages: unknown) => ({ options: { referenceImages } });
	const likeAnother = { ...image, prompt: '@img2 like @img1' };
	const noImage = [
		'The prompt names @img2, but there is 1 reference image',
		"Add the input data field of that image to the option 'Reference Images', or take the name out of the prompt. Nothing was sent.",
	];
	test.each<[string, Fields, string[]]>([
		['a voice that leads elsewhere', { ...speech, voiceId: '../../v1i/task/image' }, elsewhere],
		['a row without a name', { ...form, fields: { field: [{ value: 'x' }] } }, nameless],
		[
			'a picture in the prompt that is not there',
			{ ...likeAnother, ...withImages('data') },
			noImage,
		],
		['a song of nothing', song, noSong],
		['a dialogue of nobody', { ...dialogue, lines: {} }, noLines],
		['a line of nobody', { ...dialogue, lines: { line: [{ text: 'x' }] } }, noVoice],
		['a line without words', { ...byJson, linesJson: [{ voice_id: 'a', text: spaces }] }, noWords],
		['a dialogue of a crowd', { ...byJson, linesJson: crowd }, tooMany],
		[
			'a line too fast',
			{ ...byJson, linesJson: [{ voice_id: 'a', text: 'x', speed: 2 }] },
			tooFast,
		],
		[
			'a number that would change',
			{ ...sound, ...extra('{"a": [12345678901234567890]}') },
			inexact,
		],
		[
			'the same of an expression',
			{ ...sound, ...extra({ a: 2 ** 60 }) },
			[inexactly(2 ** 60), inexact[1] ?? ''],
		],
	])('%s', (_, fields, [message, description]) => {
		expect(refusalOf(() => request(fields))).toEqual({ message, description });
	});

	const typed = '{{ $json.text }}';

	test('an expression that was typed as plain text into a row', () => {
		const row = { ...form, fields: { field: [{ name: 'a', value: typed }] } };
		expect(() => request(row)).toThrow(
			`'Fields' contains the expression ${typed} as plain text, because the field is set to Fixed`,
		);
	});

	test.each<[Fields, Fields]>([
		[
			{ ...speech, voiceId: picked('{{ $x') },
			{ ...speech, voiceId: picked('={{ $json.a }}') },
		],
		[{ ...sound, text: 'Set {{ braces }} or $5' }, sound],
	])(
		'what an expression leads to may look like one, and so may other braces: %j',
		(fields, inWorkflow) => {
			expect(() => request(fields, inWorkflow)).not.toThrow();
		},
	);

	test('JSON that a text breaks', () => {
		const body = '={"n": {{ $json.n }}, "a": "Dear {{ $json["t"] }}!"}';
		const broken = { ...create, body: '{"text": "She said "hi""}' };
		expect(refusalOf(() => request(broken, { ...create, body }))).toEqual({
			message: "The field 'Body' is not valid JSON",
			description:
				'A text with a quote or a line break breaks it. Write {{ JSON.stringify($json["t"]) }} without quotes around it. Nothing was sent.',
		});
	});
});

test('JSON that a model wrote is repaired, and no other', () => {
	const written = { ...create, body: "{prompt: 'A waltz',}" };
	const typed = { ...create, body: "={{ $fromAI('body') }}" };
	expect(request(written, typed).body).toEqual({ prompt: 'A waltz' });
	expect(() => request(written)).toThrow('is not valid JSON');
});

test('the file of the item goes into the form as "file"', () => {
	const { work } = operationOf('audio', 'transcribe');
	const binary = { data: 'x', mimeType: 'audio/mpeg', fileName: 'a.mp3' };
	const files = (field: string) =>
		work.kind === 'creates' &&
		work.files?.(
			fieldsWith(audio('transcribe', { inputBinaryField: field }), { binary: { sound: binary } }),
		);
	expect(files('sound')).toEqual([{ field: 'file', name: 'a.mp3', type: 'audio/mpeg', binary }]);
	expect(refusalOf(() => files('data')).description).toMatch(/sound/);
});

test('a row of files needs a name; the rest may be that of the item', () => {
	const { work } = operationOf('task', 'create');
	const binary = { sound: { data: 'x', mimeType: 'audio/mpeg' } };
	const files = (row: object) => {
		const given = { ...form, files: { file: [{ inputDataFieldName: 'sound', ...row }] } };
		return work.kind === 'creates' && work.files?.(fieldsWith(given, { binary }));
	};
	const file = { name: 'sound', type: 'audio/mpeg', binary: binary.sound };
	expect(files({ name: ' a ' })).toEqual([{ field: 'a', ...file }]);
	const own = { name: 'b.wav', type: 'audio/wav' };
	expect(files({ name: 'a', fileName: ' b.wav ', mimeType: 'audio/wav' })).toMatchObject([own]);
	expect(refusalOf(() => files({ name: ' ' })).message).toBe(
		"A row of the field 'Files' has no name",
	);
});

describe('the ID of a task made earlier', () => {
	const taskId = (given: unknown) => readTaskId(fieldsWith({ taskId: given }));

	test('is trimmed, and may be a number', () => {
		expect(taskId(' t-1 ')).toBe('t-1');
		expect(taskId(7)).toBe('7');
	});

	test.each([
		...['a/b', 'a\\b', 'a?b', 'a#b', 'a%2Fb'].map((id): [string, string] => [
			id,
			`it contains the character ${id.charAt(1)}`,
		]),
		...['.', ' ..', '..;x'].map((id): [string, string] => [
			id,
			'it means another place in the path',
		]),
		['a\nb', 'it contains a control character'],
		['a\ud800', 'it contains an unpaired surrogate'],
		['x'.repeat(4_001), 'it is longer than 4000 characters'],
	])('%.10s is refused', (given, problem) => {
		expect(refusalOf(() => taskId(given))).toEqual({
			message: `The Task ID can't be used: ${problem}`,
			description:
				'Enter the task_id that the service returned when the task was created, and nothing else.',
		});
	});

	test.each<[string, unknown, string | undefined, string[]]>([
		['none twice', 'a,,b,a', undefined, ['a', 'b']],
		['a list as JSON', '["a1", "b,2", 7]', undefined, ['a1', 'b,2', '7']],
		['a list is one, and its entries may hold commas', [' a,1', 7], undefined, ['a,1', '7']],
		['nor is the ID of the item itself cut', ' a,1', 'a,1', ['a,1']],
		['long numbers', '[12345678901234567890]', undefined, ['12345678901234567890']],
	])('%s', (_, given, own, expected) => {
		expect(readTaskIds(fieldsWith({ taskId: given }), own)).toEqual(expected);
	});

	test.each([[[]], [['a', '']], [[{}]], [',']])('%j is no list of IDs', (given) => {
		expect(refusalOf(() => readTaskIds(fieldsWith({ taskId: given })))).toEqual({
			message: "The field 'Task ID' is empty or contains an invalid ID",
			description: "Enter the task_id of each task in 'Task ID'.",
		});
	});

	test('none at all is refused', () => {
		const [message, description] = empty('Task ID');
		expect(refusalOf(() => taskId(' '))).toEqual({ message, description });
		const several = () => readTaskIds(fieldsWith({ taskId: '' }));
		expect(refusalOf(several)).toEqual({ message, description });
	});
});

describe('long texts', () => {
	const long = { kind: 'join', maxCharacters: 50, pauseMs: 0 } as const;
	const two = 'A first sentence that is some words long.\n\nAnd a second one, as long as that.';

	test('one request for each part, all else being equal', () => {
		const whole = request({ ...speech, text: two, modelId: 'm', outputFormat: 'wav' });
		const texts = atOnce(textsOf(whole, long));
		expect(texts.map((text) => text.trim())).toEqual(two.split('\n\n'));
		const requests = requestsFor(whole, texts);
		expect(requests).toEqual(texts.map((text) => ({ ...whole, body: { text, model_id: 'm' } })));
		expect(requestText(whole)).toBe(two);
		expect(atOnce(textsOf(whole, { kind: 'off' }))).toEqual([two]);
		for (const output_format of ['opus_48000_64', 'pcm_16000', 'ulaw_8000', 'alaw_8000']) {
			const coded = { ...whole, qs: { output_format } };
			expect(
				refusalOf(() => atOnce(textsOf(coded, { ...long, kind: 'join', pauseMs: 0 }))),
			).toEqual({
				message: `Audio in the format "${output_format}" can't be joined`,
				description: expect.stringMatching(/MP3 or WAV.*Nothing was sent\.$/) as string,
			});
			expect(atOnce(textsOf(coded, { ...long, kind: 'parts' })).length).toBeGreaterThan(0);
		}
	});

	test.each([' ', '7'])('extra fields that leave nothing to speak (%s) are refused', (text) => {
		const odd = request({ ...speech, ...extra({ text: text === '7' ? 7 : text }) });
		expect(refusalOf(() => atOnce(textsOf(odd, long)))).toEqual({
			message: "The field 'Text' contains no text to speak",
			description:
				"Fill in 'Text'. If it is an expression, check that this item has a value for it. Nothing was sent.",
		});
	});
});

test.each<[string, Fields]>([
	['creation', speech],
	['wait', { resource: 'task', operation: 'wait' }],
])('many items can be read without holding up n8n: others may run after each %s', (_, chosen) => {
	const inputs = Array.from({ length: 100 }, () => fieldsWith(chosen));
	const turns = [...planItems(operationOf(chosen.resource, chosen.operation), inputs, undefined)];
	expect(turns.length).toBeGreaterThanOrEqual(inputs.length);
});
