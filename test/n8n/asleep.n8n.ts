import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import {
	allAsleep,
	checkDone,
	checkPaidOnce,
	endless,
	ended,
	type Job,
	patience,
	publishFlow,
} from './asleep/workbench';

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

	it("n8n's Retry of a failed run is woken, though the first callback goes to the failed run", async () => {
		const { rest, service } = context;
		const flow = await publishFlow(context);
		// The second creation is refused, and so the run fails with the first task paid for.
		service.faults.add({
			route: 'create',
			skip: 1,
			times: 1,
			action: { type: 'status', status: 422, body: { success: false, error: 'not today' } },
		});
		const jobs: Job[] = [endless('Kept'), endless('Refused')];
		const failed = await flow.start(jobs);
		const first = await rest.waitForExecution(failed, 'finished', patience);
		assert.equal(first.status, 'error');
		assert.match(String(first.resultData.error?.message), /not today/);
		checkPaidOnce(context, 1);
		const again = await rest.retryExecution(failed);
		assert.equal((await rest.waitForExecution(again, 'waiting', patience)).status, 'waiting');
		checkPaidOnce(context, 2);
		const [kept, refused] = service.creations();
		assert.ok(kept?.receiveUrl && refused?.receiveUrl);
		assert.notEqual(new URL(kept.receiveUrl).pathname, new URL(refused.receiveUrl).pathname);
		await finishAll();
		checkDone(context, [await ended(context, again)]);
		checkPaidOnce(context, 2);
	});
});
