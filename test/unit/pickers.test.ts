/** "From List": what the editor gets to show page by page, and what it says where there is no list. */
import type { ILoadOptionsFunctions, NodeApiError } from 'n8n-workflow';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { imageLimits } from '../../nodes/MediaGeneration/actions/model';
import type { ListName } from '../../nodes/MediaGeneration/actions/ui';
import type { ServiceClient } from '../../nodes/MediaGeneration/transport/client';
import { onMachine } from '../support/machine';
import '../../nodes/MediaGeneration/methods/listSearch';
import { runNode, type Answer } from '../model/node';
import { fakeN8n } from '../support/n8n';

const BY_ID = 'Or choose By ID and enter it as the service shows it.';

interface Given {
	filter?: string;
	token?: string;
	credential?: object | Error;
	/** The field "Model" of the node. */
	model?: unknown;
	/** What the service answers; nothing is 404. @param count how many requests came before */
	answer?: (path: string, count: number) => Answer | undefined;
}

const node = new MediaGeneration();
let accounts = 0;

/** One question of the editor. */
async function ask(name: ListName, given: Given = {}) {
	const { filter, token, credential = {}, model, answer } = given;
	accounts += 1;
	const baseUrl = `https://lists-${accounts}.example`;
	const { context, sent } = fakeN8n<ILoadOptionsFunctions>({
		own: { getCurrentNodeParameter: (name: string) => (name === 'modelId' ? model : undefined) },
		credential: credential instanceof Error ? credential : { baseUrl, ...credential },
		service({ url }, count) {
			const found = answer?.(url.slice(baseUrl.length), count - 1) ?? { status: 404, body: {} };
			return { ...found, statusCode: found.status ?? 200 };
		},
	});
	const search = node.methods.listSearch[name];
	let error: NodeApiError | undefined;
	const found = await onMachine(async () => await search.call(context, filter, token)).catch(
		(thrown: unknown) => {
			error = thrown as NodeApiError;
		},
	);
	const asked = sent.map(({ url }) => url.slice(baseUrl.length));
	return { found: found ?? undefined, error, asked };
}

const numbered = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ id: `v${index}` }));
const valuesOf = (found: { results: Array<{ value: unknown }> } | undefined) =>
	found?.results.map(({ value }) => value);
const only =
	(route: string, body: (path: string) => unknown): Given['answer'] =>
	(path) =>
		path.startsWith(route) ? { body: body(path) } : undefined;

/** What the voices show, page by page, and which routes were asked for each. */
async function allPages(answer: Given['answer']) {
	const [values, routes]: [unknown[][], unknown[][]] = [[], []];
	let token: string | undefined;
	do {
		const { found, asked } = await ask('searchVoices', { answer, ...(token && { token }) });
		values.push(valuesOf(found) ?? []);
		routes.push([...new Set(asked.map((path) => path.split('?')[0]))]);
		token = found?.paginationToken;
	} while (token !== undefined);
	return { values, routes };
}

describe('a list that comes as a whole', () => {
	const voices = only('/v1/voices', () => ({ voices: numbered(250) }));

	test('is shown at once, and the newer routes are asked first', async () => {
		const { values, routes } = await allPages(voices);
		expect(values).toEqual([numbered(250).map(({ id }) => id)]);
		expect(routes).toEqual([['/v3/voices', '/v1/voices']]);
	});

	test.each([
		[' irish ', ['a1', 'b2']],
		['male', ['b2']],
	])('is searched for %j in all that is shown', async (filter, expected) => {
		const { found } = await ask('searchVoices', {
			filter,
			answer: only('/v1/voices', () => [
				{ id: 'a1', name: 'Ann', accent: 'Irish', gender: 'female' },
				{ id: 'b2', name: 'Bob', accent: 'irish', gender: 'male' },
				{ id: 'c3', name: 'Cy' },
			]),
		});
		expect(valuesOf(found)).toEqual(expected);
	});
});

