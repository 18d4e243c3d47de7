/** Which addresses of a finished task are its files, in which order, and of which kind. */
import { addressesIn } from '../../nodes/MediaGeneration/answers/verdict';
import { outputsOf, resolved } from '../../nodes/MediaGeneration/answers/outputs';
import { taskOf } from './itemSettings';

const F = 'https://files.example';

/** The files of a task: their paths, and the kind of each. */
function outputs(metadata: unknown, extra: object = {}, request?: unknown) {
	const found = outputsOf(taskOf({ metadata, ...extra }), addressesIn(request));
	return found.map(({ url, kind }) => `${url.slice(F.length + 1)} ${kind}`);
}
/** Addresses of files with these names. */
const at = (...names: string[]) => names.map((name) => `${F}/${name}`);
const [A, B, C] = at('a', 'b', 'c');
const archive = at('a.png.zip', 'b.mp3.zip', 'c.srt.zip');
const odd = at('a.png.x', 'b.mp3.x', 'c.mp4.x');
const archived = ['a.png.zip file', 'b.mp3.zip file', 'c.srt.zip file'];
const oddSounds = ['a.png.x audio', 'b.mp3.x audio', 'c.mp4.x audio'];
const dubbing = { type: 'dubbing_speech' };
const spoken = { audio_url: A, srt_url: B, json_url: C };
const ordered = { other_url: C, json_url: B, output_url: A };
const deeper = { audio_url: A, v3: { audio_url: A, srt_url: B } };
const isolated = { voice_url: A, background_url: B };
const external = {
	output_uri: ['file:///etc/passwd', 's3://bucket/a.mp3'],
	audio_url: 'javascript:alert(1)',
};
const preview = { url: `${F}/p.png` };
const pictures = [
	{ id: 1, imageUrl: `${F}/1.png`, previewUrl: `${F}/1s.png`, mimeType: 'image/png' },
	{ id: 2, imageUrl: `${F}/2`, previewUrl: `${F}/2s.png` },
];
const mirrored = { audio_url: `${F}/1.png`, result_images: pictures };
const previews = { result_images: [{ previewUrl: preview.url }, {}, null, 7] };
const streams = { stream_url: B, streamUrl: C, stream: { url: B }, v3: { audio_stream_url: C } };
const clips = [{ audio_url: A }, { audio_url: B, video_url: `${B}.mp4` }];

test.each<[string, unknown, object, string[]]>([
	['both names of one file', { output_uri: A, audio_url: A }, {}, ['a audio']],
	['of a picture no other address', { result_images: [{ url: A, page_url: B }] }, {}, ['a image']],
	['two different files', { output_uri: A, audio_url: B }, {}, ['a file', 'b audio']],
	['speech with its transcripts', spoken, {}, ['a audio', 'b transcript', 'c transcript']],
	['output_uri at the root', {}, { output_uri: A, type: 'sound_effect' }, ['a audio']],
	['a bare path, by the task', { output_uri: A }, { type: 'generate_image' }, ['a image']],
	['only the end of a path is an extension', { output_uri: odd }, dubbing, oddSounds],
	['an archive of results', { output_uri: archive }, {}, archived],
	[
		'facts about a sound are no sound',
		{ url: A, alignment_url: `${F}/a.json` },
		{ type: 'speech' },
		['a audio', 'a.json file'],
	],
	[
		'the text of speech',
		{ output_uri: A, audio_url: B },
		{ type: 'speech_to_text' },
		['a transcript', 'b audio'],
	],
	[
		'no page',
		{ audio_url: A, share_url: B, pageUrl: C, v3: { status: { url: C } } },
		{},
		['a audio'],
	],
	['captions', { captions_url: A }, { type: 'speech' }, ['a transcript']],
	['a video is no sound', { output_uri: `${F}/v.mp4` }, { type: 'music' }, ['v.mp4 file']],
	['known names first, in their order', ordered, {}, ['a file', 'b transcript', 'c file']],
	['a name that only begins like an address', { audio_url_help: A }, {}, []],
	[
		'names in capitals',
		{ audioURL: A, SRT_URL: B, receiveURL: C },
		{},
		['a audio', 'b transcript'],
	],
	['spaces around an address', { audio_url: ` ${A}\n` }, {}, ['a audio']],
	['an address within another', { audio_url: `blob:${A}` }, {}, []],
	['pictures as a list of addresses', { result_images: [A, B] }, {}, ['a image', 'b image']],
	['a preview of its own', { output_uri: `${A}.png`, preview }, {}, ['a.png image']],
	['pictures first, and once', mirrored, { type: 'image' }, ['1.png image', '2 image']],
	['a picture by another name', { audio_url: A, result_images: [A] }, {}, ['a image']],
	['a preview beside a file', { preview_url: preview.url, output_uri: A }, {}, ['a file']],
	['a preview alone', { preview_url: preview.url }, {}, ['p.png image']],
	['previews of pictures alone', previews, {}, ['p.png image']],
	['no stream, not even alone', streams, {}, []],
	['no stream beside a file', { ...streams, audio_url: A }, {}, ['a audio']],
	['a stream that is the file itself', { stream_url: A, audio_url: A }, {}, ['a audio']],
	['no addresses', { output_uri: '', audio_url: null, srt_url: 5, json_url: {} }, {}, []],
	['addresses of another kind', external, {}, []],
	['no file yet', { output_uri: ['pending', '/'], audio_url: 'n/a', srt_url: 'a b.srt' }, {}, []],
	['named after a voice', isolated, { type: 'voice_isolate' }, ['a audio', 'b audio']],
	[
		'named with such a word inside',
		{ voiceover_url: A, resource_url: B },
		{},
		['a file', 'b file'],
	],
	['deeper, once', deeper, {}, ['a audio', 'b transcript']],
	['deeper, a list of clips', { clips }, { type: 'music' }, ['a audio', 'b audio', 'b.mp4 file']],
	['by a bare name in a list', { outputs: [{ url: `${A}.wav` }] }, {}, ['a.wav audio']],
	['in the data of the root', {}, { all_audio_urls: [A, B] }, ['a audio', 'b audio']],
])('%s', (_name, metadata, extra, expected) => {
	expect(outputs(metadata, extra)).toEqual(expected);
});

