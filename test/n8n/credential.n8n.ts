import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FaultAction } from '../service';
import { inSharedContext, type TestContext } from './harness/context';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Execution } from './harness/execution';
import { base, start } from './harness/nodes';

/** The credential in n8n's own hands: its "Test" button, and its HTTP Request node. */
describe('credential', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	async function test(data: Record<string, unknown> = {}) {
		const { rest, credential, service } = context;
		const { apiKey, baseUrl } = service;
		return await rest.testCredential(credential, { apiKey, baseUrl, ...data });
	}

	it('is good where the service shows the credits, in any shape', async () => {
		const { faults } = context.service;
		const shapes = [{ credits: 7 }, { success: true, data: { credits: 7 } }, { credits: '7' }];
		for (const body of shapes) {
			const fault = faults.add({ route: 'credits', action: { type: 'notObject', body } });
			assert.deepEqual(await test(), { status: 'OK', message: 'Connection successful!' });
			faults.remove(fault);
		}
	});

	const webPage = /does not lead to this service, but to a web page or something else/;
	const answers: Array<[string, FaultAction, RegExp]> = [
		['a web page', { type: 'html' }, webPage],
		['401', { type: 'status', status: 401 }, /does not accept this API key/],
		['a redirect', { type: 'redirect', to: '{other}/v1/credits' }, /redirects to another address/],
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

	/** The HTTP Request node with these parameters besides its address and this credential. */
	async function requestWith(parameters: object): Promise<Execution> {
		const { rest, service } = context;
		const request = base('Request', ['httpRequest', 4.2], {
			...{ url: `${service.baseUrl}/v1/credits`, options: {}, ...parameters },
			...{ authentication: 'predefinedCredentialType', nodeCredentialType: 'mediaGenerationApi' },
		});
		return await rest.run(await context.save([start(), request]), 'Start');
	}
	const header = (name: string, value: string) => ({
		sendHeaders: true,
		headerParameters: { parameters: [{ name, value }] },
	});

	describe("with the HTTP Request node's options", () => {
		let proxy: Server;
		const proxied: unknown[] = [];

		before(async () => {
			proxy = createServer((incoming, outgoing) => {
				proxied.push([incoming.url, incoming.headers]);
				outgoing.end('{}');
			});
			proxy.on('connect', ({ url, headers }, socket) => {
				proxied.push([url, headers]);
				socket.end();
			});
			await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
		});

		after(() => proxy.close());

		const usual: Array<[string, object]> = [
			[
				'Pagination',
				{
					options: {
						pagination: {
							pagination: {
								parameters: { parameters: [{ name: 'page', value: '={{ $pageCount }}' }] },
								paginationCompleteWhen: 'other',
								completeExpression: '={{ $pageCount >= 1 }}',
								limitPagesFetched: true,
								maxRequests: 2,
							},
						},
					},
				},
			],
		];
		for (const [name, parameters] of usual) {
			it(`works with ${name}`, async () => {
				const { service } = context;
				const before = service.requests.length;
				const execution = await requestWith(parameters);
				assert.equal(execution.status, 'success', execution.resultData.error?.message);
				const sent = service.requests.slice(before);
				assert.ok(sent.length > 0);
				for (const { headers } of sent)
					assert.equal(headers.authorization, `Bearer ${service.apiKey}`);
			});
		}

		const proxyUrl = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
		const refused: Array<[string, () => object, RegExp]> = [
			['Proxy', () => ({ options: { proxy: proxyUrl() } }), /the option "proxy"/],
			['a Host header', () => header('Host', 'evil.example'), /the header "host"/],
		];
		for (const [name, parameters, words] of refused) {
			it(`is refused, in words, with ${name}`, async () => {
				const { service } = context;
				const before = service.requests.length;
				const execution = await requestWith(parameters());
				assert.equal(execution.status, 'error');
				assert.match(execution.resultData.error?.message ?? '', words);
				assert.ok(!JSON.stringify(execution).includes(service.apiKey));
				assert.equal(service.requests.length, before);
				assert.deepEqual(proxied, []);
			});
		}

		it('is refused on a further page that lies elsewhere', async () => {
			const next = { paginationMode: 'responseContainsNextURL', nextURL: proxyUrl() };
			const ends = { limitPagesFetched: true, maxRequests: 2 };
			const execution = await requestWith({
				options: { pagination: { pagination: { ...next, ...ends } } },
			});
			assert.match(execution.resultData.error?.message ?? '', /it goes to http:\/\/127/);
			assert.deepEqual(proxied, []);
		});
	});
});
