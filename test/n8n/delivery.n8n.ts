import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { startContext, type TestContext } from './harness/context';
import { items } from './harness/execution';

/** Files on their way into n8n's binary store on disk. */
describe('delivery', () => {
	let context: TestContext;

	before(async () => {
		context = await startContext({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' } });
	});
	after(async () => await context.close());

	it('gives four pictures that open, and a file whole that was cut in the middle', async () => {
		const { rest, service } = context;
		service.faults.add({
			host: 'files',
			path: '.wav',
			times: 2,
			action: { type: 'truncate', bytes: 1_000_000 },
		});
		const workflow = await context.addWorkflow('delivery');
		const execution = await rest.waitForExecution(await rest.runManually(workflow, 'Start'));
		assert.equal(execution.status, 'success', execution.resultData.error?.message);

		const [pictures] = items(execution, 'Four Pictures');
		assert.deepEqual(Object.keys(pictures?.binary ?? {}), ['data', 'data_1', 'data_2', 'data_3']);
		const taskId = String(pictures?.json.task_id);
		const seen = new Set<string>();
		for (const [index, entry] of Object.values(pictures?.binary ?? {}).entries()) {
			assert.equal(entry.fileName, `image-${taskId}-${index + 1}.png`);
			assert.match(String(entry.id), /^filesystem/);
			const bytes = await rest.download(entry);
			const { width, height } = PNG.sync.read(bytes);
			assert.ok(width > height);
			seen.add(bytes.toString('base64'));
		}
		assert.equal(seen.size, 4, 'four different pictures');

		const [sound] = items(execution, 'Long Sound');
		assert.ok(sound?.binary?.data);
		const bytes = await rest.download(sound.binary.data);
		assert.equal(bytes.length, 5_000_000);
		const asked = service.requests.filter(
			({ host, url }) => host === 'files' && url.includes('.wav'),
		);
		assert.ok(
			asked.some(({ headers }) => headers.range !== undefined),
			'continued, not started again',
		);
		const whole = await fetch((sound.json.outputs as Array<{ url: string }>)[0]?.url ?? '');
		assert.ok(bytes.equals(Buffer.from(await whole.arrayBuffer())), 'byte for byte');
		assert.equal(service.summary().foreignAuthorization, 0);
	});
});
