import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { type Item, items } from './harness/execution';
import { action, called, generate, oneItemEach, wait } from './harness/nodes';

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

	it('files are found behind Generate; Suspend is refused before anything is paid', async () => {
		const { rest, service } = context;
		const toBranch = { onError: 'continueErrorOutput' };
		const made = generate({ waitMode: '={{ $json.job.waitMode }}' }, {}, toBranch);
		const join = action({ resource: 'audio', operation: 'join' }, { name: 'Join' });
		const nodes = [called('combined'), oneItemEach(), made, wait({ name: 'Rest' }), join];
		const workflow = await context.save(nodes, undefined, { binaryMode: 'combined' });
		const job = (text: string, waitMode: string) => ({ text, waitMode, standIn: { ms: 100 } });
		const jobs = [job('one', 'poll'), job('two', 'poll'), job('asleep', 'callback')];
		const id = await rest.startByWebhook(workflow, 'combined', { jobs });
		const execution = await rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(service.tasks.length, 2);
		const [refused, ...none] = items(execution, 'Generate', { output: 1 });
		assert.equal(none.length, 0);
		assert.equal(refused?.json.outcome, 'invalid');
		assert.match(String(refused.json.error), /can't be suspended .*"binaryMode: combined"/);
		const files = items(execution, 'Generate').map(fileOf);
		assert.equal(files.length, 2);
		// "Task: Wait" passes them on as they are.
		assert.deepEqual(items(execution, 'Rest').map(fileOf), files);
		assert.equal(service.requests.filter(({ host }) => host === 'files').length, 2);
		const joined = items(execution, 'Join');
		assert.equal(joined.length, 1);
		const bytes = await rest.download(fileOf(joined[0] as Item) as never);
		assert.equal(bytes.subarray(0, 4).toString('latin1'), 'RIFF');
	});
});
