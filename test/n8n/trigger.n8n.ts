import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inQueueMode, sharedContext, ownContext, type TestContext } from './harness/context';
import { items } from './harness/execution';
import { checkFiles } from './harness/files';
import type { SavedCredential, SavedWorkflow } from './harness/rest';
import { waitUntil } from './harness/wait';
import { called, generate, oneItemEach, workflowOf } from './harness/nodes';
import { exampleWorkflow } from './harness/workflow';
import { callbackSecret, passedOn, post, Workbench } from './trigger/workbench';

const received = { status: 200, body: { received: true } };

/** Of copies one is let through; the others are duplicates of it, or told to come again, where n8n takes long to store its execution. */
function checkCopies(answers: ReadonlyArray<{ status?: number; body: string }>): void {
	const others = answers.filter(
		({ status, body }) =>
			(status === 200 && body.includes('this task and status was received before')) ||
			(status === 503 && body.includes('is being handled already')),
	);
	const through = answers.filter((answer) => !others.includes(answer));
	assert.deepEqual(
		through.map(({ status }) => status),
		[200],
		JSON.stringify(answers),
	);
}

describe('trigger', () => {
	let context: TestContext;
	let bench: Workbench;
	let secret: SavedCredential;
	let creator: SavedWorkflow;

	before(async () => {
		context = await sharedContext();
		bench = new Workbench(context);
		secret = await context.addCredential('With Secret', { callbackSecret });
		const fields = { waitForCompletion: false, callbackUrl: '={{ $json.job.callbackUrl }}' };
		const options = { callbackReference: '={{ $json.job.reference }}' };
		const nodes = [called('trigger-create-1'), oneItemEach(), generate(fields, options)];
		creator = await context.rest.createWorkflow(workflowOf('Create', nodes, secret));
		await bench.publish(creator, `${context.n8n.baseUrl}/webhook/trigger-create-1`);
		await waitUntil(async () => (await context.rest.listExecutions(creator.id)).length === 1, {
			what: 'The first run of the creating workflow',
		});
	});

	after(async () => {
		await bench.close();
	});

	/** Has the creating workflow create tasks, one per job; what its node gave out. */
	async function create(jobs: Array<Record<string, unknown>>): Promise<Record<string, unknown>[]> {
		const before = (await context.rest.listExecutions(creator.id)).length;
		const answer = await context.rest.callWebhook('trigger-create-1', { jobs });
		assert.equal(answer.status, 200);
		const executions = await context.rest.waitForExecutions(creator.id, before + 1);
		const execution = executions.at(-1);
		assert.ok(execution);
		return items(execution, 'Generate').map(({ json }) => json);
	}

	it('runs once for each of 10 tasks, with its reference and its files', async () => {
		const { service } = context;
		service.settings.taskMs = 1500;
		const receiver = await bench.receiver('trigger-ten', secret);
		const url = `${receiver.url}?campaign=spring%20sale`;
		service.settings.callbacks.concurrent = true;
		// All are called back twice or more, with nothing between the calls; one before its creation is answered.
		const created = await create(
			Array.from({ length: 10 }, (_, index) => ({
				text: `Sound ${index}`,
				callbackUrl: url,
				reference: `scene ${index} & "quotes" ä`,
				standIn: {
					callback_copies: index < 3 ? 3 : 2,
					callback_before_answer: index === 3,
					files: index === 4 ? 3 : 1,
				},
			})),
		);
		assert.equal(created.length, 10);
		for (const { task_id: taskId } of created) {
			const task = service.task(String(taskId));
			const asked = new URL(task.receiveUrl ?? '');
			assert.equal(asked.searchParams.get('campaign'), 'spring sale');
			assert.ok(asked.searchParams.get('signature'));
			await waitUntil(() => task.status === 'done', { what: 'A task' });
			await service.callbacksSettled(task.id);
		}
		const runs = await receiver.ran(10);
		const byTask = new Map(runs.map((run) => [passedOn(run).json.task_id, run]));
		assert.equal(byTask.size, 10);
		for (const [index, { task_id: taskId }] of created.entries()) {
			const run = byTask.get(taskId);
			assert.ok(run, `task ${String(taskId)} started no run`);
			const item = passedOn(run);
			assert.equal(item.json.reference, `scene ${index} & "quotes" ä`);
			assert.equal(item.json.verified, true);
			assert.equal(item.json.status, 'done');
			assert.equal(item.json.id, taskId);
			assert.equal(item.json.task, undefined);
			const outputs = await checkFiles(context, item, index === 4 ? 3 : 1);
			assert.equal(outputs[0]?.binaryProperty, 'data');
			const place = inQueueMode ? /^database:/ : new RegExp(`/executions/${run.id}/`);
			assert.match(String(item.binary?.data?.id), place, 'the file goes with the run');
			const answers = service.callbacks.filter((call) => call.taskId === taskId);
			assert.equal(answers.length, index < 3 ? 3 : 2);
			checkCopies(answers);
		}
		assert.equal(service.foreignAuthorization(), 0);
		assert.ok(!JSON.stringify(runs).includes(callbackSecret));
		assert.ok(!JSON.stringify(runs).includes(service.apiKey));
		service.settings.callbacks.concurrent = false;
	});

	it('answers before it downloads', async () => {
		const { service } = context;
		const receiver = await bench.receiver('trigger-slow-file', context.credential);
		const fault = service.faults.add({ route: 'file', action: { type: 'stall' } });
		const taskId = await bench.task();
		assert.deepEqual(await post(receiver.url, service.payload(taskId)), received);
		// The file host has not given out a byte: the run is there all the same.
		const isRun = async () => (await receiver.runs()).find(({ status }) => status === 'running');
		const run = await waitUntil(isRun, { what: 'The run' });
		await context.rest.stopExecution(run.id);
		assert.equal((await context.rest.waitForExecution(run.id)).status, 'canceled');
		service.faults.remove(fault);
	});

	it('takes one event while the editor listens for a test event', async () => {
		const { rest } = context;
		const receiver = await bench.receiver('trigger-test', secret, {}, { publish: false });
		const body = context.service.payload(await bench.task());
		assert.equal((await post(receiver.testUrl, body)).status, 404);
		const [created] = await create([
			{ text: 'Listening', callbackUrl: receiver.testUrl, reference: 'a test' },
		]);
		// The callback of that task finds nobody listening; then the editor listens, and it is sent again.
		const taskId = String(created?.task_id);
		await waitUntil(() => context.service.callbacks.some((call) => call.taskId === taskId), {
			what: 'The callback',
		});
		for (let round = 1; round <= 2; round++) {
			assert.equal(await rest.listen(receiver.workflow, 'Finished'), true);
			// What is ignored or refused does not use up the one event.
			assert.equal((await post(receiver.testUrl, body)).status, 401);
			const answer = await context.service.sendCallback(taskId);
			assert.deepEqual(JSON.parse(answer.body), { received: true });
			const runs = await receiver.ran(round);
			const run = runs.at(-1);
			assert.ok(run);
			assert.equal(run.mode, 'manual');
			assert.equal(passedOn(run).json.reference, 'a test');
			await checkFiles(context, passedOn(run), 1);
			assert.equal((await context.service.sendCallback(taskId)).status, 404);
		}
	});

	it('runs the two examples', async () => {
		const { rest, service, n8n } = context;
		const example = (name: string) => exampleWorkflow(name, { n8n, credential: secret });
		const receive = example('on-completion');
		const hook = receive.nodes.find(({ type }) => type.endsWith('Trigger'))?.webhookId;
		const url = `${n8n.baseUrl}/webhook/${String(hook)}/callback`;
		const saved = await rest.createWorkflow(receive);
		await bench.publish(saved, url);
		const ordering = example('fire-and-forget');
		assert.ok(JSON.stringify(ordering).includes(url), 'another URL in the example');
		const order = await rest.createWorkflow(ordering);
		const before = service.creations().length;
		const execution = await rest.run(order, 'When Clicked');
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(service.creations().length - before, 3);
		const runs = await rest.waitForExecutions(saved.id, 3);
		const scenes = runs.map((run) => items(run, 'Use the File')[0]);
		assert.deepEqual(scenes.map((item) => item?.json.scene).sort(), [
			'scene-1',
			'scene-2',
			'scene-3',
		]);
		for (const item of scenes) {
			assert.match(String(item?.json.file), /^http/);
			assert.ok(item?.binary?.data);
		}
	});
});

describe('trigger, after n8n was killed', { skip: inQueueMode }, () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	it('knows the events of two triggers of a workflow, also of those that still ran', async () => {
		const { n8n, service } = context;
		const bench = new Workbench(context);
		// What is slow on a busy machine is left out: each call has its answer within seconds.
		const settings = { downloadOutput: false, verifyWithService: false };
		const name = 'trigger-killed';
		const receiver = await bench.receiver(name, context.credential, settings, {
			twice: true,
		});
		const urls = [receiver.url, receiver.secondUrl];
		const taskIds: string[] = [];
		for (let index = 0; index < 40; index += 1) taskIds.push(await bench.task());
		const call = async (id: string, index: number) =>
			await post(urls[index % 2] ?? '', service.payload(id));
		for (const answer of await Promise.all(taskIds.map(call))) assert.deepEqual(answer, received);
		await n8n.kill('SIGKILL');
		await context.startAgain();
		const nobody = { id: 'none', status: 'doing' };
		await waitUntil(async () => (await post(receiver.url, nobody)).body.ignored !== undefined, {
			what: 'The webhook after the restart',
		});
		for (const answer of await Promise.all(taskIds.map(call)))
			assert.match(String(answer.body.ignored), /does not start the workflow/);
	});
});
