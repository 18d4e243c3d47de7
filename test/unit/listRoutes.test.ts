/** Which routes are asked for a list, page by page, and what is read of their answers (docs/service.md, "More routes"). */
import { pageIn, type ListRoute } from '../../nodes/MediaGeneration/actions/lists';
import { models } from '../../nodes/MediaGeneration/actions/model';
import { voicesOf } from '../../nodes/MediaGeneration/actions/voice';

const [[v3], [v1]] = voicesOf().routes as unknown as [[ListRoute], [ListRoute]];
const [[speechModels]] = models.speech.routes as unknown as [[ListRoute]];
const [[imageModels]] = models.image.routes as unknown as [[ListRoute]];

test.each<[string, ListRoute, string, string | undefined, string]>([
	['v3', v3, 'a&b', '2', '/v3/voices?provider=elevenlabs&search=a%26b&page=2&page_size=100'],
	['speech models', speechModels, 'a', '2', '/v1/models'],
	['image models', imageModels, 'a', '2', '/v1i/models'],
])('%s is asked at its address', (_, route, search, cursor, path) => {
	expect(route.path(search, cursor)).toBe(path);
});

const found = [{ value: 'a', name: 'a' }];
test.each<[unknown, unknown]>([
	[['a'], found],
	[{ data: ['a'] }, found],
	[{ items: ['a'] }, found],
	[{ data: { success: true }, voices: ['a'] }, found],
	[{ data: [] }, []],
	[{ data: 'a' }, undefined],
	[{ success: false }, undefined],
])('where the records are: %j', (body, entries) => {
	for (const route of [v3, v1]) {
		const page = pageIn(body, route, undefined);
		expect(page?.entries.map(({ record: _, ...shown }) => shown)).toEqual(entries);
	}
});

type Entry = [value: string, name: string, description?: string];
const entriesOf = (route: ListRoute, record: unknown) =>
	pageIn([record], route, undefined)?.entries.map(({ value, name, description }) =>
		!description ? [value, name] : [value, name, description],
	);

const of = { language: 'English', accent: 'Irish', gender: 'female' };
test.each<[unknown, Entry[]]>([
	[{ voice_id: '', id: 7, name: 'Seven' }, [['7', 'Seven']]],
	['a', [['a', 'a']]],
	[{ name: 'nobody' }, []],
	[null, []],
	[{ id: 'a', name: 'Ann', ...of }, [['a', 'Ann (English, Irish, female)']]],
	[{ id: 'a', labels: of }, [['a', 'a (English, Irish, female)']]],
	[{ id: 'a', labels: 'x', description: 'Warm' }, [['a', 'a', 'Warm']]],
])('the voice %j', (record, entries) => {
	expect(entriesOf(v1, record)).toEqual(entries);
});

describe('models', () => {
	const ratios = { aspect_ratios: ['1:1', '16:9'], resolutions: ['1K', 2] };
	const all = { id: 'm', description: 'Fast', max_generations: '4', ...ratios };
	test.each<[unknown, Entry[]]>([
		[{ model_id: 'm', id: 'n' }, [['m', 'm']]],
		[{ id: 'm', name: 'M' }, [['m', 'M']]],
		[{ name: 'M' }, []],
		[{ id: 'm', max_generations: 4 }, [['m', 'm', 'Up to 4 images']]],
		[{ id: 'm', max_generations: 1 }, [['m', 'm', 'One image']]],
		[all, [['m', 'm', 'Fast. Up to 4 images; 1:1, 16:9; 1K, 2']]],
		[{ id: 'm', aspect_ratios: 'any', resolutions: ['1K', {}] }, [['m', 'm', '1K']]],
	])('%j', (record, entries) => {
		expect(entriesOf(imageModels, record)).toEqual(entries);
	});

	test('of speech: only those that speak', () => {
		const body = [
			{ model_id: 'a', can_do_text_to_speech: true },
			{ model_id: 'b', can_do_text_to_speech: false },
			{ model_id: 'c' },
		];
		const values = (route: ListRoute) =>
			pageIn(body, route, undefined)?.entries.map(({ value }) => value);
		expect(values(speechModels)).toEqual(['a', 'c']);
		expect(values(imageModels)).toEqual(['a', 'b', 'c']);
		expect(pageIn({}, speechModels, undefined)).toBeUndefined();
	});
});