test('what the request carried is no result, however deep', () => {
	const request = { receive_url: `${F}/hook`, nested: [{ image: `${F}/in.png` }] };
	const named = { callback_url: `${F}/other`, input_image_url: `${F}/x.png` };
	const same = { output_uri: `${F}/in.png`, told_url: `${F}/hook?signature=0`, audio_url: A };
	expect(outputs({ ...named, ...same }, {}, request)).toEqual(['a audio']);
	const echoed = {
		input: { audio_url: `${F}/in.mp3` },
		params: { request: [{ image_url: `${F}/in.png` }], sourceUrl: B, uploads: { url: C } },
		v3: { source: { url: `${F}/x` }, audio_url: A },
	};
	expect(outputs(echoed)).toEqual(['a audio']);
	const spokenBy = { voice_url: `${F}/voice.mp3`, audio_url: A };
	expect(outputs(spokenBy, {}, { voice_url: `${F}/voice.mp3` })).toEqual(['a audio']);
	expect(outputs(spokenBy)).toEqual(['a audio', 'voice.mp3 audio']);
});

describe('an address as a browser would read it', () => {
	const PNG = 'data:image/png;base64,iVBORw0KGgo=';
	test.each([
		['/files/x.mp3', 'https://api.example/files/x.mp3'],
		['//cdn.example/x.mp3', 'https://cdn.example/x.mp3'],
		['./x', 'https://api.example/media/x'],
		['files/x.wav?a=b.exe', 'https://api.example/media/files/x.wav?a=b.exe'],
		[PNG, PNG],
	])('%s is found, and leads to %s', (url, target) => {
		const found = outputsOf(taskOf({ metadata: { audio_url: url } }));
		expect(found).toMatchObject([{ url }]);
		expect(resolved(found, 'https://api.example/media')).toMatchObject([{ url: target }]);
	});

	test('two spellings of one address are one file, and without a base none leads anywhere', () => {
		const output_uri = 'https://api.example/x.mp3';
		const found = outputsOf(taskOf({ metadata: { output_uri, audio_url: '/x.mp3' } }));
		expect(found).toHaveLength(2);
		expect(resolved(found, 'https://api.example/v')).toEqual([
			{ url: 'https://api.example/x.mp3', kind: 'audio' },
		]);
		expect(resolved(found, undefined)).toEqual(found);
	});
});

test.each([
	[4, 1],
	[5, 0],
])('%d objects below the metadata: %d', (depth, count) => {
	const nested = `${'{"v3":'.repeat(depth)}{"audio_url":"${A}"}${'}'.repeat(depth)}`;
	expect(outputs(JSON.parse(nested))).toHaveLength(count);
});

test('of what names more addresses than any task has, a thousand are looked at', () => {
	const many = Array.from({ length: 99_000 }, (_, index) => `${F}/${index}`);
	const fields = Object.fromEntries(many.map((url) => [url, { audio_url: url }]));
	expect(outputs({ all_audio_urls: many })).toHaveLength(1_000);
	expect(outputs({ result_images: many })).toHaveLength(1_000);
	expect(outputs(fields)).toHaveLength(1_000);
	expect(outputs({ audio_url: A, lists: many.map((url) => ({ audio_url: url })) })).toContain(
		'a audio',
	);
});

test.each<[string, unknown, string[]]>([
	['an address', 'http://a.example', ['http://a.example']],
	['addresses in lists and objects', [{ a: A, b: [B] }], at('a', 'b')],
	['words with an address', `see ${F}`, []],
	['a number', 7, []],
	['21 lists', JSON.parse(`${'['.repeat(21)}"${F}"${']'.repeat(21)}`), [F]],
	['more of them', JSON.parse(`${'['.repeat(22)}"${F}"${']'.repeat(22)}`), []],
])('addresses of a request: %s', (_name, request, expected) => {
	expect(addressesIn(request)).toEqual(expected);
});
