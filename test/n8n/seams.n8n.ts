import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startContext, type TestContext } from './harness/context';
import { items } from './harness/execution';
import { called, generate, oneItemEach, workflowOf } from './harness/nodes';

/** Where joining meets a store of n8n that refuses large files. */
describe('seams', () => {
	let context: TestContext;
	before(async () => {
		const env = {
			N8N_DEFAULT_BINARY_DATA_MODE: 'database',
			N8N_BINARY_DATA_DATABASE_MAX_FILE_SIZE: '1',
		};
		context = await startContext({ env });
	});
	after(async () => await context.close());
	beforeEach(() => context.service.reset());

	for (const retryOnFail of [false, true])
		it(`a store that refuses the joined file: each item names its tasks (Retry On Fail: ${retryOnFail})`, async () => {
			const { credential, rest, service } = context;
			const path = `seams-${retryOnFail}`;
			const speech = { resource: 'speech', operation: 'generateByVoiceName', voice: 'a voice' };
			const node = generate(
				{ ...speech, longText: 'join' },
				{ maxCharacters: 120 },
				{ onError: 'continueRegularOutput', retryOnFail, maxTries: 2, waitBetweenTries: 0 },
			);
			const workflow = workflowOf(path, [called(path), oneItemEach(), node], credential);
			const parts = [1, 2, 3].map((part) => `Part ${part}. `.padEnd(100, 'la '));
			// Each part fits into the store, and three of them don't.
			const job = { text: parts.join('\n\n'), standIn: { ms: 300, bytes: 500_000, audio: 'wav' } };
			const saved = await rest.createWorkflow(workflow);
			const id = await rest.startByWebhook(saved, path, { jobs: [job, job, job, job] });
			const execution = await rest.waitForExecution(id, 'finished', 180_000);
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			const spoken = items(execution, 'Generate').map(({ json }) => json);
			assert.deepEqual(
				spoken.map(({ outcome }) => outcome),
				Array(4).fill('undelivered'),
			);
			const paid = service.creations().map((task) => task.id);
			assert.equal(paid.length, 12);
			assert.deepEqual(spoken.flatMap(({ task_ids: ids }) => ids as string[]).sort(), paid.sort());
			for (const { outputs } of spoken) assert.equal((outputs as unknown[]).length, 3);
		});
});
