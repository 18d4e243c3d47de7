/** Addresses of a finished task: what is in no example of test/answers. */
import { addressesIn } from '../../nodes/MediaGeneration/answers/verdict';
import { outputsOf, resolved } from '../../nodes/MediaGeneration/answers/outputs';
import { taskOf } from './itemSettings';

const F = 'https://files.example';

/** The files of a task: their paths, and the kind of each. */
function outputs(metadata: unknown, extra: object = {}, request?: unknown) {
	const found = outputsOf(taskOf({ metadata, ...extra }), addressesIn(request));
	return found.map(({ url, kind }) => `${url.slice(F.length + 1)} ${kind}`);
}
const [A, B, C] = [`${F}/a`, `${F}/b`, `${F}/c`];

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
	expect(outputs(fields)).toHaveLength(1_000);
	expect(outputs({ audio_url: A, lists: many.map((url) => ({ audio_url: url })) })).toContain(
		'a audio',
	);
});

test.each<[string, unknown, string[]]>([
	['an address', 'http://a.example', ['http://a.example']],
	['addresses in lists and objects', [{ a: A, b: [B] }], [A, B]],
	['words with an address', `see ${F}`, []],
	['a number', 7, []],
	['21 lists', JSON.parse(`${'['.repeat(21)}"${F}"${']'.repeat(21)}`), [F]],
	['more of them', JSON.parse(`${'['.repeat(22)}"${F}"${']'.repeat(22)}`), []],
])('addresses of a request: %s', (_name, request, expected) => {
	expect(addressesIn(request)).toEqual(expected);
});
