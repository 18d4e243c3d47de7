import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ensureQueuePrograms } from '../../scripts/programs';
import { waitUntil } from '../n8n/harness/wait';
import { type QueueContext, startQueueContext } from './context';
import { generating } from './workflows';

/** Why docs/operations.md asks for `appendonly yes`: the queue as it was minutes ago holds jobs that run by now. */
describe('a queue restored from a snapshot', () => {
	let context: QueueContext;

	before(async () => {
		context = await startQueueContext({ redisMemory: 'snapshot' });
	});
	after(async () => await context?.close());

	it('hands a running execution out again: the one way to pay twice that the settings have to close', async () => {
		const { rest, service, cluster } = context;
		const [first, second] = cluster.workers;
		assert.ok(first && second);
		const workflow = await context.publish(generating('snapshot'));
		await Promise.all([first.stop(), second.stop()]);
		await rest.callWebhook('snapshot', { jobs: [{ text: 'once', standIn: { never_ends: true } }] });
		const { redisServer } = await ensureQueuePrograms();
		const redis = (command: string) =>
			execFileSync(join(dirname(redisServer), 'redis-cli'), [
				'-p',
				String(cluster.redis.port),
				command,
			]);
		redis('SAVE');
		await first.start();
		await waitUntil(() => service.polls().length > 0, { what: 'A poll' });
		await cluster.redis.end('SIGKILL');
		await cluster.redis.start();
		await waitUntil(() => service.creations().length > 1, { what: 'The second creation' });
		assert.equal((await rest.listExecutions(workflow.id)).length, 1);
	});
});
