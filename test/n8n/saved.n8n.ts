import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { type Execution, items } from './harness/execution';
import type { SavedCredential, SavedWorkflow } from './harness/rest';
import { needsSuspending } from './harness/version';
import { waitUntil } from './harness/wait';
import { readWorkflow, type Workflow } from './harness/workflow';
import { callbackSecret, Workbench } from './trigger/workbench';

const folder = join(__dirname, 'saved', '0.1');

/** What a node's items have to be: a status or an outcome each, and which binary properties they carry. */
type Expected = Record<string, { each: string[]; files: string[] }>;

const wav = { each: ['done'], files: ['data'] };
const withTranscript = { each: ['done'], files: ['data', 'data_1', 'data_2'] };

/** Workflows that run to their end by themselves. */
const started: Array<{ file: string; from: string; creations: number; expected: Expected }> = [
	{
		file: 'generate',
		from: 'Start',
		creations: 4,
		expected: {
			'Sound Effect': wav,
			'Speech by Voice ID': wav,
			'Speech by Voice Name': withTranscript,
			Image: { each: ['done'], files: ['picture', 'picture_1'] },
		},
	},
	{
		file: 'defaults',
		from: 'Start',
		creations: 2,
		expected: { Speech: wav, Image: wav, Look: { each: ['done'], files: [] } },
	},
	{
		file: 'options',
		from: 'Start',
		creations: 4,
		expected: {
			'Not in Time': { each: ['timed out'], files: [] },
			'In Time': { each: ['done'], files: ['late'] },
			'Two Files': { each: ['done', 'done'], files: ['sound'] },
			'No Download': { each: ['done', 'done'], files: [] },
		},
	},
	{
		file: 'later',
		from: 'Start',
		creations: 1,
		expected: {
			'Create Only': { each: ['created'], files: [] },
			Wait: wav,
			Look: { each: ['done'], files: [] },
		},
	},
	{
		file: 'first-run',
		from: 'When Clicked',
		creations: 3,
		expected: { 'Door Creaks': wav, 'Say Hello': withTranscript, 'Paint a Lighthouse': wav },
	},
	{ file: 'text-to-file', from: 'When Clicked', creations: 1, expected: { Speak: wav } },
	{
		file: 'four-pictures',
		from: 'When Clicked',
		creations: 1,
		expected: { Paint: { each: Array<string>(4).fill('done'), files: ['data'] } },
	},
	{
		file: 'sound-batch',
		from: 'When Clicked',
		creations: 8,
		expected: { 'Make Sounds': { each: Array<string>(8).fill('done'), files: ['data'] } },
	},
];

