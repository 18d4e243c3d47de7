/** "From List": what the editor gets to show, and what it says where the service has no list. */
import type { NodeApiError } from 'n8n-workflow';
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

describe('voices', () => {
	test('what was typed can’t change the address', async () => {
		await list('searchVoices', { filter: 'a&page=9 ü#' });
		expect(asked()[0]).toBe(
			'/v3/voices?provider=elevenlabs&search=a%26page%3D9+%C3%BC%23&page=1&page_size=100',
		);
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
});

describe('models', () => {
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
	test('a service that is down', async () => {
		setting.service.faults.add({ route: 'list', action: { type: 'status', status: 500 } });
		const { message, description } = await refusal('searchImageModels');
		expect(message).toMatch(/^The list of image models could not be read: HTTP 500/);
		expect(description).toMatch(/^Try again in a while\. Or: Choose By ID /);
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
