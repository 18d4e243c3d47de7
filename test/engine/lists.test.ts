/** "From List": what the editor gets to show, and what it says where the service has no list. */
import type { INodeListSearchResult, NodeApiError } from 'n8n-workflow';
import { listOf, type ListRequest } from './editor';
import { engineSetting } from './setting';

const setting = engineSetting();

type Options = Omit<ListRequest, 'credentials'> & {
	credentials?: Partial<ListRequest['credentials']>;
};

async function list(name: string, { credentials, ...options }: Options = {}) {
	const { apiKey, baseUrl } = setting.service;
	return await listOf(name, { ...options, credentials: { apiKey, baseUrl, ...credentials } });
}

/** All pages of a list, as the editor scrolls through them. */
async function all(name: string, filter?: string): Promise<INodeListSearchResult['results'][]> {
	const pages: INodeListSearchResult['results'][] = [];
	let paginationToken: string | undefined;
	do {
		const page = await list(name, { filter, paginationToken });
		pages.push(page.results);
		({ paginationToken } = page);
	} while (paginationToken !== undefined);
	return pages;
}

async function refusal(name: string, options?: Options): Promise<NodeApiError> {
	const refused: unknown = await list(name, options).then(
		() => new Error('The list was not refused'),
		(error: unknown) => error,
	);
	expect((refused as Error).name).toBe('NodeApiError');
	return refused as NodeApiError;
}

const asked = () =>
	setting.service.requests.filter(({ route }) => route === 'list').map(({ url }) => url);
const without = (...names: Array<'voicesV3' | 'voicesV2' | 'voicesV1'>) => {
	for (const name of names) setting.service.settings.lists[name] = false;
};

describe('voices', () => {
	test.each([
		['/v3/voices', []],
		['/v2/voices', ['voicesV3']],
		['/v1/voices', ['voicesV3', 'voicesV2']],
	] as const)('by %s: all of them, page by page, each once', async (path, missing) => {
		without(...missing);
		const pages = await all('searchVoices');
		expect(pages.map((page) => page.length > 0 && page.length <= 100)).toEqual([true, true, true]);
		const voices = pages.flat();
		expect(voices).toHaveLength(250);
		expect(new Set(voices.map(({ value }) => value)).size).toBe(250);
		expect(voices[0]).toEqual({ value: 'voice-00001', name: 'Voice 1 (English, female)' });
		expect(asked().at(-1)).toContain(path);
		expect(setting.service.creations()).toHaveLength(0);
	});

	test.each([
		['/v3/voices', []],
		['/v2/voices', ['voicesV3']],
		['/v1/voices', ['voicesV3', 'voicesV2']],
	] as const)('by %s: searched', async (path, missing) => {
		without(...missing);
		const pages = await all('searchVoices', ' german ');
		expect(pages.flat()).toHaveLength(63);
		expect(pages[0]?.[0]).toEqual({ value: 'voice-00002', name: 'Voice 2 (German, male)' });
		expect(await all('searchVoices', 'voice-00123')).toEqual([
			[{ value: 'voice-00123', name: 'Voice 123 (Spanish, female)' }],
		]);
		expect(asked().at(-1)).toContain(path);
	});

	test('what was typed can’t change the address', async () => {
		await list('searchVoices', { filter: 'a&page=9 ü#' });
		expect(asked()[0]).toBe(
			'/v3/voices?provider=elevenlabs&search=a%26page%3D9+%C3%BC%23&page=1&page_size=100',
		);
	});

	test('nothing that fits is an empty list, not an error', async () => {
		expect(await list('searchVoices', { filter: 'nobody' })).toEqual({ results: [] });
	});

	test('a picked voice speaks', async () => {
		const { results } = await list('searchVoices', { filter: 'Voice 7 ' });
		const [{ value, name } = { value: '', name: '' }] = results;
		await setting.run({
			parameters: {
				resource: 'speech',
				operation: 'generateByVoiceId',
				voiceId: { __rl: true, mode: 'list', value, cachedResultName: name },
				text: 'Hello',
				downloadOutput: false,
			},
		});
		expect(setting.service.creations()[0]?.params.voice_id).toBe('voice-00007');
	});

	test('a service that gives the same page for ever, or a page of nothing, comes to an end', async () => {
		const data = [{ voice_id: 'a' }, { voice_id: 'a' }, {}, 7, null];
		setting.service.faults.add({
			path: '/v3/voices',
			action: {
				type: 'status',
				status: 200,
				body: { data, pagination: { has_more: true } },
			},
		});
		const first = await list('searchVoices');
		expect(first.results.map(({ value }) => value)).toEqual(['a', '7']);
		const { results, paginationToken } = first;
		expect(results).toHaveLength(2);
		const next = await list('searchVoices', { paginationToken });
		expect(next).toEqual({ results: [] });
		expect(asked().length).toBeLessThan(10);
	});

	test.each(['nonsense', '{}', '{"route":"v3"}', '[1]', '{"route":7,"cursor":{},"seen":3}'])(
		'a token that is none (%s) begins at the beginning',
		async (paginationToken) => {
			const { results } = await list('searchVoices', { paginationToken });
			expect(results[0]?.value).toBe('voice-00001');
		},
	);
});

