/** "Task: Wait" in runs of the whole node: what is asked for, what passes on as it is, and what stays a failure. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { goOn, runNode, wait, type Given } from './node';

describe('Task: Wait', () => {
	const from = (...json: IDataObject[]): INodeExecutionData[] =>
		json.map((fields) => ({ json: fields }));
	const doneTask = (baseUrl: string) => ({
		id: 't',
		status: 'done',
		metadata: { audio_url: `${baseUrl}/t.wav` },
	});
	const known: Given['answer'] = ({ url }) => ({
		body: doneTask(new URL(url).origin.replace('api', 'files')),
	});

	test('waits for a task made earlier, fetches its files, and pays nothing', async () => {
		const { json, requests, hints, logs, endedMs } = await runNode({
			parameters: wait,
			answer: known,
		});
		// It is looked at at once, as it may be over already.
		expect(endedMs).toBeLessThan(500);
		expect(json).toMatchObject([
			{ task_id: 't', outputs: [{ kind: 'audio', binaryProperty: 'data' }] },
		]);
		expect(requests).toEqual(['GET /v1/task/t']);
		expect(hints).toEqual([]);
		expect(logs).toEqual([]);
	});

	test('a finished item passes through as it is, without a request', async () => {
		const binary = { data: { data: '', mimeType: 'audio/wav' } };
		const complete = {
			json: {
				task_id: 't',
				status: 'done',
				outputs: [{ url: 'x', binaryProperty: 'data' }],
				own: 1,
			},
			binary,
			pairedItem: { item: 7 },
		};
		const { output, requests } = await runNode({ parameters: wait, input: [complete] });
		expect(output).toEqual([{ ...complete, pairedItem: { item: 0 } }]);
		expect(requests).toEqual([]);
	});

	const complete = {
		task_id: 't',
		status: 'done',
		outputs: [{ url: 'x', binaryProperty: 'data' }],
	};
	test.each<[string, IDataObject, object]>([
		['has no file in its binary data', complete, {}],
		['names no files', { ...complete, outputs: [] }, {}],
		['has no list of files', { ...complete, outputs: 'x' }, {}],
		['has a file without a field', { ...complete, outputs: [{ url: 'x' }] }, {}],
		['has an odd file', { ...complete, outputs: ['x'] }, {}],
		['has no list of files', { ...complete, outputs: 'x' }, { downloadOutput: false }],
		['has null for a file', { ...complete, outputs: [null] }, {}],
		['still runs', { ...complete, status: 'doing' }, { downloadOutput: false }],
		['has no status', { task_id: 't', outputs: complete.outputs }, { downloadOutput: false }],
		['has an outcome', { ...complete, outcome: 'undelivered' }, { downloadOutput: false }],
		['is of another task', { ...complete, task_id: 'u' }, { downloadOutput: false }],
		['names no file without a download', { ...complete, outputs: [] }, { downloadOutput: false }],
	])('an item that %s is asked for', async (_, json, fields) => {
		const { requests } = await runNode({
			parameters: { ...wait, ...fields },
			input: from(json),
			answer: known,
		});
		expect(requests).toEqual(['GET /v1/task/t']);
	});

	const failed = {
		task_id: 't',
		outcome: 'failed',
		error: 'Task t failed: too loud',
		status: 'error',
	};
	test.each<[string, IDataObject, IDataObject]>([
		['a failed task', failed, failed],
		[
			'a failed task that was asleep',
			{
				error: 'Task t failed: too loud',
				details: { task_id: 't', outcome: 'failed', status: 'error' },
			},
			{ error: 'Task t failed: too loud', outcome: 'failed', task_id: 't', status: 'error' },
		],
		[
			'what was rejected, with its status',
			{ outcome: 'rejected', error: 'no', http_status: 422 },
			{ outcome: 'rejected', error: 'no', http_status: 422 },
		],
		[
			'what is unclear, without words',
			{ outcome: 'unknown', http_status: '500' },
			{ outcome: 'unknown', error: 'The item failed in a node before this one (unknown)' },
		],
		[
			'what was bad',
			{ outcome: 'invalid', error: 'empty' },
			{ outcome: 'invalid', error: 'empty' },
		],
	])('%s stays a failure, and nothing is asked', async (_, json, expected) => {
		const { json: out, requests } = await runNode({
			parameters: { ...wait, taskId: json.task_id ?? '' },
			input: from(json),
			node: goOn,
		});
		expect(out).toEqual([expected]);
		expect(requests).toEqual([]);
	});

	test.each(['timed_out', 'unreachable', 'cancelled', 'undelivered', 'nonsense'])(
		'an item that is %s is waited for',
		async (outcome) => {
			const { json } = await runNode({
				parameters: wait,
				input: from({ task_id: 't', outcome, error: 'x' }),
				answer: known,
			});
			expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
		},
	);

	test('what to do about a failure from before', async () => {
		const again = await runNode({ parameters: wait, input: from(failed) });
		expect(again.error?.description).toMatch(/^The service ended this task with an error\./);
		const none = await runNode({ parameters: wait, input: from({ outcome: 'rejected' }) });
		expect(none.error?.description).toBe(
			'No task of this item is known, so there is nothing to wait for. See the node that made it.',
		);
	});

	test('a task that is unknown to the service', async () => {
		const { json } = await runNode({ parameters: wait, node: goOn });
		expect(json).toMatchObject([{ outcome: 'unreachable', task_id: 't', http_status: 404 }]);
	});
});
