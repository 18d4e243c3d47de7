import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeOf } from './asleep/workbench';
import { ownContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { waitUntil } from './harness/wait';
import { testWorkflow } from './harness/workflow';

/** A creation whose answer never came, as n8n was killed: it needs an n8n of its own. */
describe('unclear creations', () => {
	let context: TestContext;
	let runs = 0;
	ownContext((own) => (context = own));

	/** Has the workflow make a sound of each text; the execution. */
	async function start(some: string[], retryOnFail: boolean): Promise<string> {
		const { rest, credential } = context;
		const path = `find-unclear-${(runs += 1)}`;
		const fresh = testWorkflow('findUnclear', {
			credential,
			placeholders: { PATH: path },
		});
		Object.assign(nodeOf(fresh, 'Sound'), { retryOnFail, maxTries: 2, waitBetweenTries: 1_000 });
		const saved = await rest.createWorkflow(fresh);
		return await rest.startByWebhook(saved, path, { texts: some });
	}

	function soundsOf(execution: Execution): Item[] {
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		return items(execution, 'Sound');
	}

	/** Each item has the sound of its own text, and nothing was paid twice. */
	function checkDelivered(sounds: Item[], some: string[]): void {
		const { service } = context;
		assert.deepEqual(
			sounds.map(({ json, binary }) => [json.status, Object.keys(binary ?? {})]),
			some.map(() => ['done', ['data']]),
			JSON.stringify(sounds.map(({ json }) => json.error)),
		);
		const ids = sounds.map(({ json }) => String(json.task_id));
		assert.deepEqual(
			ids.map((id) => service.task(id).body.text),
			some,
		);
		assert.equal(new Set(ids).size, some.length);
		assert.equal(service.creations().length, some.length);
	}

	for (const retryOnFail of [false, true]) {
		const how = retryOnFail ? 'with Retry On Fail' : 'without Retry On Fail';

		it(`finds what was made when n8n was killed before the answer came, ${how}`, async () => {
			const { n8n, rest, service } = context;
			service.settings.lists.tasks = true;
			const two = ['Rain', 'Wind'];
			const held = service.hold({ route: 'create' });
			const id = await start(two, retryOnFail);
			await waitUntil(() => held.count === 2, { timeoutMs: 20_000, what: 'Both creations' });
			await n8n.kill('SIGKILL');
			held.letGo();
			await n8n.restart();
			await rest.login();
			const crashed = await rest.waitForExecution(id);
			assert.equal(crashed.status, 'crashed');
			const retried = await rest.retryExecution(id);
			checkDelivered(soundsOf(await rest.waitForExecution(retried)), two);
		});
	}
});
