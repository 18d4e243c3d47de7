import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { mcpClient } from '../n8n/harness/mcp';
import { langchain, type Link, soundEffect, tool } from '../n8n/harness/nodes';
import { type QueueContext, startQueueContext } from './context';

/** Tasks of 20 and 90 s, and a client that waits for 60 s, all five times as fast. */
const [SHORT_MS, LONG_MS, PATIENCE_MS] = [4_000, 18_000, 12_000];

describe('MCP Server Trigger in queue mode', () => {
	let context: QueueContext;
	let call: Awaited<ReturnType<typeof mcpClient>>['call'];

	before(async () => {
		context = await startQueueContext();
		const server = langchain('Server', ['mcpTrigger', 2], { path: 'sounds' });
		const nodes = [
			{ ...server, webhookId: 'sounds' },
			tool({ ...soundEffect, text: 'Rain' }, { retryOnFail: true, waitBetweenTries: 0 }),
		];
		const link: Link = ['Make a Sound', 'Server', 'ai_tool'];
		const { rest, cluster } = context;
		await rest.publish(await context.save(nodes, [link]));
		const client = await mcpClient(`${cluster.webhookUrl}/mcp/sounds`);
		call = client.call;
	});
	after(async () => await context?.close());
	beforeEach(() => context.service.reset());

	const paid = () => context.service.creations().map(({ id }) => id);

	it('a short task: paid once, and its JSON for the client', async () => {
		context.service.settings.taskMs = SHORT_MS;
		const answer = await call('Make_a_Sound');
		assert.equal(paid().length, 1);
		assert.match(answer, new RegExp(`task_id[^,]*${paid()[0]}`));
	});

	it('a client that gives up, and calls again', async () => {
		context.service.settings.taskMs = LONG_MS;
		await assert.rejects(call('Make_a_Sound', AbortSignal.timeout(PATIENCE_MS)));
		assert.match(await call('Make_a_Sound'), new RegExp(`task_id[^,]*(${paid().join('|')})`));
		// n8n runs each call by itself: docs/waiting.md, "Callers that wait for an answer".
		assert.equal(paid().length, 2);
	});
});
