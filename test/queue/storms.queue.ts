import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { items } from '../n8n/harness/execution';
import type { SavedWorkflow } from '../n8n/harness/rest';
import { waitUntil } from '../n8n/harness/wait';
import { type QueueContext, ownQueueContext } from './context';
import { manyAsleep, manyOver, sleepers } from './workflows';

/** n8n's own default is 10 s: beyond it every process that uses Redis ends. */
const redisAwayMs = 20_000;
const workers = 2;
const concurrency = 4;
/**
 * n8n marks as crashed or failed what it runs or resumes at the moment when processes end with Redis or PostgreSQL: a worker after its
 * restart, by its log of events (`recoverFromLogs`), the main what has no job (`recoverFromQueue`). So each slot of a worker and each
 * resumption of the two webhook processors can cost one execution.
 */
const underWay = workers * concurrency + 2 * 4;
/** Or n8n runs one on what it had before the call that woke it: docs/queue-mode.md, "What n8n can't guarantee". */
const AS_AT_THE_DEADLINE = 'success, as at the deadline';

/**
 * Many executions that sleep, and senders that call again after 5xx while what n8n stands on goes away. The limit to resumptions at once is
 * not what this tests: n8n reads an execution for each call before the node can refuse it (docs/queue-mode.md).
 */
describe('storms', () => {
	let context: QueueContext;
	// Each call costs n8n the reading of an execution: a thousand senders that come back every 2 s would leave no time for waking.
	const callbacks = { retryOn5xx: 200, retryDelayMs: Math.max(2_000, sleepers * 20) };
	ownQueueContext((own) => (context = own), { workers, concurrency, settings: { callbacks } });

	/** Waits until nothing runs or sleeps any more, and no sender calls. @returns how the executions ended */
	async function over(
		workflow: SavedWorkflow,
		called: ReadonlyArray<Promise<unknown>>,
	): Promise<Record<string, number>> {
		const { rest, service } = context;
		const taskIds = new Set<unknown>(service.tasks.map(({ id }) => id));
		await manyOver(context, workflow);
		// n8n 2.41 answers 500 to each call for an execution that it has marked as crashed.
		service.settings.callbacks.retryOn5xx = 0;
		await Promise.all(called);
		const main = async () => await rest.listWorkflows().catch(() => undefined);
		await waitUntil(main, { what: 'The main' });
		const ends: Record<string, number> = {};
		for (const { id, status } of await rest.listExecutions(workflow.id)) {
			const execution = await rest.execution(id);
			const { error } = execution.resultData;
			// Only n8n itself may have ended it: an error of a node names that node.
			assert.equal(error?.node, undefined, `${status}: ${error?.message}`);
			const [item] = status === 'success' ? items(execution, 'Last') : [];
			const isWoken = item?.json.status === 'done';
			const end = status !== 'success' || isWoken ? status : AS_AT_THE_DEADLINE;
			const words = `Execution ${id}: ${end}, ${JSON.stringify(error ?? item)}`;
			if (!isWoken) console.log(words);
			if (end === AS_AT_THE_DEADLINE) assert.equal(item?.json.unfinished, true, words);
			if (item !== undefined) assert.ok(taskIds.delete(item.json.task_id), words);
			ends[end] = (ends[end] ?? 0) + 1;
		}
		assert.equal(service.creations().length, sleepers, 'created once each');
		return ends;
	}

	it('wakes all of them though they end at once while Redis is away and every process ends with it', async () => {
		const { service, cluster } = context;
		const workflow = await manyAsleep(context, 'storm');
		const called = service.tasks.map(async ({ id }) => await service.finish(id));
		await delay(1_000);
		await cluster.redis.end('SIGKILL');
		const stopSupervising = cluster.supervise();
		await delay(redisAwayMs);
		await cluster.redis.start();
		const ends = await over(workflow, called);
		await stopSupervising();
		console.log('While Redis was away:', ends);
		assert.ok((ends.success ?? 0) >= sleepers - underWay, JSON.stringify(ends));
	});

	it('wakes all of them though PostgreSQL and every process of n8n restart while their callbacks come', async () => {
		const { service, cluster } = context;
		const workflow = await manyAsleep(context, 'restarts');
		const called = service.tasks.map(async ({ id }, at) => {
			await delay(at * (60_000 / sleepers));
			await service.finish(id);
		});
		await delay(5_000);
		await cluster.postgres.end('SIGINT');
		await delay(2_000);
		await cluster.postgres.start();
		const [, ...rest] = cluster.members;
		for (const members of [
			[cluster.main],
			...[0, 1].map((half) => rest.filter((_, at) => at % 2 === half)),
		])
			await Promise.all(members.map(async (member) => await member.restart()));
		const ends = await over(workflow, called);
		console.log('Over restarts of everything:', ends);
		// PostgreSQL, the main and both halves of the others restart one after another, and each restart can cost what is under way.
		assert.ok((ends.success ?? 0) >= sleepers - 4 * underWay, JSON.stringify(ends));
	});
});