/** Workflows as earlier versions saved them run in this one. The files stay as they are; test/package/saved.test.ts says what they hold. */
describe('workflows saved by 0.1', () => {
	let context: TestContext;
	let bench: Workbench;

	before(async () => {
		context = await sharedContext();
		bench = new Workbench(context);
	});
	after(async () => await bench.close());

	function read(
		file: string,
		credential: SavedCredential = context.credential,
		placeholders: Record<string, string> = { PATH: `saved-${file}` },
	): Workflow {
		return readWorkflow(join(folder, `${file}.json`), { credential, placeholders });
	}

	/** Runs a workflow that begins by hand to its end, and everything in it has to be well. */
	async function run(workflow: Workflow, from: string): Promise<Execution> {
		const saved = await context.rest.createWorkflow(workflow);
		const id = await context.rest.runManually(saved, from);
		const execution = await context.rest.waitForExecution(id, 'finished', 120_000);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		return execution;
	}

	function check(execution: Execution, expected: Expected): void {
		for (const [node, { each, files }] of Object.entries(expected)) {
			const found = items(execution, node);
			const verdicts = found.map(({ json }) => {
				if (json.timed_out === true) return 'timed out';
				return json.outcome ?? json.status ?? (json.task_id === undefined ? 'nothing' : 'created');
			});
			assert.deepEqual(verdicts, each, node);
			for (const { binary } of found) assert.deepEqual(Object.keys(binary ?? {}), files, node);
		}
	}

	for (const { file, from, creations, expected } of started) {
		it(`${file}: the same requests and the same results`, async () => {
			context.service.reset();
			check(await run(read(file), from), expected);
			assert.equal(context.service.creations().length, creations);
		});
	}

	it('voices, models and formats go into the request as they were written', async () => {
		context.service.reset();
		await run(read('generate'), 'Start');
		const [byId] = context.service.creations('speech_by_id');
		assert.deepEqual(byId?.params, {
			voice_id: '21m00Tcm4TlvDq8ikWAM',
			output_format: 'mp3_44100_128',
		});
		assert.equal(byId.body.model_id, 'eleven_multilingual_v2');
		const [byName] = context.service.creations('speech_by_name');
		assert.deepEqual(byName?.body, {
			text: 'By the name of a voice, with a transcript.',
			voice: 'en-US-AvaNeural',
			with_transcript: true,
		});
		const [image] = context.service.creations('image');
		assert.deepEqual(image?.body, {
			prompt: 'Two herons',
			model_id: 'image-1',
			generations_count: 2,
			model_parameters: { aspect_ratio: '16:9' },
		});
	});

	it('credits and keys', async () => {
		context.service.reset();
		const execution = await run(read('later'), 'Start');
		assert.equal(typeof items(execution, 'Credits')[0]?.json.credits, 'number');
		assert.ok(items(execution, 'Keys').length > 0);
	});

	it('error-branch: failures leave by the branch and carry their outcomes', async () => {
		context.service.reset();
		context.service.settings.taskMs = 4000;
		const execution = await run(read('error-branch'), 'When Clicked');
		assert.deepEqual(
			items(execution, 'Make the Sound', { output: 1 }).map(({ json }) => json.outcome),
			['timed_out', 'invalid'],
		);
		assert.equal(items(execution, 'Use the File').length, 1);
		check(execution, { 'Wait Some More': wav });
	});

	it('recover-task: a task made elsewhere', async () => {
		context.service.reset();
		const taskId = await bench.task();
		const workflow = read('recover-task');
		const given = workflow.nodes.find(({ name }) => name === 'The Task ID');
		assert.ok(given);
		given.parameters.jsonOutput = JSON.stringify({ task_id: taskId });
		check(await run(workflow, 'When Clicked'), { Look: { each: ['done'], files: [] }, Fetch: wav });
		assert.equal(context.service.creations().length, 1);
	});

	/** Finishes every task once the execution sleeps, and reads it when it is over. */
	async function wakeUp(id: string): Promise<Execution> {
		assert.equal((await context.rest.waitForExecution(id, 'waiting')).status, 'waiting');
		for (const task of context.service.creations()) await context.service.finish(task.id);
		const execution = await context.rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		return execution;
	}

	it('long-task: asleep until the callbacks are in', needsSuspending(), async () => {
		context.service.reset();
		context.service.settings.taskMs = 3_600_000;
		const saved = await context.rest.createWorkflow(read('long-task'));
		const execution = await wakeUp(await context.rest.runManually(saved, 'When Clicked'));
		const both = { each: ['done', 'done'], files: ['data'] };
		check(execution, { 'Speak (Suspend)': both, 'Wait for the Rest': both });
		assert.equal(context.service.creations().length, 2);
	});

	it('asleep: settings by expressions, and "Task: Wait" behind', needsSuspending(), async () => {
		context.service.reset();
		const saved = await context.rest.createWorkflow(read('asleep'));
		await bench.publish(saved, `${context.n8n.baseUrl}/webhook/saved-asleep`);
		await context.rest.waitForExecutions(saved.id, 1);
		const job = { text: 'Long', standIn: { ms: 3_600_000 } };
		await context.rest.callWebhook('saved-asleep', { jobs: [job, job], grace: 0, timeout: 3600 });
		const id = await waitUntil(
			async () => {
				const [newest, ...others] = await context.rest.listExecutions(saved.id);
				return others.length > 0 && newest?.id;
			},
			{ timeoutMs: 20_000, what: 'The execution' },
		);
		const execution = await wakeUp(id);
		const both = { each: ['done', 'done'], files: ['data'] };
		check(execution, { Generate: both, Rest: both });
		assert.equal(context.service.creations().length, 2);
	});

	async function published(file: string, credential: SavedCredential): Promise<SavedWorkflow> {
		const workflow = read(file, credential);
		const hook = workflow.nodes.find(({ type }) => type.endsWith('Trigger'))?.webhookId;
		const saved = await context.rest.createWorkflow(workflow);
		await bench.publish(saved, `${context.n8n.baseUrl}/webhook/${String(hook)}/callback`);
		return saved;
	}

	it('the trigger: with its defaults, with every field set, and as the examples have it', async () => {
		context.service.reset();
		const secret = await bench.credential(callbackSecret);
		const byDefault = await published('callback-receive', secret);
		const allSet = await published('callback-fields', secret);
		const example = await published('on-completion', secret);
		const creator = await context.rest.createWorkflow(read('callback-create', secret));
		const url = (name: string) => `${context.n8n.baseUrl}/webhook/${name}/callback`;
		await context.rest.publish(creator);
		const jobs = ['saved-callback-receive', 'saved-callback-fields'].map((name) => ({
			text: 'Rain',
			callbackUrl: url(name),
			reference: name,
		}));
		await context.rest.callWebhook('saved-callback-create', { jobs });
		const order = read('fire-and-forget', secret);
		const text = JSON.stringify(order).replace('http://localhost:5678/', `${context.n8n.baseUrl}/`);
		await run(JSON.parse(text) as Workflow, 'When Clicked');

		for (const [workflow, node, property, reference] of [
			[byDefault, 'Goes On', 'data', 'saved-callback-receive'],
			[allSet, 'Goes On', 'sound', 'saved-callback-fields'],
		] as const) {
			const [execution] = await context.rest.waitForExecutions(workflow.id, 1);
			assert.ok(execution);
			check(execution, { [node]: { each: ['done'], files: [property] } });
			const [item] = items(execution, node);
			assert.equal(item?.json.reference, reference);
			assert.equal(item.json.verified, workflow === byDefault);
		}
		const scenes = await context.rest.waitForExecutions(example.id, 3);
		const references = scenes.map((one) => items(one, 'Task Finished')[0]?.json.reference);
		assert.deepEqual(references.sort(), ['scene-1', 'scene-2', 'scene-3']);
	});
});
