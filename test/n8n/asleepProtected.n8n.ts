import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { checkDone, checkPaidOnce, endless, ended, publishFlow } from './asleep/workbench';

/** n8n with its protection against requests to its own network, which waking by one's own looks is. */
describe('asleep with SSRF protection', () => {
	let context: TestContext;
	const env = { N8N_SSRF_PROTECTION_ENABLED: 'true', N8N_SSRF_ALLOWED_IP_RANGES: '127.0.0.1/32' };
	ownContext((own) => (context = own), { env });

	it('is woken by its own looks, as its address is allowed', async () => {
		const { service } = context;
		service.settings.callbacks.drop = true;
		const flow = await publishFlow(context);
		const id = await flow.asleep([endless('Protected')]);
		for (const task of service.creations()) await service.finish(task.id);
		checkDone(context, [await ended(context, id)]);
		checkPaidOnce(context, 1);
	});

	it('is refused before anything is paid where neither a callback can come nor its address is allowed', async () => {
		const { n8n, rest, service } = context;
		await n8n.restart({ N8N_SSRF_ALLOWED_IP_RANGES: '' });
		await rest.login();
		const credential = await rest.createCredential('A Public Service', 'mediaGenerationApi', {
			apiKey: service.apiKey,
			baseUrl: 'https://media.example.com',
		});
		const flow = await publishFlow({ ...context, credential });
		const id = await flow.start([endless('Unheard')]);
		const { status, resultData } = await rest.waitForExecution(id);
		assert.equal(status, 'error');
		assert.match(
			String(resultData.error?.message),
			/this n8n can't reach its own address http:\/\/127\.0\.0\.1:\d+ \(.*(blocked|not allowed).*\)/,
		);
		assert.match(
			String(resultData.error?.description),
			/allow that address where N8N_SSRF_PROTECTION_ENABLED is on.*Nothing was created/,
		);
		assert.equal(service.requests.length, 0);
	});
});
