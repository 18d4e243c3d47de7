import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startContext, type TestContext } from './harness/context';
import { items, type Execution } from './harness/execution';
import { testWorkflow } from './harness/workflow';

interface Asked {
	items: number;
	/** How the stand-in treats each task. */
	standIn: object;
	/** Of the node that speaks. */
	settings?: object;
	parameters?: object;
	options?: object;
	/** Of the "Task: Wait" behind it. */
	behind?: object;
}

/** Where two mechanisms meet: joining and n8n's store, a long text and Task: Wait, a task's own fields and n8n's repetition. */
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

	async function run({ standIn, settings, parameters, options, behind, ...asked }: Asked) {
		const workflow = testWorkflow('seams', {
			credential: context.credential,
			placeholders: { ITEMS: asked.items },
		});
		for (const node of workflow.nodes) {
			if (node.name === 'Speak') {
				Object.assign(node, { waitBetweenTries: 0, ...settings });
				Object.assign(node.parameters, parameters);
				Object.assign(node.parameters.options as object, options, {
					extraFields: JSON.stringify({ stand_in: standIn }),
				});
			} else if (node.name === 'Behind') Object.assign(node.parameters, behind);
		}
		const id = await context.rest.runManually(await context.rest.createWorkflow(workflow), 'Start');
		return await context.rest.waitForExecution(id, 'finished', 180_000);
	}

	const paid = () => context.service.creations().map(({ id }) => id);
	const idsIn = (execution: Execution, node: string) =>
		items(execution, node).flatMap(({ json }) => json.task_ids as string[]);

	for (const retryOnFail of [false, true])
		it(`a store that refuses the joined file: each item names its tasks (Retry On Fail: ${retryOnFail})`, async () => {
			const execution = await run({
				items: 4,
				// Each fits into the store, and three of them don't.
				standIn: { ms: 300, bytes: 500_000, audio: 'wav' },
				settings: { retryOnFail, maxTries: 2 },
			});
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			assert.equal(paid().length, 12);
			const spoken = items(execution, 'Speak');
			assert.deepEqual(
				spoken.map(({ json }) => json.outcome),
				Array(4).fill('undelivered'),
			);
			assert.deepEqual([...idsIn(execution, 'Speak')].sort(), [...paid()].sort());
			for (const { json } of spoken) assert.equal((json.outputs as unknown[]).length, 3);
		});

	for (const waitMode of ['poll', 'callback'])
		it(`a long text out of time, and Task: Wait behind it: all parts, joined (${waitMode})`, async () => {
			const execution = await run({
				items: 2,
				standIn: { ms: 12_000, audio: 'wav' },
				options: { timeout: 3, onTimeout: 'returnTask', pauseBetweenParts: 250 },
				behind: { waitMode, options: { timeout: 300, gracePeriod: 1 } },
			});
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			const late = items(execution, 'Speak').map(({ json }) => json);
			assert.deepEqual(
				late.map(({ timed_out, long_text }) => [timed_out, long_text]),
				Array(2).fill([true, { mode: 'join', pause_between_parts: 250 }]),
			);
			const joined = items(execution, 'Behind');
			assert.deepEqual(
				joined.map(({ json }) => [json.status, json.task_ids]),
				late.map(({ task_ids }) => ['done', task_ids]),
			);
			for (const { json } of joined) assert.equal((json.parts as unknown[]).length, 3);
			assert.equal(paid().length, 6);
		});

	for (const own of [{ error: '' }, { error: 'a warning' }, { outcome: 'failed', timed_out: true }])
		it(`a done task with ${JSON.stringify(own)} is a done task`, async () => {
			const execution = await run({
				items: 2,
				standIn: { ms: 300, task: own },
				settings: { retryOnFail: true, maxTries: 3 },
				parameters: { longText: 'off' },
			});
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			const { length } = context.service.requests.filter(({ route }) => route === 'file');
			assert.equal(length, 2, 'each file is fetched once');
			const behind = items(execution, 'Behind').map(({ json }) => json);
			assert.deepEqual(
				behind.map(({ status, outcome, error }) => [status, outcome, error]),
				Array(2).fill(['done', undefined, undefined]),
			);
			assert.equal(paid().length, 2);
		});
});
