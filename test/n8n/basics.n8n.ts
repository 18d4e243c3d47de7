import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PNG } from 'pngjs';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items } from './harness/execution';
import { action, base, generate, type Link, start } from './harness/nodes';
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

	interface TestRun {
		id: string;
		status: string;
	}

	interface TestCase {
		executionId: number;
		status: string;
		errorCode: string | null;
	}

	/** A table of n8n's with these rows, whose columns are texts. */
	async function tableOf(rows: Array<Record<string, string>>): Promise<string> {
		const { rest } = context;
		const project = await rest.request<{ id: string }>('GET', '/projects/personal');
		const tables = `/projects/${project.id}/data-tables`;
		const columns = Object.keys(rows[0] ?? {}).map((name) => ({ name, type: 'string' }));
		const { id } = await rest.request<{ id: string }>('POST', tables, { name: 'Rows', columns });
		await rest.request('POST', `${tables}/${id}/insert`, { data: rows });
		return id;
	}

	it(
		'pays once for each row of an evaluation; n8n takes a row that sleeps for one without metrics, and it goes on',
		{ skip: atLeast('2.41') ? false : 'Evaluations with tables are tried from 2.41 on' },
		async () => {
			const { rest, service } = context;
			service.reset();
			const rows = [
				{ text: 'polled', mode: 'poll', timeout: '1', standIn: '{"ms":2500}' },
				{ text: 'asleep', mode: 'callback', timeout: '3600', standIn: '{"never_ends":true}' },
			];
			const metric = {
				id: '1',
				name: 'credits',
				value: '={{ $json.credit_cost }}',
				type: 'number',
			};
			const nodes = [
				base('Row', ['evaluationTrigger', 4.7], {
					source: 'dataTable',
					dataTableId: { __rl: true, mode: 'id', value: await tableOf(rows) },
				}),
				generate(
					{ text: '={{ $json.text }}', waitMode: '={{ $json.mode }}' },
					{
						gracePeriod: 0,
						timeout: '={{ Number($json.timeout) }}',
						extraFields: '={{ JSON.stringify({ stand_in: JSON.parse($json.standIn) }) }}',
					},
					{ retryOnFail: true, maxTries: 5, waitBetweenTries: 0 },
				),
				base('Metrics', ['evaluation', 4.7], {
					...{ operation: 'setMetrics', metric: 'customMetrics' },
					metrics: { assignments: [metric] },
				}),
			];
			const testRuns = `/workflows/${(await context.save(nodes)).id}/test-runs`;
			await rest.request('POST', `${testRuns}/new`, {});
			const { id } = await waitUntil(
				async () => {
					const [run] = await rest.request<TestRun[]>('GET', testRuns);
					return run?.status === 'completed' && run;
				},
				{ what: 'The end of the evaluation' },
			);
			const cases = await rest.request<TestCase[]>('GET', `${testRuns}/${id}/test-cases`);
			assert.deepEqual(cases.map(({ status, errorCode }) => [status, errorCode]).sort(), [
				['error', 'NO_METRICS_COLLECTED'],
				['success', null],
			]);
			const sleeper = String(cases.find(({ status }) => status === 'error')?.executionId);
			await rest.waitForSleep(sleeper);
			const [asleep] = service.creations(({ body }) => body.text === 'asleep');
			await service.finish(asleep?.id ?? '');
			const execution = await rest.waitForExecution(sleeper);
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			assert.equal(only(execution, 'Metrics').json.task_id, asleep?.id);
			assert.deepEqual(
				service.creations().map(({ body }) => body.text),
				['polled', 'asleep'],
			);
		},
	);
});
