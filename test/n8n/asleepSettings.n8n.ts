import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { checkFiles } from './harness/files';
import { waitUntil } from './harness/wait';
import {
	branch,
	checkDone,
	checkPaidOnce,
	endless,
	endOf,
	ended,
	fieldsOf,
	type Job,
	nodeOf,
	publishFlow,
	subWorkflow,
} from './asleep/workbench';

const onErrors = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;

/** A node that suspends, with each of its settings. In queue mode, too. */
describe('asleep, with every setting', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	function taskOf(text: string): string {
		const [task, ...others] = context.service.creations(({ body }) => body.text === text);
		assert.ok(task && others.length === 0, `${others.length + 1} tasks for ${text}`);
		return task.id;
	}

	/** All fields of a task that failed while the execution slept. */
	function checkFailed(item: Item | undefined, text: string): void {
		assert.ok(item);
		const { error } = item.json;
		const { outcome, status, task_id } = fieldsOf(item);
		assert.match(String(error), /no such sound/);
		assert.deepEqual(
			{ outcome, status, task_id },
			{ outcome: 'failed', status: 'error', task_id: taskOf(text) },
		);
	}

	const polled: Job = { text: 'Polled', mode: 'poll', standIn: { ms: 500 } };
	const mixed = [polled, endless('Slept'), endless('Fails asleep'), endless('Slept, too')];

	/** The jobs that n8n links the finished items to. */
	function linkedTexts(execution: Execution): unknown[] {
		return items(execution, 'Went Well')
			.filter((item) => endOf(item) === 'done')
			.map(({ json }) => json.linked);
	}

	async function finishMixed(): Promise<void> {
		const { service } = context;
		await service.finish(taskOf('Slept'));
		await service.finish(taskOf('Fails asleep'), 'error', { error_message: 'no such sound' });
		await service.finish(taskOf('Slept, too'));
	}

	for (const onError of onErrors)
		for (const retryOnFail of [false, true])
			it(`delivers all of a mixed run: On Error ${onError}, Retry On Fail ${retryOnFail ? 'on' : 'off'}`, async () => {
				const { service } = context;
				const stops = onError === 'stopWorkflow';
				const flow = await publishFlow(context, (workflow) =>
					Object.assign(nodeOf(workflow), { onError, retryOnFail, waitBetweenTries: 500 }),
				);
				// A try that fails: by the node's error where the run stops, by an error in the first item where it goes on.
				const refused: Job = { text: '' };
				if (stops && retryOnFail)
					service.faults.add({
						route: 'create',
						skip: 1,
						times: 1,
						action: { type: 'status', status: 422, body: { success: false, error: 'not now' } },
					});
				const id = await flow.asleep(stops ? mixed : [refused, ...mixed]);
				checkPaidOnce(context, 4);
				await finishMixed();
				const execution = await ended(context, id);
				checkPaidOnce(context, 4);

				const outputs = [branch(execution).map(endOf), branch(execution, 1).map(endOf)];
				const whole = ['done', 'done', 'failed', 'done'];
				const apart = ['done', 'done', 'done'];
				if (stops) assert.deepEqual(outputs, [whole, []]);
				else if (onError === 'continueRegularOutput')
					assert.deepEqual(outputs, [['invalid', ...whole], []]);
				else assert.deepEqual(outputs, [apart, ['invalid', 'failed']]);
				checkFailed(
					[...branch(execution), ...branch(execution, 1)].find((item) => endOf(item) === 'failed'),
					'Fails asleep',
				);
				const done = branch(execution).filter((item) => endOf(item) === 'done');
				assert.deepEqual(
					done.map(({ json }) => service.task(String(json.task_id)).body.text),
					['Polled', 'Slept', 'Slept, too'],
				);
				for (const item of done) await checkFiles(context, item, 1);
				// What comes behind finds each item's own job.
				assert.deepEqual(linkedTexts(execution), ['Polled', 'Slept', 'Slept, too']);
			});

	for (const [how, drop] of [
		['its callbacks', false],
		['its own polls', true],
	] as const)
		it(`a sleeping sub-workflow holds its parent, and both finish: woken by ${how}`, async () => {
			const { rest, service } = context;
			service.settings.callbacks.drop = drop;
			const { parent, child } = await subWorkflow(context);
			const jobs = [endless('First'), endless('Second')];
			const id = await parent.asleep(jobs);
			const [sleeper] = await waitUntil(
				async () => {
					const all = await rest.listExecutions(child.id);
					return all.length > 0 && all;
				},
				{ what: 'The execution of the sub-workflow' },
			);
			assert.ok(sleeper);
			await rest.waitForSleep(sleeper.id);
			await service.finish(taskOf('First'));
			assert.equal((await rest.execution(id)).status, 'waiting');
			await service.finish(taskOf('Second'));
			checkDone(context, [await ended(context, sleeper.id)]);
			const out = items(await ended(context, id), 'Sub-workflow');
			assert.deepEqual(out.map(endOf), ['done', 'done']);
			assert.ok(out.every(({ binary }) => binary?.data !== undefined));
			checkPaidOnce(context, 2);
		});
});
