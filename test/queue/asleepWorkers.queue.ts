import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, it } from 'node:test';
import {
	checkDone,
	checkPaidOnce,
	ended,
	endless,
	type Job,
	nodeOf,
	publishFlow,
} from '../n8n/asleep/workbench';
import { items } from '../n8n/harness/execution';
import { generate, limits } from '../n8n/harness/nodes';
import type { TaskRecord } from '../service';
import { waitUntil } from '../n8n/harness/wait';
import type { Member } from './cluster';
import { type QueueContext, ownQueueContext } from './context';

/** Who wakes what a worker has put to sleep. Every callback is sent once. */
describe('asleep in queue mode', () => {
	let context: QueueContext;
	ownQueueContext((own) => (context = own));

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

	/** A call whose sender begins with its body, and waits. @returns sends the rest, and tells the status */
	async function begunCall({ baseUrl }: Member, task: TaskRecord): Promise<() => Promise<number>> {
		const { pathname, search } = new URL(task.receiveUrl ?? '');
		const body = JSON.stringify({ id: task.id, status: 'done' });
		const headers = { 'content-type': 'application/json', 'content-length': body.length };
		const sent = request(baseUrl + pathname + search, { method: 'POST', headers });
		const answered = once(sent, 'response');
		await new Promise((resolve) => sent.write(body.slice(0, 5), resolve));
		return async () => {
			sent.end(body.slice(5));
			const [response] = (await answered) as [IncomingMessage];
			response.resume();
			return response.statusCode ?? 0;
		};
	}

	async function woken(id: string): Promise<void> {
		checkDone(context, [await ended(context, id)]);
		checkPaidOnce(context, context.service.creations().length);
	}

	it('a call that began before another one woke it runs nothing again: by then it sleeps on a later node', async () => {
		const { service, cluster, rest } = context;
		const [first, second] = cluster.webhooks;
		assert.ok(first && second);
		const flow = await publishFlow(context, (workflow) => {
			const extraFields = JSON.stringify({ stand_in: { never_ends: true } });
			const behind = generate({ text: 'Behind', waitMode: 'callback' }, { ...limits, extraFields });
			Object.assign(behind, { name: 'Behind', id: 'behind', position: [0, 0] });
			behind.credentials = nodeOf(workflow).credentials;
			workflow.nodes.push(behind);
			workflow.connections.Behind = workflow.connections.Generate;
			workflow.connections.Generate = { main: [[{ node: 'Behind', type: 'main', index: 0 }]] };
		});
		const id = await flow.asleep([endless('In front')]);
		const [task] = service.tasks;
		assert.ok(task);
		// n8n loads the execution before it reads the body.
		const end = await begunCall(second, task);
		await service.finish(task.id, 'done', { no_callback: true });
		await waitUntil(async () => [200, 409].includes(await call(first, task)), { what: 'Waking' });
		const [, behind] = await waitUntil(
			() => service.creations().length > 1 && service.creations(),
			{
				what: 'The task of the node behind',
			},
		);
		await rest.waitForSleep(id);
		assert.equal(await end(), 503);
		await service.finish(behind?.id ?? '');
		await ended(context, id);
		checkPaidOnce(context, 2);
	});

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
