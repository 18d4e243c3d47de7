import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { applySettings } from '../service';
import { Form, type FormFile } from '../service/form';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { checkFiles, type Output } from './harness/files';
import { CONTEXT_FIELD, notesReference } from '../../nodes/MediaGeneration/suspend/notes';
import {
	action,
	base,
	type Link,
	listed,
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

	it('generates by all four routes, started by hand, and the files open: also a large one, one that broke off, and all by way of a third host', async () => {
		const { service } = context;
		service.settings.fileRedirect = 'otherHost';
		const cut = { type: 'truncate', bytes: 5_000 } as const;
		service.faults.add({ host: 'other', kind: 'image', times: 1, action: cut });
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
		const large = '{ "stand_in": { "bytes": 20000000 } }';
		/** What each makes: its fields, and how many files it gives. */
		const made: Array<[name: string, fields: object, files: number]> = [
			['Sound', { ...soundEffect, text: 'A door creaks', options: { extraFields: large } }, 1],
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
		assert.equal(service.creations().length, 4);
		assert.ok(service.requests.some(({ fault }) => fault === 'truncate'));
		assert.equal(service.foreignAuthorization(), 0);
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
		const busy = { success: false, code: 'server_busy' };
		const again = { type: 'status', status: 503, body: busy } as const;
		service.faults.add({ kind: 'transcription', times: 1, action: again });
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
		const forms = service.requests.filter(({ body }) => body instanceof Form);
		assert.equal(forms.length, 4, 'one was repeated');
		for (const { headers } of forms) {
			assert.ok(Number(headers['content-length']) > 1_000);
			assert.equal(headers['transfer-encoding'], undefined);
		}
	});

	it('finds files that n8n has moved into the JSON ("binaryMode: combined"), and none that JSON from outside names', async () => {
		const { service } = context;
		service.reset();
		applySettings(service.settings, exampleSettings);
		const text = '={{ $json.list }}';
		const speak = action({ ...speechByName, text, withTranscript: true }, { name: 'Speak' });
		const settings = { name: 'Join', onError: 'continueRegularOutput' };
		const join = action(
			{ resource: 'audio', operation: 'join', inputBinaryField: 'data' },
			settings,
		);
		const image = { resource: 'image', operation: 'generate', modelId: 'image-1', prompt: '@img1' };
		const paint = (name: string, referenceImages: string) =>
			action({ ...image, generationsCount: 1, options: { referenceImages } }, { name });
		const options = { splitFiles: true, includeInput: true };
		const taskId = '={{ $json.task_id }}';
		const waits = action(
			{ resource: 'task', operation: 'wait', taskId, options },
			{ name: 'Wait' },
		);
		const made = [join, paint('Paint', 'data'), paint('Paint Too', '_files.data'), waits];
		const workflow = await context.save(
			[start(), ...listed(['Once', 'upon a time'], 'Each'), speak, ...made],
			[
				...[['Start', 'List'] as Link, ['List', 'Each'] as Link, ['Each', 'Speak'] as Link],
				...made.map(({ name }): Link => ['Speak', name]),
			],
			{ binaryMode: 'combined' },
		);
		const execution = await succeeded(workflow);
		const filesOf = ({ json, binary }: Item) => {
			assert.equal(binary, undefined);
			return json._files as NonNullable<Item['binary']>;
		};
		const joined = only(execution, 'Join');
		assert.deepEqual(Object.keys(filesOf(joined)), ['data', 'data_1']);
		assert.equal((joined.json.outputs as Output[])[1]?.kind, 'transcript');
		const painted = service.creations('image').map(({ body }) => body.assets as FormFile[]);
		assert.equal(painted.length, 4);
		for (const [file] of painted) assert.match(String(file?.fileName), /\.wav$/);
		const spoken = items(execution, 'Speak').map(filesOf);
		const passed = items(execution, 'Wait');
		assert.deepEqual(
			passed.map((item) => filesOf(item).data?.id),
			spoken.flatMap((files) => Object.values(files).map(({ id }) => id)),
		);
		for (const { json } of passed) assert.equal((json.input as Item['json'])._files, undefined);
		const jsonOutput = JSON.stringify({ _files: spoken[0] });
		const outside = {
			...base('Outside', ['set', 3.4]),
			parameters: { mode: 'raw', jsonOutput, options: {} },
		};
		const refused = await succeeded(await context.save([start(), outside, join]));
		assert.equal(only(refused, 'Join').json.outcome, 'invalid');
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
