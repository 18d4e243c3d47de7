import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { FaultAction } from '../service';
import { sharedContext, type TestContext } from './harness/context';
import { items, type Execution } from './harness/execution';

/** The credential in n8n's own hands: its "Test" button, and its HTTP Request node. */
describe('credential', () => {
	let context: TestContext;

	before(async () => {
		context = await sharedContext();
	});

	async function test(data: Record<string, unknown> = {}) {
		const { rest, credential, service } = context;
		const { apiKey, baseUrl } = service;
		return await rest.testCredential(credential, { apiKey, baseUrl, ...data });
	}

	it('is good where the service shows the credits, in any shape', async () => {
		const { settings } = context.service;
		for (const shape of ['root', 'data', 'string'] as const) {
			settings.creditsShape = shape;
			assert.deepEqual(await test(), { status: 'OK', message: 'Connection successful!' });
		}
		settings.creditsShape = 'root';
	});

	const webPage = /is a web page or something else that is not this service/;
	const answers: Array<[string, FaultAction, RegExp]> = [
		[
			'a refusal within 200',
			{ type: 'status', status: 200, body: { success: false, error: 'no' } },
			/refuses to show the credits of this API key/,
		],
		['a web page', { type: 'html' }, webPage],
		['nothing', { type: 'emptyBody' }, webPage],
		['broken JSON', { type: 'malformedJson' }, webPage],
		['401', { type: 'status', status: 401 }, /does not accept this API key/],
		['404', { type: 'status', status: 404 }, /no such service at the Base URL/],
		['a redirect', { type: 'redirect', to: '{other}/v1/credits' }, /leads on to another address/],
	];
	for (const [name, action, words] of answers) {
		it(`is not good where the service answers ${name}`, async () => {
			const { service } = context;
			const before = service.requests.length;
			const fault = service.faults.add({ route: 'credits', action });
			const { status, message } = await test();
			service.faults.remove(fault);
			assert.equal(status, 'Error');
			assert.match(message, words);
			assert.ok(!message.includes(service.apiKey));
			assert.ok(service.requests.slice(before).every(({ host }) => host === 'api'));
		});
	}

	it('is refused with a secret that could be guessed', async () => {
		const before = context.service.requests.length;
		const { status, message } = await test({ callbackSecret: 'task' });
		assert.equal(status, 'Error');
		assert.match(message, /Callback Secret .* shorter than 16 characters/);
		assert.equal(context.service.requests.length, before);
	});

	it('sends the key in the header that it names', async () => {
		const { service } = context;
		await test({ keyHeader: 'xi-api-key' });
		const headers = service.requests.at(-1)?.headers ?? {};
		assert.equal(headers['xi-api-key'], service.apiKey);
		assert.equal(headers.authorization, undefined);
	});

	async function request(url: string): Promise<Execution> {
		const workflow = await context.addWorkflow('http-request', { URL: url });
		return await context.rest.waitForExecution(await context.rest.runManually(workflow, 'Start'));
	}

	it('serves the HTTP Request node for addresses under the base URL', async () => {
		const { service } = context;
		const execution = await request(`${service.baseUrl}/v1/credits`);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(items(execution, 'Request')[0]?.json.credits, service.settings.credits);
	});

	it('gives the HTTP Request node no key for other addresses', async () => {
		const { service } = context;
		const before = service.requests.length;
		const execution = await request(`${service.otherUrl}/v1/credits`);
		assert.equal(execution.status, 'error');
		assert.match(
			execution.resultData.error?.message ?? '',
			/The API key was not added to the request: it goes to /,
		);
		assert.equal(service.requests.length, before);
	});

	it('lets the HTTP Request node follow no redirect with the key', async () => {
		const { service } = context;
		const before = service.requests.length;
		service.faults.add({
			route: 'credits',
			times: 1,
			action: { type: 'redirect', to: '{other}/v1/credits' },
		});
		await request(`${service.baseUrl}/v1/credits`);
		assert.deepEqual(
			service.requests.slice(before).map(({ host, status }) => [host, status]),
			[['api', 302]],
		);
	});
});
