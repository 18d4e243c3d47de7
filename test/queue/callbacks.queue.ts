import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { items } from '../n8n/harness/execution';
import { type QueueContext, startQueueContext } from './context';
import { manyAsleep, manyOver, sleepers } from './workflows';

const tasksEach = 3;
/** So often a sender calls again, and so long it waits in between, whatever it was told. */
const callbacks = { retryOn5xx: 5, retryDelayMs: 5_000 };

/** The service reports all tasks of many sleeping executions at the same moment, and calls again after each 5xx. */
describe('callbacks', () => {
	let context: QueueContext;

	before(async () => {
		context = await startQueueContext({ settings: { callbacks } });
	});
	after(async () => await context?.close());

	it(`of ${sleepers} executions of ${tasksEach} tasks, all at once, wake all of them`, async () => {
		const { rest, service, cluster } = context;
		const workflow = await manyAsleep(context, 'at-once', tasksEach);
		const calledAt = Date.now();
		const called = service.tasks.map(async ({ id }) => await service.finish(id));
		await manyOver(context, workflow);
		await Promise.all(called);
		const ends = await cluster.database.statuses(workflow.id);
		const executions = await rest.listExecutions(workflow.id);
		const seconds = executions.map(
			({ stoppedAt }) => (Date.parse(stoppedAt ?? '') - calledAt) / 1_000,
		);
		const mean = seconds.reduce((sum, each) => sum + each, 0) / seconds.length;
		console.log({ ends, meanS: mean, lastS: Math.max(...seconds) });
		assert.deepEqual(ends, { success: sleepers });
		for (const { id } of executions) {
			const results = items(await rest.execution(id), 'Last').map(({ json }) => json.status);
			assert.deepEqual(results, Array<string>(tasksEach).fill('done'));
		}
		assert.equal(service.creations().length, sleepers * tasksEach, 'created once each');
	});
});
