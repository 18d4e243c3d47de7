import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import getPort from 'get-port';
import { startContext, type TestContext } from './harness/context';
import type { Execution } from './harness/execution';
import {
	allAsleep,
	checkDone,
	checkPaidOnce,
	endless,
	ended,
	publishFlow,
	type RunSettings,
} from './asleep/workbench';
import { type PublicName, startPublicName } from './asleep/publicName';

/** No file is fetched from a private address of a service that has a public one. */
const withoutFiles: RunSettings = { download: false };

/** An n8n on a private address, and a service on a public one: no callback can come. */
describe('asleep on a private address', () => {
	let publicName: PublicName;
	let context: TestContext;

	before(async () => {
		publicName = await startPublicName();
		context = await startContext({ env: publicName.env });
		publicName.leadTo(context.service.baseUrl);
		const { rest, service } = context;
		const credential = await rest.createCredential('A Public Service', 'mediaGenerationApi', {
			apiKey: service.apiKey,
			baseUrl: publicName.baseUrl,
		});
		context = { ...context, credential };
	});
	after(async () => {
		await context.close();
		await publicName.close();
	});
	afterEach(() => context.service.reset());

	async function finishAll(): Promise<void> {
		for (const { id } of context.service.creations()) await context.service.finish(id);
	}

	async function restart(webhookUrl: string): Promise<void> {
		await context.n8n.restart({ N8N_WEBHOOK_URL: webhookUrl });
		await context.rest.login();
	}

	async function refused(settings: RunSettings = {}): Promise<Execution> {
		const flow = await publishFlow(context);
		const id = await flow.start([endless('Unheard')], { ...withoutFiles, ...settings });
		const execution = await context.rest.waitForExecution(id);
		assert.equal(execution.status, 'error');
		assert.equal(context.service.creations().length, 0, 'something was paid');
		assert.equal(context.service.requests.length, 0);
		return execution;
	}

	it('100 executions wake by themselves, and the service gets no address', async () => {
		const { rest, service } = context;
		const flow = await publishFlow(context);
		await flow.startMany(100, (index) => [endless(`Private ${index}`)], withoutFiles);
		await allAsleep(context, flow, 100);
		assert.deepEqual(
			service.creations().filter(({ receiveUrl }) => receiveUrl !== null),
			[],
		);
		await finishAll();
		const executions = await rest.waitForExecutions(flow.workflow.id, 100);
		checkDone(context, executions, { files: false });
		checkPaidOnce(context, 100);
		assert.equal(service.callbacks.length, 0);
	});

	it('wakes itself by an address that means this machine, which nobody else could call', async () => {
		await restart(`http://0.0.0.0:${context.n8n.port}/`);
		const flow = await publishFlow(context);
		const id = await flow.asleep([endless('Here')], withoutFiles);
		await finishAll();
		checkDone(context, [await ended(context, id)], { files: false });
		checkPaidOnce(context, 1);
	});

	it('is refused before anything is paid where this n8n does not reach itself', async () => {
		const nobody = await getPort({ host: '127.0.0.1' });
		await restart(`http://127.0.0.1:${nobody}/`);
		const { resultData } = await refused();
		assert.match(
			String(resultData.error?.message),
			new RegExp(`this n8n can't reach its own address http://127.0.0.1:${nobody} \\(`),
		);
		const description = String(resultData.error?.description);
		assert.match(description, /Set N8N_WEBHOOK_URL/);
		assert.match(description, /set Wait Mode to "Poll". Nothing was created/);
	});
});
