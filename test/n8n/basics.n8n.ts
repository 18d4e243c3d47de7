import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { inQueueMode, inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items, nodeRun } from './harness/execution';
import { action, base, workflowOf } from './harness/nodes';
import { atLeast } from './harness/version';
import { waitUntil } from './harness/wait';
import type { Output } from '../engine/files';

const generating = ['Sound Effect', 'Speech by Voice ID', 'Speech by Voice Name', 'Image'];

function isAudio(bytes: Buffer): boolean {
	const head = bytes.subarray(0, 4).toString('latin1');
	return (
		head === 'RIFF' ||
		head.startsWith('ID3') ||
		(bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0)
	);
}

describe('basics', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	function only(execution: Execution, nodeName: string): Item {
		const all = items(execution, nodeName);
		assert.equal(all.length, 1, `${nodeName} gave ${all.length} items`);
		return all[0] as Item;
	}

	/** Every file that an item's outputs name, read back from n8n. */
	async function files(item: Item): Promise<Array<{ output: Output; bytes: Buffer }>> {
		const outputs = item.json.outputs as Output[];
		return Promise.all(
			outputs.map(async (output) => {
				const entry = item.binary?.[output.binaryProperty ?? ''];
				assert.ok(entry, `no binary data for ${JSON.stringify(output)}`);
				const bytes = await context.rest.download(entry);
				assert.equal(bytes.length, output.fileSize);
				return { output, bytes };
			}),
		);
	}

	async function checkGenerations(execution: Execution): Promise<void> {
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		for (const name of generating) {
			const { json } = only(execution, name);
			assert.equal(json.status, 'done', name);
			assert.equal(typeof json.task_id, 'string', name);
		}
		for (const name of generating.slice(0, 2)) {
			const [audio, ...rest] = await files(only(execution, name));
			assert.equal(rest.length, 0, name);
			assert.equal(audio?.output.kind, 'audio', name);
			assert.ok(isAudio(audio.bytes), `${name}: no audio`);
		}
		const spoken = await files(only(execution, 'Speech by Voice Name'));
		assert.ok(spoken.some(({ output, bytes }) => output.kind === 'audio' && isAudio(bytes)));
		const transcripts = spoken
			.filter(({ output }) => output.kind === 'transcript')
			.map(({ bytes }) => bytes.toString());
		assert.ok(
			transcripts.some((text) => text.includes('-->')),
			'no SRT',
		);
		assert.ok(
			transcripts.some((text) => text.startsWith('{') || text.startsWith('[')),
			'no JSON',
		);

		const pictures = await files(only(execution, 'Image'));
		assert.deepEqual(
			pictures.map(({ output }) => output.binaryProperty),
			['picture', 'picture_1'],
		);
		for (const { bytes } of pictures) {
			const { width, height } = PNG.sync.read(bytes);
			assert.ok(Math.abs(width / height - 16 / 9) < 0.02, `${width} x ${height} is not 16:9`);
		}
	}

	it('generates by all four routes, started by hand, and the files open', async () => {
		const workflow = await context.addWorkflow('basics');
		const id = await context.rest.runManually(workflow, 'Start');
		const execution = await context.rest.waitForExecution(id);
		await checkGenerations(execution);
		assert.equal(context.service.creations().length, 4);
		if (!atLeast('2.41')) return;
		// A worker saves it after the execution.
		const { media_task_ids: taskIds = '', ...found } = await waitUntil(
			async () => {
				const { customData } = await context.rest.waitForExecution(id);
				return customData?.media_outcome !== undefined && customData;
			},
			{ what: 'what the execution is found by' },
		);
		const made = generating.map((name) => only(execution, name).json.task_id);
		assert.deepEqual(taskIds.split(',').sort(), made.sort());
		assert.equal(found.media_outcome, 'done');
	});

	const perProcess = { skip: inQueueMode && 'each worker remembers its own runs' };
	it('names in a second run by hand what the first one has paid for', perProcess, async () => {
		const { rest, credential, service } = context;
		service.reset();
		const rain = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
		const start = base('Start', ['manualTrigger', 1]);
		const nodes = [start, action({ ...rain, downloadOutput: false })];
		const saved = await rest.createWorkflow(workflowOf('by hand', nodes, credential));
		const run = async () => await rest.waitForExecution(await rest.runManually(saved, 'Start'));
		const hintsOf = (execution: Execution) => JSON.stringify(nodeRun(execution, 'Generate'));
		const words = '1 task is paid in an earlier test run';
		assert.ok(!hintsOf(await run()).includes(words));
		const [{ id = '' } = {}] = service.creations();
		const second = hintsOf(await run());
		assert.ok(second.includes(words) && second.includes(id), second);
		assert.equal(service.creations().length, 2);
	});
});
