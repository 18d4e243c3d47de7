import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FaultAction } from '../service';
import { inSharedContext, type TestContext } from './harness/context';
import type { Execution } from './harness/execution';
import { base, start } from './harness/nodes';

/** The credential in n8n's own hands: its "Test" button, and its HTTP Request node. */
describe('credential', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	async function test() {
		const { rest, credential, service } = context;
		const { apiKey, baseUrl } = service;
		return await rest.testCredential(credential, { apiKey, baseUrl });
	}

	it('is good where the service shows the credits', async () => {
		assert.deepEqual(await test(), { status: 'OK', message: 'Connection successful!' });
	});

	const redirect: FaultAction = { type: 'redirect', to: '{other}/v1/credits' };
	const answers: Array<[string, FaultAction, RegExp]> = [
		['401', { type: 'status', status: 401 }, /does not accept this API key/],
		['a redirect', redirect, /redirects to another address/],
	];
	for (const [name, action, words] of answers)
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

	/** The HTTP Request node with these options and this credential; what it sent to the service. */
	async function request(options: object): Promise<[Execution, typeof context.service.requests]> {
		const { rest, service } = context;
		const before = service.requests.length;
		const node = base('Request', ['httpRequest', 4.2], {
			url: `${service.baseUrl}/v1/credits`,
			options,
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'mediaGenerationApi',
		});
		const execution = await rest.run(await context.save([start(), node]), 'Start');
		return [execution, service.requests.slice(before)];
	}
	const pages = (how: object) => ({
		pagination: { pagination: { ...how, limitPagesFetched: true, maxRequests: 2 } },
	});

	it('goes with the HTTP Request node to each page of the service', async () => {
		const parameters = { parameters: [{ name: 'page', value: '={{ $pageCount }}' }] };
		const completeExpression = '={{ $pageCount >= 1 }}';
		const paginationCompleteWhen = 'other';
		const [execution, sent] = await request(
			pages({ parameters, paginationCompleteWhen, completeExpression }),
		);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.ok(sent.length > 0);
		const { apiKey } = context.service;
		for (const { headers } of sent) assert.equal(headers.authorization, `Bearer ${apiKey}`);
	});

	it('follows no redirect', async () => {
		const { faults } = context.service;
		const fault = faults.add({ route: 'credits', action: redirect });
		const [, sent] = await request({});
		faults.remove(fault);
		assert.deepEqual(
			sent.map(({ host }) => host),
			['api'],
		);
	});

	const elsewhere = 'http://127.0.0.1:9';
	const next = { paginationMode: 'responseContainsNextURL', nextURL: elsewhere };
	const refused: Array<[string, object, RegExp]> = [
		['through a proxy', { proxy: elsewhere }, /the option "proxy"/],
		['to a page that lies elsewhere', pages(next), /it goes to http:\/\/127/],
	];
	for (const [name, options, words] of refused)
		it(`does not go ${name}, and says so`, async () => {
			const [execution, sent] = await request(options);
			assert.equal(execution.status, 'error');
			assert.match(execution.resultData.error?.message ?? '', words);
			assert.ok(!JSON.stringify(execution).includes(context.service.apiKey));
			assert.ok(sent.every(({ host }) => host === 'api'));
		});
});
