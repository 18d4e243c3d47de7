import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { checkFiles } from './harness/files';
import { CONTEXT_FIELD, notesReference } from '../../nodes/MediaGeneration/suspend/notes';
import { action, base, type Link, soundEffect, speechByName, start } from './harness/nodes';
import { atLeast } from './harness/version';
import { waitUntil } from './harness/wait';

describe('basics', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	function only(execution: Execution, nodeName: string): Item {
		const all = items(execution, nodeName);
		assert.equal(all.length, 1, `${nodeName} gave ${all.length} items`);
		return all[0] as Item;
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
		const id = await context.rest.runManually(workflow, 'Start');
		const execution = await context.rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
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
				const { customData } = await context.rest.waitForExecution(id);
				return customData?.media_outcome !== undefined && customData;
			},
			{ what: 'what the execution is found by' },
		);
		const ids = made.map(([name]) => only(execution, name).json.task_id);
		assert.deepEqual(taskIds.split(',').sort(), ids.sort());
		assert.equal(found.media_outcome, 'done');
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
		const id = await context.rest.runManually(workflow, 'Start');
		const execution = await context.rest.waitForExecution(id);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		const { url, ...others } = only(execution, 'See').json;
		assert.deepEqual(others, { items: ['done'], run: 0, kept: 1 });
		assert.match(String(url), /\/webhook-waiting\/\d+\?signature=./);
	});
});
