import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Output } from '../engine/files';
import { applySettings } from '../service';
import type { FormFile } from '../service/form';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { checkFiles } from './harness/files';
import { CONTEXT_FIELD, notesReference } from '../../nodes/MediaGeneration/suspend/notes';
import {
	action,
	base,
	type Link,
	type Node,
	soundEffect,
	speechByName,
	start,
} from './harness/nodes';
import { atLeast } from './harness/version';
import type { SavedWorkflow } from './harness/rest';
import { waitUntil } from './harness/wait';
import { exampleSettings } from './harness/workflow';

describe('basics', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	function only(execution: Execution, nodeName: string): Item {
		const all = items(execution, nodeName);
		assert.equal(all.length, 1, `${nodeName} gave ${all.length} items`);
		return all[0] as Item;
	}

	async function succeeded(workflow: SavedWorkflow): Promise<Execution> {
		const execution = await context.rest.run(workflow, 'Start');
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		return execution;
	}

	it('generates by all four routes, started by hand, and the files open', async () => {
		const byId = {
			resource: 'speech',
			operation: 'generateByVoiceId',
			voiceId: '21m00Tcm4TlvDq8ikWAM',
			text: 'Some words',
		};
		const picture = {
			resource: 'image',
			operation: 'generate',
			prompt: 'Two herons',
			modelId: 'image-1',
			generationsCount: 2,
			outputBinaryField: 'picture',
		};
		/** What each makes: its fields, and how many files it gives. */
		const made: Array<[name: string, fields: object, files: number]> = [
			['Sound', { ...soundEffect, text: 'A door creaks' }, 1],
			['Speech by ID', byId, 1],
			['Speech by Name', { ...speechByName, text: 'Some words', withTranscript: true }, 3],
			['Image', picture, 2],
		];
		const nodes = made.map(([name, fields]) => action({ ...fields }, { name }));
		const links = made.map(([name]): Link => ['Start', name]);
		const workflow = await context.save([start(), ...nodes], links);
		const execution = await succeeded(workflow);
		for (const [name, , files] of made) {
			const item = only(execution, name);
			assert.equal(item.json.status, 'done', name);
			await checkFiles(context, item, files);
		}
		const pictures = Object.keys(only(execution, 'Image').binary ?? {});
		assert.deepEqual(pictures, ['picture', 'picture_1']);
		assert.equal(context.service.creations().length, 4);
		if (!atLeast('2.41')) return;
		// A worker saves it after the execution.
		const { media_task_ids: taskIds = '', ...found } = await waitUntil(
			async () => {
				const { customData } = await context.rest.waitForExecution(execution.id);
				return customData?.media_outcome !== undefined && customData;
			},
			{ what: 'what the execution is found by' },
		);
		const ids = made.map(([name]) => only(execution, name).json.task_id);
		assert.deepEqual(taskIds.split(',').sort(), ids.sort());
		assert.equal(found.media_outcome, 'done');
	});

	it('sends a file of the item: transcribed, in another voice, and its voice alone', async () => {
		const { rest, service } = context;
		service.reset();
		applySettings(service.settings, exampleSettings);
		const ofFile = (name: string, operation: string, more: object = {}) =>
			action({ resource: 'audio', operation, inputBinaryField: 'data', ...more }, { name });
		const transcript = { options: { transcriptInOutput: true } };
		const voiceId = { __rl: true, mode: 'id', value: 'elevenlabs_21m00Tcm4TlvDq8ikWAM' };
		const made: Array<[node: Node, endings: string[]]> = [
			[ofFile('Transcribe', 'transcribe', transcript), ['srt', 'json']],
			[ofFile('Change', 'changeVoice', { voiceId, modelId: 'sts' }), ['wav']],
			[ofFile('Isolate', 'isolateVoice'), ['wav']],
		];
		const speak = action({ ...speechByName, text: 'Some words' }, { name: 'Speak' });
		const workflow = await context.save(
			[start(), speak, ...made.map(([node]) => node)],
			[['Start', 'Speak'], ...made.map(([{ name }]): Link => ['Speak', name])],
		);
		const execution = await succeeded(workflow);
		for (const [{ name }, endings] of made) {
			const outputs = await checkFiles(context, only(execution, name), endings.length);
			assert.deepEqual(
				outputs.map(({ fileName }) => fileName?.split('.').at(-1)),
				endings,
				name,
			);
		}
		const { text, transcript: cues } = only(execution, 'Transcribe').json;
		assert.match(String(text), /^The ferry leaves at nine/);
		const words = (cues as Array<{ text: string; end: number }>).map((each) => each.text);
		assert.equal(words.join(' '), text);
		const isolated = only(execution, 'Isolate').json;
		assert.deepEqual(isolated.metadata, {}, 'the address is at the root of the task');
		assert.equal((isolated.outputs as Output[])[0]?.url, isolated.output_uri);
		assert.equal(service.creations('voice_changer')[0]?.body.voice_id, '21m00Tcm4TlvDq8ikWAM');
		const spoken = only(execution, 'Speak').binary?.data ?? assert.fail();
		const sha256 = createHash('sha256')
			.update(await rest.download(spoken))
			.digest('hex');
		for (const { kind, body } of service.creations(({ kind }) => kind !== 'speech_by_name'))
			assert.equal((body.file as FormFile[])[0]?.sha256, sha256, kind);
		assert.equal(service.creations().length, 4);
	});

	it('evaluates the expressions on which waking depends', async () => {
		const seen = `{
			url: $execution.resumeUrl,
			items: $input.all().map(({ json }) => json.status),
			run: $runIndex,
			kept: ${notesReference('A "Sound" {1}').replace(CONTEXT_FIELD, 'createdTasks')}.entries.length,
		}`;
		const parameters = { mode: 'raw', jsonOutput: `={{ JSON.stringify(${seen}) }}`, options: {} };
		const workflow = await context.save([
			start(),
			action({ ...soundEffect, text: 'Rain' }, { name: 'A "Sound" {1}' }),
			{ ...base('See', ['set', 3.4]), parameters },
		]);
		const execution = await succeeded(workflow);
		const { url, ...others } = only(execution, 'See').json;
		assert.deepEqual(others, { items: ['done'], run: 0, kept: 1 });
		assert.match(String(url), /\/webhook-waiting\/\d+\?signature=./);
	});
});
