import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inQueueMode, ownContext, type TestContext } from './harness/context';
import { type Execution, items } from './harness/execution';
import { called, generate, last, limits, oneItemEach, wait } from './harness/nodes';

interface JobSettings {
	text: string;
	standIn: Record<string, unknown>;
}

/** Suspension needs an n8n of its own: it is killed and started again here. */
describe('suspend', () => {
	let context: TestContext;
	let runs = 0;
	ownContext((own) => (context = own));

	/** Starts the workflow with these jobs and waits until its execution sleeps or is over. */
	async function start(jobs: JobSettings[]): Promise<string> {
		const path = `suspend-${(runs += 1)}`;
		const rest = wait({ name: 'Rest', onError: 'continueRegularOutput' });
		const made = generate({ waitMode: 'callback' }, limits);
		const workflow = await context.save([called(path), oneItemEach(), made, rest, last()]);
		const body = { jobs, grace: 0, timeout: 3600 };
		return await context.rest.startByWebhook(workflow, path, body);
	}

	const job = (text: string, standIn: Record<string, unknown>): JobSettings => ({ text, standIn });

	function checkDone(execution: Execution, count: number): void {
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(items(execution, 'Last').length, count);
	}

	it('sleeps once, wakes once, and gives 12 results in order with their files', async () => {
		const { rest, service } = context;
		const jobs = Array.from({ length: 12 }, (_, index) =>
			job(`Sound ${index}`, {
				ms: 6000 + 400 * (11 - index),
				...(index === 4 ? { end: 'error', error_message: 'no such sound' } : {}),
			}),
		);
		const id = await start(jobs);
		await rest.waitForSleep(id);
		const suspendedAt = Date.now();
		const execution = await rest.waitForExecution(id);
		checkDone(execution, 12);

		assert.equal(service.creations().length, 12);
		const firstCallback = Math.min(...service.callbacks.map(({ at }) => at));
		// In queue mode a worker may still look at tasks of an execution that another process has woken.
		const between = service
			.creations()
			.flatMap(({ id }) => service.polls(id))
			.filter(({ time }) => time > suspendedAt && time < firstCallback - 5);
		assert.equal(between.length, 0, 'no poll between suspension and the first callback');

		const results = items(execution, 'Generate');
		assert.deepEqual(
			results.map(({ json }) => json.outcome ?? json.status),
			jobs.map((_, index) => (index === 4 ? 'failed' : 'done')),
		);
		const texts = results.map(({ json }) => service.task(String(json.task_id))?.body.text);
		assert.deepEqual(
			texts,
			jobs.map(({ text }) => text),
		);
		assert.deepEqual(
			results.map(({ pairedItem }) => pairedItem),
			jobs.map((_, item) => ({ item })),
		);
		for (const [index, { binary }] of results.entries()) {
			if (index === 4) continue;
			const place = inQueueMode ? /^database:/ : new RegExp(`executions/${id}/`);
			assert.match(String(binary?.data?.id), place, 'the file goes with the execution');
		}
		// Callbacks that come behind the waking one are received, too; 503 asks to come again, where n8n is busy.
		const statuses = service.callbacks.map(({ status }) => Number(status));
		assert.deepEqual([...new Set([200, 202, 503, ...statuses])], [200, 202, 503]);
		// Where the last ones are put off or late, the node wakes the execution by what it has seen itself.
		const woke = service.callbacks.filter(({ body }) => body === '{"received":true}');
		assert.ok(woke.length <= 1, `${woke.length} callbacks woke it`);
		assert.equal(execution.resultData.runData.Last?.length, 1, 'the next node ran once');

		// "Task: Wait" behind it: finished items pass without a request, the failed one fails without a request.
		const rested = items(execution, 'Rest');
		assert.equal(rested[4]?.json.outcome, 'failed');
		assert.match(String(rested[4]?.json.error), /no such sound/);
		assert.deepEqual(rested[0]?.json, results[0]?.json);
		assert.equal(service.foreignAuthorization(), 0);
	});

	it('survives SIGKILL of n8n while it sleeps', async () => {
		const { n8n, rest, service } = context;
		const id = await start([job('Long', { ms: 3_600_000 }), job('Longer', { ms: 3_600_000 })]);
		await rest.waitForSleep(id);
		await n8n.kill('SIGKILL');
		await n8n.restart();
		await rest.login();
		const [first, second] = service.creations();
		assert.ok(first && second);
		await service.finish(first.id);
		await service.finish(second.id);
		const execution = await rest.waitForExecution(id);
		checkDone(execution, 2);
		assert.ok(items(execution, 'Generate').every(({ binary }) => binary?.data !== undefined));
		assert.equal(service.creations().length, 2);
	});
});
