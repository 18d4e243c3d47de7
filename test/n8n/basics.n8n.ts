import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { action, type Link, start } from './harness/nodes';
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
		const speech = { resource: 'speech', modelId: 'eleven_multilingual_v2', text: 'Some words' };
		const byId = { operation: 'generateByVoiceId', voiceId: '21m00Tcm4TlvDq8ikWAM' };
		const byName = { operation: 'generateByVoiceName', voice: 'en-US-AvaNeural' };
		const picture = {
			...{ resource: 'image', operation: 'generate', prompt: 'Two herons', modelId: 'image-1' },
			...{ generationsCount: 2, aspectRatio: '16:9', outputBinaryField: 'picture' },
		};
		const fields = [
			{ resource: 'soundEffect', operation: 'generate', text: 'A door creaks' },
			{ ...speech, ...byId, outputFormat: 'mp3_44100_128' },
			{ ...speech, ...byName, withTranscript: true },
			picture,
		];
		const nodes = fields.map((each, at) => action(each, { name: generating[at] }));
		const links = generating.map((name): Link => ['Start', name]);
		const workflow = await context.save([start(), ...nodes], links);
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
});
