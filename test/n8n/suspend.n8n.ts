import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
	checkDone,
	checkPaidOnce,
	ended,
	endless,
	endOf,
	type Job,
	publishFlow,
	subWorkflow,
	textOf,
} from './asleep/workbench';
import { inQueueMode, ownContext, type TestContext } from './harness/context';
import { items } from './harness/execution';

/** Suspension needs an n8n of its own: it is killed and started again here. */
describe('suspend', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	it('sleeps once, wakes once, and gives 12 results in order with their files', async () => {
		const { service } = context;
		const failing = { end: 'error', error_message: 'no such sound' } as const;
		const jobs = Array.from({ length: 12 }, (_, index): Job => ({
			text: `Sound ${index}`,
			standIn: { ms: 6000 + 400 * (11 - index), ...(index === 4 ? failing : {}) },
		}));
		const flow = await publishFlow(context);
		const id = await flow.asleep(jobs);
		const asleepFrom = service.polls().length;
		const execution = await ended(context, id);
		checkPaidOnce(context, 12);

		const [firstCallback = NaN] = service.callbacks.map(({ at }) => at).sort((a, b) => a - b);
		// In queue mode a worker may still poll tasks of an execution that another process has woken.
		const between = service.polls().slice(asleepFrom);
		assert.deepEqual(
			between.filter(({ time }) => time < firstCallback - 5),
			[],
			'a poll between suspension and the first callback',
		);

		const results = items(execution, 'Generate');
		assert.deepEqual(
			results.map((item) => [endOf(item), textOf(service.task(String(item.json.task_id)))]),
			jobs.map(({ text }, index) => [index === 4 ? 'failed' : 'done', text]),
		);
		const place = inQueueMode ? /^database:/ : new RegExp(`executions/${id}/`);
		for (const { binary } of results.filter((item) => endOf(item) === 'done'))
			assert.match(String(binary?.data?.id), place, 'the file goes with the execution');
		// n8n answers those that come once it goes on by itself (409); 503 asks to come again, where it is busy.
		const statuses = service.callbacks.map(({ status }) => Number(status));
		assert.deepEqual(
			statuses.filter((status) => ![200, 202, 409, 503].includes(status)),
			[],
		);
		// Where the last ones are put off or late, the node wakes the execution by what it has seen itself.
		const woke = service.callbacks.filter(({ body }) => body === '{"received":true}');
		assert.ok(woke.length <= 1, `${woke.length} callbacks woke it`);
		assert.equal(execution.resultData.runData['Went Well']?.length, 1, 'the next node ran once');
	});

	it('survives SIGKILL of n8n while it sleeps', async () => {
		const { n8n, service } = context;
		const flow = await publishFlow(context);
		const id = await flow.asleep([endless('Long'), endless('Longer')]);
		await n8n.kill('SIGKILL');
		await context.startAgain();
		for (const task of service.creations()) await service.finish(task.id);
		checkDone(context, [await ended(context, id)]);
		checkPaidOnce(context, 2);
	});

	it('wakes without callbacks, by a credential whose fields are expressions', async () => {
		const { service } = context;
		service.settings.callbacks.drop = true;
		const apiKey = `={{ '${service.apiKey}' }}`;
		const credential = await context.addCredential('Expressions', { apiKey });
		const flow = await publishFlow({ ...context, credential });
		const id = await flow.asleep([endless('Long')]);
		for (const task of service.creations()) await service.finish(task.id);
		checkDone(context, [await ended(context, id)]);
		checkPaidOnce(context, 1);
	});

	for (const [how, drop] of [
		['its callbacks', false],
		['its own polls', true],
	] as const)
		it(`a sleeping sub-workflow holds its parent, and both finish: woken by ${how}`, async () => {
			const { rest, service } = context;
			service.settings.callbacks.drop = drop;
			const { parent, child } = await subWorkflow(context);
			const id = await parent.asleep([endless('First'), endless('Second')]);
			const [sleeper] = await rest.listExecutions(child.id);
			assert.ok(sleeper);
			await rest.waitForSleep(sleeper.id);
			const [first, second] = service.creations();
			await service.finish(first?.id ?? '');
			assert.equal((await rest.execution(id)).status, 'waiting');
			await service.finish(second?.id ?? '');
			checkDone(context, [await ended(context, sleeper.id)]);
			const out = items(await ended(context, id), 'Sub-workflow');
			assert.deepEqual(out.map(endOf), ['done', 'done']);
			assert.ok(out.every(({ binary }) => binary?.data !== undefined));
			checkPaidOnce(context, 2);
		});
});
