import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { applySettings } from '../service';
import { inSharedContext, type TestContext } from './harness/context';
import { type BinaryEntry, type Execution, items } from './harness/execution';
import { fetch } from './harness/http';
import { atLeast } from './harness/version';
import { exampleNames, exampleSettings, exampleWorkflow, type Workflow } from './harness/workflow';

/** How a file with this ending begins. */
const heads: Record<string, RegExp> = {
	wav: /^RIFF/,
	mp3: /^ID3\x03/,
	png: /^\x89PNG/,
	srt: /^1\r?\n/,
	json: /^[[{]/,
};

interface Expected {
	/** By the node: for each of its items, what the names of its files end with. */
	files: Record<string, string[][]>;
	/** How many are paid for. */
	tasks: number;
}

/** Examples that are done when their files are there. */
const made: Record<string, Expected> = {
	'text-to-file': { files: { Speak: [['announcement.wav']] }, tasks: 1 },
	'first-run': {
		files: {
			'Door Creaks': [['.wav']],
			'Say Hello': [['.wav', '.srt', '.json']],
			'Paint a Lighthouse': [['.png']],
		},
		tasks: 3,
	},
	'sound-batch': { files: { 'Make Sounds': Array<string[]>(8).fill(['.wav']) }, tasks: 8 },
	'four-pictures': { files: { 'Each Picture': Array<string[]>(4).fill(['.png']) }, tasks: 1 },
	'reference-image': { files: { 'Paint It': [['painted.png']] }, tasks: 1 },
	music: { files: { 'Make Music': [['waltz.wav', 'waltz_1.wav']] }, tasks: 1 },
	dubbing: { files: { 'Dub It': [['ferry-de.wav', 'ferry-de.srt', 'ferry-de.json']] }, tasks: 2 },
	dialogue: { files: { 'Speak the Dialogue': [['harbour.wav']] }, tasks: 1 },
	'jingle-and-speech': { files: { Join: [['news.wav']] }, tasks: 2 },
	'a-scene': { files: { 'Use the Files': [['.wav', '.png', '.wav']] }, tasks: 3 },
	'book-chapter': { files: { 'Speak the Chapter': [['.wav', '.srt', '.json']] }, tasks: 4 },
};

/** Every example as it is shipped, but for the credential, in a real n8n. */
describe('examples', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	const read = (name: string): Workflow => exampleWorkflow(name, context);

	/** Starts an example. Its ID. */
	async function begin(workflow: Workflow): Promise<string> {
		const saved = await context.rest.createWorkflow(workflow);
		return await context.rest.runManually(saved, 'When Clicked');
	}

	async function over(id: string): Promise<Execution> {
		const execution = await context.rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		return execution;
	}

	const run = async (workflow: Workflow) => await over(await begin(workflow));

	function fresh(): void {
		context.service.reset();
		applySettings(context.service.settings, exampleSettings);
	}

	function setJson(workflow: Workflow, nodeName: string, json: object): void {
		const node = workflow.nodes.find(({ name }) => name === nodeName);
		assert.ok(node);
		node.parameters.jsonOutput = JSON.stringify(json);
	}

	async function checkFile(entry: BinaryEntry | undefined, end: string): Promise<void> {
		const { fileName = '' } = entry ?? {};
		assert.ok(entry && fileName.endsWith(end), `"${fileName}" instead of ${end}`);
		const bytes = await context.rest.download(entry);
		const head = heads[fileName.split('.').at(-1) ?? ''];
		assert.match(bytes.subarray(0, 4).toString('latin1'), head ?? /^$/, fileName);
	}

	/** What a node gave: for each item, the ends of the names of its files. */
	async function checkFiles(execution: Execution, name: string, ends: string[][]): Promise<void> {
		const all = items(execution, name).map(({ binary }) => Object.values(binary ?? {}));
		assert.deepEqual(
			all.map(({ length }) => length),
			ends.map(({ length }) => length),
			`files of ${name}`,
		);
		for (const [index, entries] of all.entries())
			for (const [at, entry] of entries.entries()) await checkFile(entry, ends[index]?.[at] ?? '');
	}

	it('are importable: unique names and IDs, nodes that say what they are for', () => {
		for (const file of exampleNames) {
			const { name, nodes, pinData } = read(file);
			assert.match(name, /^Media Generation: /, file);
			// Without it, n8n 2.41 fails at the second "Execute step" of an imported workflow.
			assert.ok(pinData, file);
			assert.equal(new Set(nodes.map((node) => node.name)).size, nodes.length, file);
			assert.equal(new Set(nodes.map((node) => node.id)).size, nodes.length, file);
			const ours = nodes.filter(({ type }) => type.startsWith('n8n-nodes-media-generation.'));
			assert.ok(ours.length > 0, file);
		}
	});

	for (const [name, { files, tasks }] of Object.entries(made))
		it(`${name} makes its files`, async () => {
			fresh();
			const execution = await run(read(name));
			for (const [node, ends] of Object.entries(files)) await checkFiles(execution, node, ends);
			assert.equal(context.service.creations().length, tasks);
			assert.ok(context.service.maxActive <= 5, 'more than five at once');
		});

	it('rows-to-files writes a file for each row, and keeps the fields of the row', async () => {
		fresh();
		const saved = items(await run(read('rows-to-files')), 'What Was Saved');
		assert.deepEqual(
			saved.map(({ json }) => json.row),
			Array.from({ length: 20 }, (_, index) => index + 1),
		);
		assert.match(String(saved[0]?.json.file), /\/files\/1 harbour\.wav$/);
		assert.ok(saved.every(({ json }) => existsSync(String(json.file))));
	});

	it('price-first paints what is cheap enough, and nothing else', async () => {
		fresh();
		await checkFiles(await run(read('price-first')), 'Paint It', [['.png', '.png']]);
		context.service.settings.costs.image = 300;
		const tooMuch = await run(read('price-first'));
		assert.equal(items(tooMuch, 'Too Expensive')[0]?.json.credits, 600);
		assert.equal(context.service.creations().length, 1);
	});

	it('long-task sleeps until its callbacks are in', async () => {
		fresh();
		context.service.settings.taskMs = 3_600_000;
		const id = await begin(read('long-task'));
		await context.rest.waitForSleep(id);
		for (const { id: taskId } of context.service.creations()) await context.service.finish(taskId);
		await checkFiles(await over(id), 'Wait for the Rest', [['.mp3'], ['.mp3']]);
		assert.equal(context.service.creations().length, 2);
	});

	it('paid-tasks lists the tasks of the last day, with their files', async () => {
		const { service } = context;
		fresh();
		service.settings.clockOffsetMs = -2 * 86_400_000;
		await service.order({ text: 'Rain', stand_in: {} });
		await service.order({ text: 'Wind', stand_in: { end: 'error' } });
		assert.equal(items(await run(read('paid-tasks')), 'List Tasks').length, 0);
		service.settings.clockOffsetMs = 0;
		const execution = await run(read('paid-tasks'));
		assert.equal(items(execution, 'Fetch Files')[0]?.json.outcome, 'failed');
		await checkFiles(execution, 'Fetch Files', [[], ['.wav']]);
		assert.equal(service.creations().length, 2);
	});

	it('recover-task fetches the files of a task made by somebody else, and pays nothing', async () => {
		fresh();
		const workflow = read('recover-task');
		setJson(workflow, 'The Task ID', { task_id: await context.service.order() });
		await checkFiles(await run(workflow), 'Fetch', [['.wav']]);
		assert.equal(context.service.creations().length, 1);
	});

	it('error-branch sends each outcome where it can be helped', async () => {
		fresh();
		context.service.settings.taskMs = 4000;
		const execution = await run(read('error-branch'));
		assert.deepEqual(
			items(execution, 'Make the Sound', { output: 1 }).map(({ json }) => json.outcome),
			['timed_out', 'invalid'],
		);
		await checkFiles(execution, 'Use the File', [['.wav']]);
		await checkFiles(execution, 'Wait Some More', [['.wav']]);
		const [repeat] = items(execution, 'Correct and Repeat');
		assert.match(String(repeat?.json.reason), /'Text' is empty/);
		assert.equal(context.service.creations().length, 2);
	});

	it('answer-now answers with the task at once, and with its file at a second address', async () => {
		const { service, rest } = context;
		fresh();
		service.settings.taskMs = 3_600_000;
		await rest.publish(await rest.createWorkflow(read('answer-now')));
		const ordered = await rest.callWebhook('media-order', { text: 'Rain' });
		assert.equal(ordered.status, 202);
		const { task_id: taskId = '' } = JSON.parse(ordered.text) as { task_id?: string };
		const ask = `${context.n8n.baseUrl}/webhook/media-task?task_id=${taskId}`;
		const early = await fetch(ask);
		assert.equal(early.status, 202);
		assert.deepEqual(await early.json(), { task_id: taskId, status: 'doing' });
		await service.finish(taskId);
		const file = Buffer.from(await (await fetch(ask)).arrayBuffer());
		assert.equal(file.subarray(0, 4).toString('latin1'), 'RIFF');
		assert.equal(service.creations().length, 1);
	});

	it(
		"are not in n8n's own report of what breaks in its next major version",
		{ skip: atLeast('2.41') ? false : 'n8n reports what breaks in 3.0 from 2.41 on' },
		async () => {
			const { rest } = context;
			const ids = new Set<string>();
			for (const name of exampleNames) ids.add((await rest.createWorkflow(read(name))).id);
			const { report } = await rest.request<{
				report: { workflowResults: Array<{ ruleId: string }> };
			}>('POST', '/breaking-changes/report/refresh?version=v3');
			const affected: string[] = [];
			for (const { ruleId } of report.workflowResults) {
				const { affectedWorkflows } = await rest.request<{
					affectedWorkflows: Array<{ id: string; name: string }>;
				}>('GET', `/breaking-changes/report/${ruleId}`);
				for (const { id, name } of affectedWorkflows)
					if (ids.has(id)) affected.push(`${ruleId}: ${name}`);
			}
			assert.deepEqual(affected, []);
		},
	);
});
