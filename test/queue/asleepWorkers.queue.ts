import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
	checkDone,
	checkPaidOnce,
	ended,
	endless,
	type Job,
	publishFlow,
} from '../n8n/asleep/workbench';
import { items } from '../n8n/harness/execution';
import type { TaskRecord } from '../service';
import { waitUntil } from '../n8n/harness/wait';
import type { Member } from './cluster';
import { type QueueContext, startQueueContext } from './context';

/** Who wakes what a worker has put to sleep. Every callback is sent once. */
describe('asleep in queue mode', () => {
	let context: QueueContext;

	before(async () => {
		context = await startQueueContext();
	});
	after(async () => await context?.close());
	beforeEach(() => context.service.reset());

	const endlessJobs = (name: string, count: number): Job[] =>
		Array.from({ length: count }, (_, index) => endless(`${name} ${index}`));

	/** Starts a suspending execution and waits until it sleeps. */
	async function asleep(jobs: Job[]): Promise<{ id: string; worker: Member }> {
		const id = await (await publishFlow(context)).asleep(jobs);
		const worker = context.cluster.workers.find((member) =>
			member.log().includes(`of execution ${id}\n`),
		);
		assert.ok(worker, 'no worker names the execution');
		return { id, worker };
	}

	/** The callback of a task, sent past the proxy. @returns the status, or 0 where the sender gave up */
	async function call({ baseUrl }: Member, task: TaskRecord, giveUpMs = 30_000): Promise<number> {
		const { pathname, search } = new URL(task.receiveUrl ?? '');
		const headers = { 'content-type': 'application/json' };
		const body = JSON.stringify({ id: task.id, status: 'done' });
		const signal = AbortSignal.timeout(giveUpMs);
		const url = baseUrl + pathname + search;
		return await globalThis.fetch(url, { method: 'POST', headers, body, signal }).then(
			({ status }) => status,
			() => 0,
		);
	}

	async function woken(id: string): Promise<void> {
		checkDone(context, [await ended(context, id)]);
		checkPaidOnce(context, context.service.creations().length);
	}

	it("n8n's Retry of one that is marked as crashed pays nothing again, and goes on as at the deadline", async () => {
		const { rest, service, cluster } = context;
		const { id } = await asleep(endlessJobs('crashed', 1));
		const marked = `UPDATE execution_entity SET status = 'crashed', "stoppedAt" = now() WHERE id = ${id}`;
		await cluster.database.value(marked);
		const retried = await rest.waitForExecution(await rest.retryExecution(id));
		const { task_id, unfinished } = items(retried, 'Went Well')[0]?.json ?? {};
		assert.deepEqual([task_id, unfinished], [service.tasks[0]?.id, true]);
		assert.equal(service.creations().length, 1);
	});

	it('its callback wakes it though that worker was killed, also where the callbacks of its other tasks are lost', async () => {
		const { service } = context;
		const { id, worker } = await asleep(endlessJobs('called', 3));
		await worker.kill('SIGKILL');
		try {
			const [first, second, third] = service.tasks;
			assert.ok(first && second && third);
			await service.finish(first.id, 'done', { no_callback: true });
			await service.finish(second.id);
			await service.finish(third.id, 'done', { no_callback: true });
			await woken(id);
			assert.equal(service.callbacks.length, 1);
		} finally {
			await worker.start();
		}
	});

	it('no sender hears 200 before n8n has stored the waking: the row is locked, and the processor dies', async () => {
		const { service, cluster } = context;
		const { id, worker } = await asleep(endlessJobs('locked', 1));
		await worker.kill('SIGKILL');
		const [first, second] = cluster.webhooks;
		const [task] = service.tasks;
		assert.ok(first && second && task);
		const release = await cluster.database.lockExecution(id);
		try {
			await service.finish(task.id, 'done', { no_callback: true });
			const answers: number[] = [];
			for (const giveUpMs of [3_000, 12_000]) answers.push(await call(first, task, giveUpMs));
			assert.deepEqual(
				answers.filter((status) => status < 500 && status !== 0),
				[],
				'the sender thinks that it is stored',
			);
			await first.kill('SIGKILL');
			await release();
			// The first one's own call may have woken it on the second one: then the sender hears n8n's 409.
			const isHeard = async () => [200, 409].includes(await call(second, task));
			await waitUntil(isHeard, { what: 'The waking' });
			await woken(id);
		} finally {
			await release();
			await Promise.all([worker.start(), first.start()]);
		}
	});
});