test('the list has the voices of all providers, by IDs that name them, one after the other', async () => {
	const answer = only('/v3/voices', (path) => {
		const { searchParams } = new URL(path, 'https://x.example');
		const [provider, page] = [searchParams.get('provider'), Number(searchParams.get('page'))];
		const data = provider === 'kokoro' ? [] : [{ voice_id: `${provider}_${page}` }];
		return { data, pagination: { has_more: provider === 'elevenlabs' && page < 2 } };
	});
	expect((await allPages(answer)).values.flat()).toEqual([
		...['elevenlabs_1', 'elevenlabs_2', 'minimax_1', 'edge_1'],
		...['vbee_1', 'fishaudio_1', 'clone_1'],
	]);
});

test('Voice: Get Many has each voice once, however a service repeats itself, and asks no older route then', async () => {
	const { json, requests } = await runNode({
		parameters: { resource: 'voice', operation: 'getAll', returnAll: true, filters: {} },
		answer: ({ url }) => ({
			body: url.includes('/v3/')
				? { data: [{ id: 'a' }], pagination: { has_more: true } }
				: [{ id: 'b' }],
		}),
	});
	expect(json).toMatchObject([{ voice_id: 'a' }]);
	expect(requests).toHaveLength(1 + 7);
});

describe('where there is no list', () => {
	test.each<[ListName, string, number]>([
		['searchVoices', 'voices', 8],
		['searchSpeechModels', 'speech models', 1],
		['searchImageModels', 'image models', 1],
	])('%s: the editor says so after all routes', async (name, what, times) => {
		const { error, asked } = await ask(name, { filter: 'x' });
		expect(error?.name).toBe('NodeApiError');
		expect(error?.message).toBe(`The service publishes no list of ${what}`);
		expect(error?.description).toBe(
			`Look up the IDs in its documentation or on its website. ${BY_ID}`,
		);
		expect(error?.httpCode).toBeNull();
		expect(asked).toHaveLength(times);
	});

	test('an empty list counts as none', async () => {
		const { error } = await ask('searchImageModels', { answer: () => ({ body: { models: [] } }) });
		expect(error?.message).toBe('The service publishes no list of image models');
	});

	test('nothing that fits a search is an answer, and so is a last page of nothing', async () => {
		const none = { answer: () => ({ body: [] }) };
		expect((await ask('searchVoices', { ...none, filter: 'x' })).found).toEqual({ results: [] });
		const token = '{"route":6,"page":9}';
		const beyond = await ask('searchVoices', { ...none, token });
		expect(beyond.found).toEqual({ results: [] });
		expect(beyond.asked).toHaveLength(1);
		expect((await ask('searchVoices', { ...none, filter: '  ' })).error?.message).toMatch(
			/no list/,
		);
	});
});

describe('a list that can not be read', () => {
	test('says why, and what to do', async () => {
		const { error } = await ask('searchVoices', { answer: () => ({ status: 401, body: {} }) });
		expect(error?.name).toBe('NodeApiError');
		expect(error?.message).toMatch(/^The list of voices could not be read: HTTP 401/);
		expect(error?.description).toMatch(/^Check the API key in the credential.* Or choose By ID/);
		expect(error?.httpCode).toBe('401');
	});

	test('a credential that is not there', async () => {
		const { error } = await ask('searchVoices', { credential: new Error('none is set') });
		expect(error?.message).toBe('The credential could not be read: none is set');
		expect(error?.description).toMatch(
			/^Select a Media Generation API credential.* Or choose By ID/,
		);
		expect(error?.httpCode).toBeNull();
	});
});

test('a list that may be left out begins with "Service Default", on its first page and without a search', async () => {
	const answer = only('/v1/models', () => [{ model_id: 'm1' }]);
	const { found } = await ask('searchSpeechModels', { answer });
	expect(found?.results.map(({ name, value }) => [name, value])).toEqual([
		['Service Default', ''],
		['m1', 'm1'],
	]);
	const searched = await ask('searchSpeechModels', { answer, filter: 'm' });
	expect(valuesOf(searched.found)).toEqual(['m1']);
});

