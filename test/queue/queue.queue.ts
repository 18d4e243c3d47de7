import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '../n8n/asleep/workbench';
import { fetch } from '../n8n/harness/http';
import { mcpClient } from '../n8n/harness/mcp';
import {
	action,
	langchain,
	last,
	type Link,
	soundEffect,
	start,
	tool,
	trigger,
	webhookIdOf,
} from '../n8n/harness/nodes';
import type { Steering } from '../service';
import { waitUntil } from '../n8n/harness/wait';
import { type QueueContext, ownQueueContext } from './context';
import { generating } from './workflows';

function jobs(name: string, count: number, standIn: Steering): Job[] {
	return Array.from({ length: count }, (_, index) => ({ text: `${name} ${index}`, standIn }));
}

describe('queue mode', () => {
	let context: QueueContext;
	ownQueueContext((own) => (context = own));

	it('stops polling when the execution is stopped on the main that started it, wherever it runs', async () => {
		const { rest, service, cluster } = context;
		await context.publish(generating('meanwhile'));
		const options = { extraFields: '{ "stand_in": { "never_ends": true } }' };
		const nodes = [start(), action({ ...soundEffect, text: 'For ever', options })];
		const id = await rest.runManually(await context.save(nodes), 'Start');
		await waitUntil(() => service.polls().length > 1, { what: 'Polls' });
		await rest.stopExecution(id);
		assert.equal((await rest.waitForExecution(id)).status, 'canceled');
		const [task] = service.creations();
		assert.ok(task);
		const logs = () => cluster.members.map((member) => member.log()).join('');
		await waitUntil(() => /the execution was stopped\. .*/.exec(logs())?.[0].includes(task.id), {
			what: 'The warning in a log that names the task',
		});
		const before = service.requests.length;
		// Another whole execution goes by meanwhile: the stopped one asks no more.
		await rest.callWebhook('meanwhile', { jobs: jobs('meanwhile', 1, { ms: 4000 }) });
		await waitUntil(() => service.creations().some(({ status }) => status === 'done'), {
			what: 'The other task',
		});
		const later = service.requests.slice(before).map(({ taskId }) => taskId);
		assert.ok(!later.includes(task.id), 'the stopped execution polls on');
		assert.equal(service.creations().length, 2);
	});

	it('the trigger knows twelve events that came one after the other to several workers, though its processors restart before their copies', async () => {
		const { rest, service, cluster } = context;
		const receiver = await context.publish([trigger('remembers'), last()]);
		const callbackUrl = `${cluster.webhookUrl}/webhook/${webhookIdOf('remembers')}/callback`;
		const fields = { waitForCompletion: false, callbackUrl };
		await context.publish(generating('events', fields));
		await waitUntil(async () => (await fetch(callbackUrl, { method: 'POST' })).status === 401, {
			what: 'The trigger',
		});
		await rest.callWebhook('events', { jobs: jobs('event', 12, { never_ends: true }) });
		await waitUntil(() => service.creations().length === 12, { what: '12 tasks' });
		for (const { id } of service.tasks) {
			await service.finish(id);
			await service.callbacksSettled(id);
		}
		assert.equal((await rest.waitForExecutions(receiver.id, 12)).length, 12);
		await Promise.all(cluster.webhooks.map(async (processor) => await processor.restart()));
		for (const { id } of service.tasks)
			assert.match((await service.sendCallback(id)).body, /was received before/);
		assert.equal((await rest.listExecutions(receiver.id)).length, 12);
	});

	it('a call by the MCP Server Trigger is paid once, and its client gets the JSON', async () => {
		const { rest, service, cluster } = context;
		const server = langchain('Server', ['mcpTrigger', 2], { path: 'sounds' });
		const link: Link = ['Make a Sound', 'Server', 'ai_tool'];
		const nodes = [{ ...server, webhookId: 'sounds' }, tool({ text: 'Rain' })];
		await rest.publish(await context.save(nodes, [link]));
		const client = await mcpClient(`${cluster.webhookUrl}/mcp/sounds`);
		const answer = await client.call('Make_a_Sound');
		const [task, ...others] = service.creations();
		assert.equal(others.length, 0);
		assert.match(answer, new RegExp(`task_id[^,]*${task?.id}`));
	});
});
