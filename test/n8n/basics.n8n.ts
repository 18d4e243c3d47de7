import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, type Item, items, nodeRun } from './harness/execution';
import { checkFiles } from './harness/files';
import {
	action,
	base,
	generate,
	type Link,
	soundEffect,
	speechByName,
	start,
} from './harness/nodes';
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
					operation: 'setMetrics',
					metric: 'customMetrics',
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
			const { hints } = nodeRun(await rest.waitForSleep(sleeper), 'Generate');
			// In queue mode n8n has not saved the token of its execution by then, so another hint is about its own address.
			const said = hints?.map(({ message }) => message).join('\n') ?? '';
			assert.match(said, /^n8n's evaluation does not wait/m);
			const [asleep] = service.creations(({ body }) => body.text === 'asleep');
			await service.finish(asleep?.id ?? '');
			const execution = await rest.waitForExecution(sleeper);
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			const { task_id, status } = only(execution, 'Generate').json;
			assert.deepEqual([task_id, status], [asleep?.id, 'done']);
			assert.equal(items(execution, 'Metrics').length, 1);
			assert.deepEqual(
				service.creations().map(({ body }) => body.text),
				['polled', 'asleep'],
			);
		},
	);
});
