import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { allAsleep, checkDone, checkPaidOnce, endless, publishFlow } from './asleep/workbench';

/** What wakes a sleeping execution, however badly its callbacks go. */
describe('asleep', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	async function finishAll(): Promise<void> {
		const open = context.service.creations().filter(({ status }) => status === 'doing');
		await Promise.all(open.map(async ({ id }) => await context.service.finish(id)));
	}

	it('100 executions wake by themselves, though every callback is lost', async () => {
		const { rest, service } = context;
		service.settings.callbacks.drop = true;
		const flow = await publishFlow(context);
		await flow.startMany(100, (index) => [endless(`Lost ${index}`)]);
		await allAsleep(context, flow, 100);
		await finishAll();
		checkDone(context, await rest.waitForExecutions(flow.workflow.id, 100, 300_000));
		checkPaidOnce(context, 100);
		assert.equal(service.callbacks.length, 0);
		const looks = service.tasks.map(({ id }) => service.polls(id).length);
		assert.ok(Math.max(...looks) <= 6, `looks at each task: ${looks.join(' ')}`);
	});
});