describe('what an image model accepts', () => {
	const models = [
		{ model_id: 'a', aspect_ratios: ['1:1', '16:9'], resolutions: ['1K', 2] },
		{ id: 'b', aspect_ratios: ['16:9', '2:3', null], resolutions: 'any' },
		{ model_id: 'c', aspect_ratios: [] },
	];
	const answer = only('/v1i/models', () => ({ models }));
	const byId = (value: string) => ({ __rl: true, mode: 'id', value });

	test.each<[list: ListName, model: unknown, values: string[]]>([
		['searchAspectRatios', byId(' a '), ['1:1', '16:9']],
		['searchAspectRatios', 'b', ['16:9', '2:3']],
		['searchAspectRatios', byId(''), ['1:1', '16:9', '2:3']],
		['searchAspectRatios', '={{ $json.model }}', ['1:1', '16:9', '2:3']],
		['searchResolutions', byId('a'), ['1K', '2']],
		['searchResolutions', byId('b'), ['any']],
	])('%s of %j', async (list, model, values) => {
		const { found, asked } = await ask(list, { model, answer });
		expect(valuesOf(found)).toEqual(['', ...values]);
		expect(asked).toEqual(['/v1i/models']);
	});

	test.each<[list: ListName, model: string, answer: Given['answer'], what: string]>([
		['searchAspectRatios', 'c', answer, 'aspect ratios for this model'],
		['searchResolutions', 'new', answer, 'resolutions for this model'],
		['searchResolutions', '', () => undefined, 'resolutions'],
	])('%s of %j: none, in words', async (list, model, given, what) => {
		const { error } = await ask(list, { model, answer: given });
		expect(error?.message).toBe(`The service publishes no list of ${what}`);
		expect(error?.description).toBe(`Leave the field empty if the model accepts none. ${BY_ID}`);
	});
});

test('the limits of the models, a mere hint, are not waited for during a pause', async () => {
	const [account, send] = [{ pausedUntil: () => Date.now() + 30_000 }, jest.fn()];
	const client = { account, send } as unknown as ServiceClient;
	expect(await imageLimits({ client, signal: undefined })).toEqual(new Map());
	expect(send).not.toHaveBeenCalled();
});

test('an entry is shown with what the service says of it', async () => {
	const voice = { id: 'a', name: 'Ann', language: 'English', description: 'Warm' };
	const answer = only('/v1/voices', () => [
		{ ...voice, preview_url: 'https://files.example/a.mp3' },
		{ id: 'b' },
	]);
	expect((await ask('searchVoices', { answer })).found?.results).toEqual([
		{ value: 'a', name: 'Ann (English)', description: 'Warm', url: 'https://files.example/a.mp3' },
		{ value: 'b', name: 'b' },
	]);
});

test('a route that may not exist is asked once, also where the service refuses inside 200', async () => {
	const { error, asked } = await ask('searchVoices', {
		answer: (path) => (path.startsWith('/v3/') ? { body: { success: false } } : undefined),
	});
	expect(asked).toHaveLength(8);
	expect(error?.message).toMatch(/publishes no list of voices/);
});

test('a key that a list or its error requestAddresses is shown nowhere', async () => {
	const apiKey = 'sk_0123456789abcdef';
	const escaped = [...apiKey].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('');
	const voices = [{ id: 'a', name: `of ${escaped}`, description: apiKey }];
	const { found } = await ask('searchVoices', {
		credential: { apiKey },
		answer: only('/v1/voices', () => voices),
	});
	const { error } = await ask('searchVoices', {
		credential: { apiKey },
		answer: () => ({ status: 401, body: { message: `<b>${escaped}` } }),
	});
	expect(found?.results).toEqual([{ value: 'a', name: 'of sk_***', description: 'sk_***' }]);
	expect(error?.message).toMatch(/sk_\*\*\*/);
	expect(`${error?.message} ${error?.description} ${error?.stack}`).not.toMatch(/%73|<b>/);
});

test('a search goes to the newest route as it is', async () => {
	const { asked } = await ask('searchVoices', { filter: 'a&b' });
	expect(asked[0]).toBe('/v3/voices?provider=elevenlabs&search=a%26b&page=1&page_size=100');
});
