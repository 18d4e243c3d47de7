/** Addresses of a finished task: what is in no example of test/answers. */
import { addressesIn } from '../../nodes/MediaGeneration/answers/verdict';
import { outputsOf, resolved } from '../../nodes/MediaGeneration/answers/outputs';
import { taskOf } from './itemSettings';

const F = 'https://files.example';

/** The files of a task: their paths, and the kind of each. */
function outputs(metadata: unknown) {
	return outputsOf(taskOf({ metadata })).map(
		({ url, kind }) => `${url.slice(F.length + 1)} ${kind}`,
	);
}
const A = `${F}/a`;

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

test('of what names more addresses than any task has, a thousand are looked at', () => {
	const many = Array.from({ length: 9_000 }, (_, index) => `${F}/${index}`);
	const fields = Object.fromEntries(many.map((url) => [url, { audio_url: url }]));
	expect(outputs({ all_audio_urls: many })).toHaveLength(1_000);
	expect(outputs(fields)).toHaveLength(1_000);
	expect(outputs({ audio_url: A, lists: many.map((url) => ({ audio_url: url })) })).toContain(
		'a audio',
	);
});

test.each([
	['audio', 'transcript', 'audio'],
	['transcript', 'audio', 'transcript'],
	['audio', 'image', 'image'],
])('a file that is called %s outside and %s within is %s', (outside, within, kind) => {
	const found = outputs({ [`${outside}_url`]: A, more: { [`${within}_url`]: A } });
	expect(found).toEqual([`a ${kind}`]);
});

test('an address that is longer than any is none', () => {
	const found = [7_900, 8_000].map((length) =>
		outputs({ audio_url: `${F}/${'x'.repeat(length)}` }),
	);
	expect(found.map(({ length }) => length)).toEqual([1, 0]);
});

test('however many fields a task has, few are looked at, and none with a very long name', () => {
	let looks = 0;
	const field = { enumerable: true, get: () => (looks += 1) };
	const names = Array.from({ length: 900 }, (_, index) => `audio_${index}`);
	const wide = () =>
		Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, field])));
	outputs(Object.fromEntries(names.map((name) => [name, wide()])));
	expect(looks).toBeLessThan(2_000);
	expect(outputs({ [`${'a'.repeat(200)}_url`]: `${F}/a.mp3` })).toEqual([]);
});

test('a request is searched for addresses 21 levels deep', () => {
	expect(addressesIn([{ a: A, b: [`see ${A}`, 7, 'http://a.example'] }])).toEqual([
		A,
		'http://a.example',
	]);
	const nested = (lists: number): unknown => (lists === 0 ? A : [nested(lists - 1)]);
	expect([21, 22].map((lists) => addressesIn(nested(lists)))).toEqual([[A], []]);
});
