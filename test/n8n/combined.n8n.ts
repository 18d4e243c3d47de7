import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { type Item, items } from './harness/execution';

interface StoredFile {
	id: string;
}

/** The workflow setting "binaryMode: combined": n8n moves each item's files into its JSON. */
describe('combined', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	function fileOf({ json, binary }: Item): StoredFile {
		assert.equal(binary?.data, undefined);
		const { data } = json._files as { data?: StoredFile };
		assert.ok(data, `no file in ${JSON.stringify(json)}`);
		return data;
	}

	it('files are found behind Generate, of an item that slept and of one that did not', async () => {
		const { rest, service } = context;
		const workflow = await context.addWorkflow('combined', { PATH: 'combined' });
		const jobs = [100, 6_000].map((ms) => ({ text: `${ms} ms`, standIn: { ms } }));
		const body = { jobs, grace: 2, timeout: 3600 };
		const id = await rest.startByWebhook(workflow, 'combined', body);
		const asleep = await rest.waitForExecution(id, 'waiting');
		assert.equal(asleep.status, 'waiting');
		const execution = await rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		const made = items(execution, 'Generate').map(fileOf);
		assert.equal(made.length, 2);
		// "Task: Wait" passes them on as they are.
		assert.deepEqual(items(execution, 'Rest').map(fileOf), made);
		assert.equal(service.requests.filter(({ host }) => host === 'files').length, 2);
		const joined = items(execution, 'Join');
		assert.equal(joined.length, 1);
		const bytes = await rest.download(fileOf(joined[0] as Item) as never);
		assert.equal(bytes.subarray(0, 4).toString('latin1'), 'RIFF');
	});
});
