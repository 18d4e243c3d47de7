import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { type Execution, items } from './harness/execution';
import { waitUntil } from './harness/wait';
import { exampleWorkflow } from './harness/workflow';
import { checkPaidOnce, endOf, nodeOf } from './asleep/workbench';

const SLEEP = 'Sleep (Task: Wait)';
/** n8n looks for deadlines once a minute. None passes while a slow machine restarts: n8n 2.41 can crash such an execution (docs/queue-mode.md). */
const roundS = 150;

/** examples/durable-wait.json with shorter rounds, while n8n is killed again and again. No callback ever comes. */
describe('the durable loop', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	/** Waits until the execution sleeps in its nth round. */
	async function asleepInRound(id: string, round: number): Promise<Execution> {
		return await waitUntil(
			async () => {
				const execution = await context.rest.execution(id);
				assert.ok(
					['new', 'running', 'waiting'].includes(execution.status),
					`${execution.status}: ${execution.resultData.error?.message}`,
				);
				const rounds = execution.resultData.runData[SLEEP]?.length ?? 0;
				return execution.status === 'waiting' && rounds >= round && execution;
			},
			{ intervalMs: 500, what: `Round ${round} of execution ${id}` },
		);
	}

	it('survives two times SIGKILL: in its sleep, and with its tasks over while n8n is down', async () => {
		const { n8n, rest, service } = context;
		service.settings.taskMs = 3_600_000;
		const workflow = exampleWorkflow('durable-wait', context);
		const sleep = nodeOf(workflow, SLEEP);
		(sleep.parameters.options as Record<string, unknown>).timeout = roundS;
		const texts = nodeOf(workflow, 'Two Long Texts');
		texts.parameters.jsonOutput = JSON.stringify({ texts: ['One.', 'Two.', 'Three.'] });
		const saved = await rest.createWorkflow(workflow);
		const id = await rest.runManually(saved, 'When Clicked');

		await asleepInRound(id, 1);
		await n8n.kill('SIGKILL');
		await context.startAgain();
		// n8n wakes it at the end of the round, and it goes to sleep again, watched by the process that runs now.
		await asleepInRound(id, 2);
		const [one, two, three] = service.creations();
		assert.ok(one && two && three);
		const pollsBefore = service.polls().length;
		await service.finish(one.id, 'error', { error_message: 'no such voice' });
		await waitUntil(() => service.polls().length > pollsBefore, { what: 'A poll while it sleeps' });
		await n8n.kill('SIGKILL');
		await service.finish(two.id);
		await context.startAgain();
		await asleepInRound(id, 3);
		await service.finish(three.id);
		const execution = await rest.waitForExecution(id);

		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		const runs = execution.resultData.runData['Use the Files'] ?? [];
		const out = runs.flatMap(({ data }) => data?.main[0] ?? []);
		const ends = new Map(out.map((item) => [item.json.task_id, endOf(item)]));
		assert.deepEqual(
			[one, two, three].map((task) => ends.get(task.id)),
			['failed', 'done', 'done'],
		);
		assert.equal(out.length, 3, 'each task leaves the loop once');
		for (const { json, binary } of out) {
			if (json.outcome !== undefined) {
				assert.match(String(json.error), /no such voice/);
				continue;
			}
			assert.ok(binary?.data);
			assert.equal((await rest.download(binary.data)).subarray(0, 4).toString('latin1'), 'ID3\x03');
		}
		assert.equal(items(execution, "Speak (Don't Wait)").length, 3);
		assert.equal(execution.resultData.runData["Speak (Don't Wait)"]?.length, 1);
		checkPaidOnce(context, 3);
		assert.equal(service.callbacks.length, 0);
	});
});
