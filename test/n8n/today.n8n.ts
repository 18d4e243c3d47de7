import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { profiles } from '../service';
import { ownContext, type TestContext } from './harness/context';
import { type Execution, items } from './harness/execution';
import { action, start, workflowOf } from './harness/nodes';
import { exampleWorkflow, type Workflow } from './harness/workflow';

const START = 'When Clicked';

/** The services of today: what they have beside the specification, in three of the examples and a workflow of its own. */
describe('today', () => {
	let context: TestContext;
	ownContext((own) => (context = own), { settings: profiles.today });

	async function begin(workflow: Workflow): Promise<string> {
		return await context.rest.runManually(await context.rest.createWorkflow(workflow), START);
	}

	async function over(id: string): Promise<Execution> {
		const execution = await context.rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		return execution;
	}

	const run = async (workflow: Workflow) => await over(await begin(workflow));
	const example = (name: string) => exampleWorkflow(name, context);

	function parametersOf({ nodes }: Workflow, name: string): Record<string, unknown> {
		const found = nodes.find((node) => node.name === name);
		assert.ok(found, name);
		return found.parameters;
	}

	/** What the stand-in keeps of a file, of a file of n8n's. */
	async function fileOf(execution: Execution, node: string) {
		const [item] = items(execution, node);
		assert.ok(item?.binary?.data, `${node} has a file`);
		const { fileName, mimeType: type } = item.binary.data;
		const bytes = await context.rest.download(item.binary.data);
		const sha256 = createHash('sha256').update(bytes).digest('hex');
		return { fileName, type, bytes: bytes.length, sha256 };
	}

	it('reference-image sends the file with its request, and gets a picture', async () => {
		const execution = await run(example('reference-image'));
		const [task, ...others] = context.service.creations();
		assert.equal(others.length, 0);
		assert.deepEqual(task?.body.assets, [await fileOf(execution, 'As a File')]);
		const { fileName, type } = await fileOf(execution, 'Paint It');
		assert.deepEqual([fileName, type], ['painted.png', 'image/png']);
	});

	it('price-first paints what is cheap enough, and nothing else', async () => {
		const execution = await run(example('price-first'));
		assert.equal(items(execution, 'What It Costs')[0]?.json.credits, 60);
		await fileOf(execution, 'Paint It');
		assert.equal(context.service.creations('image').length, 1);
		context.service.settings.costs.image = 300;
		const tooMuch = await run(example('price-first'));
		assert.equal(items(tooMuch, 'Too Expensive')[0]?.json.credits, 600);
		assert.equal(context.service.creations().length, 1);
	});

	it('dubbing sends the file, and polls though the service calls elsewhere', async () => {
		const { service } = context;
		const execution = await run(example('dubbing'));
		const [task, ...others] = service.creations('dubbing');
		assert.equal(others.length, 0);
		assert.deepEqual(task?.body.file, [await fileOf(execution, 'Speak')]);
		assert.match(String(task.receiveUrl), /\/webhook\/dubbed$/);
		assert.equal((await fileOf(execution, 'Dub It')).fileName, 'ferry-de.mp3');
	});

	it('dubbing sleeps, and is woken by the callback', async () => {
		const { rest, service } = context;
		const workflow = example('dubbing');
		const extraFields = '{"stand_in": {"never_ends": true}}';
		Object.assign(parametersOf(workflow, 'Dub It'), {
			waitMode: 'callback',
			options: { gracePeriod: 0, extraFields },
		});
		const id = await begin(workflow);
		await rest.waitForSleep(id);
		const [task] = service.creations('dubbing');
		assert.ok(task);
		assert.match(String(task.receiveUrl), /\/webhook-waiting\//);
		await service.finish(task.id);
		await fileOf(await over(id), 'Dub It');
		assert.equal(service.creations('dubbing').length, 1);
	});

	it('speech goes to v3 and is found by its whole text; what runs is listed and deleted', async () => {
		const { service } = context;
		service.faults.add({ path: '/v3/text-to-speech', times: 1, action: { type: 'emptyBody' } });
		const speak = {
			...{ resource: 'speech', operation: 'generateByVoiceId', voiceId: 'a' },
			...{ text: 'A sentence of a long chapter. '.repeat(60), withTranscript: true, options: {} },
		};
		const rain = {
			...{ resource: 'soundEffect', operation: 'generate', text: 'Rain', waitForCompletion: false },
			options: { extraFields: '{"stand_in": {"never_ends": true}}' },
		};
		const runs = {
			...{ resource: 'task', operation: 'getAll', returnAll: true },
			filters: {
				...{ type: 'sound_effect', status: 'doing' },
				createdAfter: '={{ $now.minus({ minutes: 5 }).toISO() }}',
			},
		};
		const taskId = "={{ [$json.task_id, $('Speak').item.json.task_id] }}";
		const nodes = [
			start(START),
			action(speak, { name: 'Speak' }),
			action(rain, { name: 'Make Rain' }),
			action(runs, { name: 'What Runs' }),
			action({ resource: 'task', operation: 'delete', taskId, options: {} }, { name: 'Delete' }),
		];
		const execution = await run(workflowOf('Today', nodes, context.credential));
		const [speech, ...others] = service.creations('speech_by_id');
		assert.equal(others.length, 0);
		assert.equal(speech?.body.voice_id, 'elevenlabs_a');
		const [spoken] = items(execution, 'Speak');
		assert.equal(spoken?.json.task_id, speech.id);
		assert.deepEqual(Object.keys(spoken.binary ?? {}), ['data', 'data_1', 'data_2']);
		const [sound] = service.creations('sound_effect');
		const listed = items(execution, 'What Runs').map(({ json }) => json.task_id);
		assert.deepEqual(listed, [sound?.id]);
		assert.deepEqual(
			items(execution, 'Delete').map(({ json }) => json),
			[
				{
					...{ deleted: true, task_ids: [sound?.id], refunded_credits: sound?.cost },
					kept: [{ task_id: speech.id, status: 'done' }],
				},
			],
		);
		assert.equal(service.active, 0);
	});
});
