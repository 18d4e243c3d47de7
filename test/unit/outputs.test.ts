import { addressesIn } from '../../nodes/MediaGeneration/service/verdict';
import { outputsOf } from '../../nodes/MediaGeneration/service/outputs';
import { parseTask } from '../../nodes/MediaGeneration/service/task';

function outputs(metadata: unknown, extra: object = {}, request?: unknown) {
	const task = parseTask({ id: 't', status: 'done', metadata, ...extra });
	if (task === undefined) throw new Error('no task');
	return outputsOf(task, addressesIn(request));
}
const F = 'https://files.example';

test.each<[string, unknown, object, unknown]>([
	[
		'both names of one file',
		{ output_uri: `${F}/a`, audio_url: `${F}/a` },
		{},
		[{ url: `${F}/a`, kind: 'audio' }],
	],
	[
		'two different files',
		{ output_uri: `${F}/a.mp3`, audio_url: `${F}/b.mp3` },
		{},
		[
			{ url: `${F}/a.mp3`, kind: 'audio' },
			{ url: `${F}/b.mp3`, kind: 'audio' },
		],
	],
	[
		'speech with its transcripts',
		{ audio_url: `${F}/a`, srt_url: `${F}/s`, json_url: `${F}/j` },
		{},
		[
			{ url: `${F}/a`, kind: 'audio' },
			{ url: `${F}/s`, kind: 'transcript' },
			{ url: `${F}/j`, kind: 'transcript' },
		],
	],
	[
		'output_uri at the root',
		{},
		{ output_uri: `${F}/a`, type: 'sound_effect' },
		[{ url: `${F}/a`, kind: 'audio' }],
	],
	[
		'the kind of the task decides for a bare path',
		{ output_uri: `${F}/a` },
		{ type: 'generate_image' },
		[{ url: `${F}/a`, kind: 'image' }],
	],
	[
		'several addresses in one field',
		{ output_uri: [`${F}/a.png`, `${F}/b.png`] },
		{},
		[
			{ url: `${F}/a.png`, kind: 'image' },
			{ url: `${F}/b.png`, kind: 'image' },
		],
	],
	[
		'only the end of a path is an extension',
		{ output_uri: ['a.png.x', 'b.mp3.x', 'c.mp4.x'].map((name) => `${F}/${name}`) },
		{ type: 'dubbing_speech' },
		['a.png.x', 'b.mp3.x', 'c.mp4.x'].map((name) => ({ url: `${F}/${name}`, kind: 'audio' })),
	],
	[
		'an archive of results',
		{ output_uri: ['a.png.zip', 'b.mp3.zip', 'c.srt.zip'].map((name) => `${F}/${name}`) },
		{},
		['a.png.zip', 'b.mp3.zip', 'c.srt.zip'].map((name) => ({ url: `${F}/${name}`, kind: 'file' })),
	],
	[
		'a video is none of the sound of its task',
		{ output_uri: `${F}/v.mp4`, video_url: `${F}/v` },
		{ type: 'music' },
		[
			{ url: `${F}/v.mp4`, kind: 'file' },
			{ url: `${F}/v`, kind: 'file' },
		],
	],
	[
		'names in camel case',
		{ audioUrl: `${F}/a`, imageUri: `${F}/b`, videoUrls: [`${F}/c`] },
		{},
		[
			{ url: `${F}/a`, kind: 'audio' },
			{ url: `${F}/b`, kind: 'image' },
			{ url: `${F}/c`, kind: 'file' },
		],
	],
	[
		'known names first, in their order',
		{ other_url: `${F}/o`, json_url: `${F}/j`, output_url: `${F}/a` },
		{},
		[
			{ url: `${F}/a`, kind: 'file' },
			{ url: `${F}/j`, kind: 'transcript' },
			{ url: `${F}/o`, kind: 'file' },
		],
	],
	['a name that only begins like an address', { audio_url_help: `${F}/help` }, {}, []],
	['an address within another', { audio_url: `blob:${F}/a` }, {}, []],
	[
		'pictures as a list of addresses',
		{ result_images: [`${F}/1`, `${F}/2`] },
		{},
		[
			{ url: `${F}/1`, kind: 'image' },
			{ url: `${F}/2`, kind: 'image' },
		],
	],
	[
		'a preview in an object of its own',
		{ output_uri: `${F}/a.png`, preview: { url: `${F}/p.png` } },
		{},
		[{ url: `${F}/a.png`, kind: 'image' }],
	],
	['no addresses', { output_uri: '', audio_url: null, srt_url: 5, json_url: {} }, {}, []],
	[
		'addresses of another kind',
		{ output_uri: 'file:///etc/passwd', audio_url: 'javascript:alert(1)' },
		{},
		[],
	],
	['half an address', { output_uri: 'https://', audio_url: '/relative.mp3' }, {}, []],
])('%s', (_name, metadata, extra, expected) => {
	expect(outputs(metadata, extra)).toEqual(expected);
});