describe('models', () => {
	test('of speech: only those that speak', async () => {
		expect(await list('searchSpeechModels')).toEqual({
			results: [
				{ value: 'eleven_v3', name: 'Eleven v3' },
				{ value: 'eleven_multilingual_v2', name: 'Eleven Multilingual v2' },
			],
		});
		expect((await list('searchSpeechModels', { filter: 'MULTI' })).results).toHaveLength(1);
	});

	test('of images: with what they can do', async () => {
		expect(await list('searchImageModels')).toEqual({
			results: [
				{
					value: 'image-1',
					name: 'image-1',
					description: 'Up to 4 images; 1:1, 16:9; 1K, 2K',
				},
				{ value: 'image-2', name: 'image-2', description: 'One image' },
			],
		});
		expect((await list('searchImageModels', { filter: '16:9' })).results).toHaveLength(1);
	});
});

describe('without a list the editor says what to do', () => {
	test.each([
		['searchVoices', 'voices'],
		['searchSpeechModels', 'speech models'],
		['searchImageModels', 'image models'],
	])('%s', async (name, what) => {
		Object.assign(setting.service.settings.lists, {
			voicesV3: false,
			voicesV2: false,
			voicesV1: false,
			speechModels: false,
			imageModels: false,
		});
		const { message, description, httpCode } = await refusal(name);
		expect(message).toBe(`The service publishes no list of ${what}`);
		expect(description).toBe('Choose By ID and enter the ID as the service shows it.');
		expect(httpCode).toBeNull();
		expect(asked()).toHaveLength(name === 'searchVoices' ? 3 : 1);
	});

	test.each([
		['an empty list', { status: 200, body: { models: [] } }],
		['a refusal inside 200', { status: 200, body: { success: false, error: 'not for you' } }],
		['a page in HTML', { status: 200, body: '<!DOCTYPE html><title>Home</title>' }],
		['a text', { status: 200, body: { models: 'all' } }],
		['403', { status: 403 }],
		['405', { status: 405 }],
	])('%s counts as none', async (_, answer) => {
		setting.service.faults.add({ route: 'list', action: { type: 'status', ...answer } });
		expect((await refusal('searchImageModels')).message).toBe(
			'The service publishes no list of image models',
		);
	});

	test('a refused key', async () => {
		const { message, description, httpCode } = await refusal('searchVoices', {
			credentials: { apiKey: 'sk_wrong' },
		});
		expect(message).toBe('The list of voices could not be read: HTTP 401: Invalid API key');
		expect(description).toMatch(/^Check the API key .* Or: Choose By ID /);
		expect(httpCode).toBe('401');
	});

	test('a service that is down', async () => {
		setting.service.faults.add({ route: 'list', action: { type: 'status', status: 500 } });
		const { message, description } = await refusal('searchImageModels');
		expect(message).toMatch(/^The list of image models could not be read: HTTP 500/);
		expect(description).toMatch(/^Try again in a while\. Or: Choose By ID /);
	});

	test('a credential that can’t be used, or is not there', async () => {
		const bad = await refusal('searchVoices', { credentials: { baseUrl: 'nowhere' } });
		expect(bad.message).toMatch(/Base URL of the credential is not a URL/);
		expect(bad.description).toMatch(/^Open the Media Generation API credential/);
		const none = await refusal('searchVoices', { withCredential: false });
		expect(none.message).toMatch(/^The list of voices could not be read: /);
		expect(none.description).toMatch(/^Select a Media Generation API credential/);
		expect(setting.service.requests).toHaveLength(0);
	});

	test('no message holds the key', async () => {
		const { apiKey } = setting.service;
		setting.service.faults.add({
			route: 'list',
			action: { type: 'status', status: 401, body: { success: false, error: `not ${apiKey}` } },
		});
		expect(JSON.stringify(await refusal('searchVoices'))).not.toContain(apiKey);
	});
});
