import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { items } from './harness/execution';

const SENTENCE = 'This sentence stands for a page of a book that is far too long for one request. ';
const paragraphs = Array.from({ length: 6 }, (_, index) => `Page ${index}. ${SENTENCE.repeat(2)}`);
const text = paragraphs.map((paragraph) => paragraph.trim()).join('\n\n');

/** Needs an n8n of its own: it is killed and started again here. */
describe('long texts', () => {
	let context: TestContext;
	let runs = 0;
	ownContext((own) => (context = own));

	async function start(): Promise<string> {
		const path = `long-text-${(runs += 1)}`;
		const workflow = await context.addWorkflow('longText', { PATH: path });
		const body = { text, longText: 'join', waitMode: 'callback', stand_in: { never_ends: true } };
		return await context.rest.startByWebhook(workflow, path, body);
	}

	async function checkFile(id: string): Promise<void> {
		const { rest, service } = context;
		const execution = await rest.waitForExecution(id, 'finished', 90_000);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		const [item, ...others] = items(execution, 'Last');
		assert.equal(others.length, 0, 'one item');
		const spoken = (item?.json.task_ids as string[]).map(
			(taskId) => service.task(taskId).body.text,
		);
		assert.deepEqual(spoken, text.split('\n\n'), 'in the order of the text');
		assert.equal(service.creations().length, 6);
		assert.deepEqual(Object.keys(item?.binary ?? {}), ['data', 'data_1', 'data_2']);
		assert.ok(item?.binary?.data);
		const bytes = await rest.download(item.binary.data);
		const seconds = (bytes.length - 44) / bytes.readUInt32LE(28);
		assert.ok(Math.abs(seconds - Number(item.json.duration_seconds)) < 0.01, `${seconds} s`);
		assert.equal(service.summary().foreignAuthorization, 0);
	}

	it('killed and restarted while asleep: still one file', async () => {
		const { n8n, rest, service } = context;
		const id = await start();
		await rest.waitForExecution(id, 'waiting', 60_000);
		await n8n.kill('SIGKILL');
		await n8n.restart();
		await rest.login();
		for (const { id: taskId } of service.creations()) await service.finish(taskId);
		await checkFile(id);
	});
});