test('pictures come first, and audio_url mirroring one is not a second file', () => {
	const result_images = [
		{ id: 1, imageUrl: `${F}/1.png`, previewUrl: `${F}/1s.png`, mimeType: 'image/png' },
		{ id: 2, imageUrl: `${F}/2`, previewUrl: `${F}/2s.png` },
	];
	expect(outputs({ audio_url: `${F}/1.png`, result_images }, { type: 'image' })).toEqual([
		{ url: `${F}/1.png`, kind: 'image' },
		{ url: `${F}/2`, kind: 'image' },
	]);
});

test('a preview counts only where there is nothing better', () => {
	expect(outputs({ preview_url: `${F}/p.png`, output_uri: `${F}/a.png` })).toEqual([
		{ url: `${F}/a.png`, kind: 'image' },
	]);
	expect(outputs({ preview_url: `${F}/p.png` })).toEqual([{ url: `${F}/p.png`, kind: 'image' }]);
	expect(outputs({ result_images: [{ previewUrl: `${F}/p.png` }, {}, null, 7] })).toEqual([
		{ url: `${F}/p.png`, kind: 'image' },
	]);
});

test('addresses that the request carried are not results', () => {
	const request = { receive_url: `${F}/hook`, nested: [{ image: `${F}/in.png` }] };
	const metadata = {
		callback_url: `${F}/other`,
		input_image_url: `${F}/x.png`,
		output_uri: `${F}/in.png`,
		audio_url: `${F}/out.mp3`,
	};
	expect(outputs(metadata, {}, request)).toEqual([{ url: `${F}/out.mp3`, kind: 'audio' }]);
});

describe('results that lie deeper', () => {
	test.each<[string, unknown, object, Array<[string, string]>]>([
		[
			'the same file at the top and deeper is one',
			{ audio_url: `${F}/a`, v3: { audio_url: `${F}/a`, srt_url: `${F}/s` } },
			{},
			[
				['a', 'audio'],
				['s', 'transcript'],
			],
		],
		[
			'pictures',
			{ v3: { result_images: [{ imageUrl: `${F}/1`, previewUrl: `${F}/1s` }] } },
			{},
			[['1', 'image']],
		],
		[
			'a list of clips',
			{ clips: [{ audio_url: `${F}/1` }, { audio_url: `${F}/2`, video_url: `${F}/2.mp4` }] },
			{ type: 'music' },
			[
				['1', 'audio'],
				['2', 'audio'],
				['2.mp4', 'file'],
			],
		],
		['by a bare name in a list', { outputs: [{ url: `${F}/1.wav` }] }, {}, [['1.wav', 'audio']]],
		['under the name of their kind', { audio: { url: `${F}/1` } }, {}, [['1', 'audio']]],
		[
			'in the data of the root',
			{},
			{ all_audio_urls: [`${F}/1`, `${F}/2`] },
			[
				['1', 'audio'],
				['2', 'audio'],
			],
		],
	])('%s', (_name, metadata, extra, expected) => {
		expect(
			outputs(metadata, extra).map(({ url, kind }) => [url.slice(F.length + 1), kind]),
		).toEqual(expected);
	});

	test('what the request carried is none, however deep', () => {
		const echoed = {
			input: { audio_url: `${F}/in.mp3` },
			params: { voice: { url: `${F}/voice.mp3` }, request: [{ image_url: `${F}/in.png` }] },
			v3: { source: { url: `${F}/x` }, audio_url: `${F}/out.mp3` },
		};
		expect(outputs(echoed)).toEqual([{ url: `${F}/out.mp3`, kind: 'audio' }]);
	});

	test.each([
		[4, 1],
		[5, 0],
	])('%d objects below the metadata: %d', (depth, count) => {
		const nested = JSON.parse(
			`${'{"v3":'.repeat(depth)}{"audio_url":"${F}/a"}${'}'.repeat(depth)}`,
		) as unknown;
		expect(outputs(nested)).toHaveLength(count);
	});
});

test('a stream is not a result, not even where there is nothing else', () => {
	const streams = { stream_url: `${F}/s`, streamUrl: `${F}/t`, v3: { audio_stream_url: `${F}/u` } };
	expect(outputs(streams)).toEqual([]);
	expect(outputs({ stream: { url: `${F}/s` } })).toEqual([]);
	expect(outputs({ ...streams, audio_url: `${F}/a` })).toEqual([{ url: `${F}/a`, kind: 'audio' }]);
	// A stream under a second name is the file itself.
	expect(outputs({ stream_url: `${F}/a`, audio_url: `${F}/a` })).toHaveLength(1);
});

test.each<[string, unknown, string[]]>([
	['an address', 'http://a.example', ['http://a.example']],
	['addresses in lists and objects', [{ a: `${F}/1`, b: [`${F}/2`] }], [`${F}/1`, `${F}/2`]],
	['words with an address', `see ${F}`, []],
	['a number', 7, []],
	['nothing', null, []],
	['21 lists', JSON.parse(`${'['.repeat(21)}"${F}"${']'.repeat(21)}`), [F]],
	['more of them', JSON.parse(`${'['.repeat(22)}"${F}"${']'.repeat(22)}`), []],
])('addresses of a request: %s', (_name, request, expected) => {
	expect(addressesIn(request)).toEqual(expected);
});
