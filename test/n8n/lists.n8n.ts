import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { RestError } from './harness/rest';

interface Page {
	results: Array<{ name: string; value: string }>;
	paginationToken?: string;
}

/** What the editor asks n8n's server for when somebody opens a list, and what it gets to show where there is none. */
describe('lists', () => {
	let context: TestContext;
	before(async () => {
		context = await sharedContext();
	});

	async function list(
		methodName: string,
		more: { filter?: string; paginationToken?: string } = {},
	): Promise<Page> {
		const { id, name } = context.credential;
		return await context.rest.request('POST', '/dynamic-node-parameters/resource-locator-results', {
			nodeTypeAndVersion: { name: 'n8n-nodes-media-generation.mediaGeneration', version: 1 },
			path: 'parameters.voiceId',
			methodName,
			currentNodeParameters: { resource: 'speech', operation: 'generateByVoiceId' },
			credentials: { mediaGenerationApi: { id, name } },
			...more,
		});
	}

	it('of voices: page by page, and searched', async () => {
		const first = await list('searchVoices');
		assert.equal(first.results.length, 100);
		const second = await list('searchVoices', { paginationToken: first.paginationToken });
		const values = [...first.results, ...second.results].map(({ value }) => value);
		assert.equal(new Set(values).size, values.length);
		const { results } = await list('searchVoices', { filter: 'voice-00123' });
		assert.deepEqual(
			results.map(({ value }) => value),
			['voice-00123'],
		);
	});

	it('that the service does not publish: the editor is told what to do instead', async () => {
		context.service.settings.lists.imageModels = false;
		const refused = await list('searchImageModels').then(
			() => undefined,
			(error: unknown) => error,
		);
		context.service.reset();
		assert.ok(refused instanceof RestError);
		const body = JSON.parse(refused.body) as Record<string, unknown>;
		// The editor shows the description of an error of this name only.
		assert.equal(body.name, 'NodeApiError');
		assert.equal(body.message, 'The service publishes no list of image models');
		assert.equal(body.description, 'Choose By ID and enter the ID as the service shows it.');
		assert.ok(!refused.body.includes(context.service.apiKey));
	});
});
