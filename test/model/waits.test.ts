/** "Task: Wait" in runs of the whole node: what is asked for, what passes on as it is, and what stays a failure. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { goOn, runNode, wait, type Given } from './node';
import { START } from '../support/machine';

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

	/** Every task is done, by the ID in its path. */
	const anyDone: Given['answer'] = ({ url }) => {
		const id = decodeURIComponent(url.split('/').pop() ?? '');
		return { body: { ...doneTask(new URL(url).origin.replace('api', 'files')), id } };
	};

	test('several IDs: an item for each of them, and one that fails fails alone', async () => {
		const { json, pairs } = await runNode({
			parameters: { ...wait, taskId: 'a, bad, c' },
			node: goOn,
			answer: (request, count) =>
				request.url.endsWith('/bad')
					? { body: { id: 'bad', status: 'error' } }
					: anyDone(request, count),
		});
		expect(json.map(({ task_id, status, outcome }) => [task_id, status, outcome])).toEqual([
			['a', 'done', undefined],
			['bad', 'error', 'failed'],
			['c', 'done', undefined],
		]);
		expect(pairs).toEqual([0, 0, 0]);
		const asleep = { ...wait, waitMode: 'callback' };
		const { error, requests } = await runNode({ parameters: { ...asleep, taskId: 'a,b' } });
		expect(error?.message).toMatch(
			/^A suspended execution can't wait for several tasks of one item/,
		);
		expect(error?.description).toMatch(/^Set 'Wait Mode' to Poll, or give each task an item/);
		expect(requests).toEqual([]);
		const one = await runNode({ parameters: asleep, answer: anyDone });
		expect(one.json).toMatchObject([{ task_id: 't', status: 'done' }]);
	});

	test.each([
		{ unfinished: true, status: 'doing' },
		{ outcome: 'timed_out', error: 'late' },
	])(
		'half a minute of 404 ends nothing for a task of this package, whose ID is not mistyped: %j',
		async (left) => {
			const given = { parameters: wait, input: from({ task_id: 't', ...left }) };
			const { json } = await runNode({
				...given,
				answer: (request, count) =>
					Date.now() - START < 30_000 ? { status: 404 } : known(request, count),
			});
			expect(json).toMatchObject([{ task_id: 't', status: 'done' }]);
			expect((await runNode({ ...given, answer: known })).endedMs).toBeLessThan(500);
		},
	);

	describe('behind a long text', () => {
		const left = {
			unfinished: true,
			task_id: 'a',
			task_ids: ['a', 'b'],
			parts: [
				{ part: 1, task_id: 'a', characters: 10 },
				{ part: 2, task_id: 'b', characters: 20 },
			],
			long_text: { mode: 'join', pause_between_parts: 250 },
		};
		const behind = async (json: IDataObject) =>
			await runNode({
				parameters: { ...wait, taskId: 'a' },
				input: from(json),
				answer: anyDone,
				node: goOn,
			});

		test('that ran out of time: all parts, joined as they would have been', async () => {
			const { json, requests } = await behind(left);
			expect(json).toMatchObject([
				{ status: 'done', task_id: 'a', task_ids: ['a', 'b'], characters: 30, parts: [{}, {}] },
			]);
			const [, second] = json[0]?.parts as IDataObject[];
			const [first] = json[0]?.parts as IDataObject[];
			expect(Number(second?.start) - Number(first?.end)).toBeCloseTo(0.25, 3);
			expect(new Set(requests)).toEqual(new Set(['GET /v1/task/a', 'GET /v1/task/b']));
		});

		test('of separate items: one for each part', async () => {
			const { json } = await behind({ ...left, long_text: { mode: 'parts' } });
			expect(json).toMatchObject([
				{ task_id: 'a', part: 1, parts: 2 },
				{ task_id: 'b', part: 2, parts: 2 },
			]);
		});

		test('of which one part was lost or failed: it stays a failure, whatever is done', async () => {
			const failure = { error: 'no', outcome: 'timed_out', part: 1, parts: 3 };
			const { json, requests } = await behind({ ...left, ...failure, unfinished: undefined });
			expect(json).toMatchObject([{ ...failure, task_ids: ['a', 'b'] }]);
			const failed = await behind({ ...left, error: 'no', outcome: 'failed', part: 2, parts: 2 });
			expect(failed.json).toMatchObject([{ outcome: 'failed', part: 2, parts: 2 }]);
			expect([...requests, ...failed.requests]).toEqual([]);
			const input = from({ ...left, ...failure, unfinished: undefined });
			const { error } = await runNode({ parameters: { ...wait, taskId: 'a' }, input });
			expect(error?.description).toMatch(/^Not every part of this text has a task/);
		});

		test.each<IDataObject>([
			{ outcome: 'rejected', part: 3, parts: 3 },
			{ ...{ outcome: 'failed', part: 2, parts: 2 }, task_id: 'b', status: 'error' },
		])(
			'of which one part was lost or failed: the tasks of the others, one by one: %j',
			async (of) => {
				const json = { error: 'no', task_ids: ['a', 'b'], ...of };
				const given = { input: from(json), answer: anyDone, node: goOn };
				const stays = await runNode({
					...given,
					parameters: { ...wait, taskId: of.task_id ?? '' },
				});
				expect(stays.json[0]?.description).toMatch(/Set 'Task ID' to {{ \$json\.task_ids }} to/);
				const named = await runNode({ ...given, parameters: { ...wait, taskId: ['a', 'b'] } });
				expect(named.json).toMatchObject([{ task_id: 'a', status: 'done' }, { task_id: 'b' }]);
			},
		);

		test('that is to be joined: it needs its files', async () => {
			const parameters = { ...wait, taskId: 'a', downloadOutput: false };
			const { error, requests } = await runNode({ parameters, input: from(left) });
			expect(error?.message).toMatch(/needs the files of its parts$/);
			// This operation has no field Long Text.
			expect(error?.description).toMatch(/^Turn 'Download Output' on\. Nothing/);
			expect(requests).toEqual([]);
		});

		test('whose parts could not be handed over: all of them once more', async () => {
			const { json } = await behind({
				...{ error: 'no space', outcome: 'undelivered', status: 'done' },
				...{ task_id: 'a', task_ids: ['a', 'b'], long_text: left.long_text },
			});
			expect(json).toMatchObject([{ status: 'done', task_ids: ['a', 'b'] }]);
			for (const shown of [json[0], (json[0]?.parts as IDataObject[])[0]])
				expect(shown).not.toHaveProperty('characters');
		});
	});

	test("a task's own fields of names that mean something here are not taken for them", async () => {
		const own = {
			...{ error: 'a warning', outcome: 'failed', unfinished: true, task_ids: ['x'] },
			...{ part: 1, parts: 3, joined: true, _files: { data: {} } },
		};
		const { json } = await runNode({
			parameters: wait,
			answer: (request, count) => ({
				body: { ...(anyDone(request, count) as { body: object }).body, ...own },
			}),
		});
		const renamed = Object.entries(own).map(([name, value]) => [`task_${name}`, value]);
		expect(json).toMatchObject([{ status: 'done', ...Object.fromEntries(renamed) }]);
		for (const name of Object.keys(own)) expect(json[0]).not.toHaveProperty(name);
	});

	test("a task's own `details` beside an `error`, as Task: Get shows them, are no failure of a node", async () => {
		const { json } = await runNode({
			parameters: wait,
			input: from({ task_id: 't', error: 'a warning', details: { code: 5 } }),
			answer: anyDone,
		});
		expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
	});

	const file = { url: 'x', binaryProperty: 'data' };
	const complete = { task_id: 't', status: 'done', outputs: [file] };
	test('a finished item passes through as it is, without a request', async () => {
		const binary = { data: { data: '', mimeType: 'audio/wav' } };
		const item = { json: { ...complete, own: 1 }, binary, pairedItem: { item: 7 } };
		const { output, requests } = await runNode({ parameters: wait, input: [item] });
		expect(output).toEqual([{ ...item, pairedItem: { item: 0 } }]);
		expect(requests).toEqual([]);
	});

	test('with Split Files, a finished item of several files becomes as many, without a request', async () => {
		const [a, b] = [
			{ data: 'YQ==', mimeType: 'image/png' },
			{ data: 'Yg==', mimeType: 'image/png' },
		];
		const outputs = [file, { url: 'y', binaryProperty: 'data_1' }];
		const input = [{ json: { ...complete, outputs }, binary: { data: a, data_1: b } }];
		const parameters = { ...wait, outputBinaryField: 'image', options: { splitFiles: true } };
		const { output, requests } = await runNode({ parameters, input });
		const made = (url: string, image: typeof a) => ({
			json: { ...complete, outputs: [{ url, binaryProperty: 'image' }] },
			binary: { image },
			pairedItem: { item: 0 },
		});
		expect(output).toEqual([made('x', a), made('y', b)]);
		expect(requests).toEqual([]);
	});

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
		['ran out of time', { ...complete, unfinished: true }, { downloadOutput: false }],
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

	const error = 'Task t failed: too loud';
	const failed = { task_id: 't', outcome: 'failed', error, status: 'error' };
	test.each<[string, IDataObject, IDataObject?]>([
		['a failed task', failed],
		['a failed task that was asleep', { error, details: failed }, failed],
		['what was rejected, with its status', { outcome: 'rejected', error: 'no', http_status: 422 }],
		[
			'what is unclear, without words',
			{ outcome: 'unknown', http_status: '500' },
			{ outcome: 'unknown', error: 'The item failed in a node before this one (unknown)' },
		],
		['what was bad', { outcome: 'invalid', error: 'empty' }],
	])('%s stays a failure, and nothing is asked', async (_, json, expected = json) => {
		const { json: out, requests } = await runNode({
			parameters: { ...wait, taskId: json.task_id },
			input: from(json),
			node: goOn,
		});
		expect(out).toEqual([{ ...expected, description: expect.stringMatching(/\w\.$/) as unknown }]);
		expect(requests).toEqual([]);
	});

	describe('on an error branch, where n8n adds the fields of the input', () => {
		const merged = {
			...{ id: 'a', task_id: 'a', task_ids: ['a', 'b'], parts: 2, type: 'tts', joined: true },
			...{ ...complete, task_id: 'a' },
		};
		const binary = { data: { data: '', mimeType: 'audio/wav' } };
		const behind = async (details: IDataObject, taskId: unknown = 'a') => {
			const json = { ...merged, error: 'no', details: { error: 'no', ...details } };
			const parameters = { ...wait, taskId };
			const input = [{ json, binary }];
			return await runNode({ parameters, input, node: goOn, answer: anyDone });
		};

		test('another Task ID is that of another task', async () => {
			const { requests } = await behind({ outcome: 'failed', task_id: 't' }, 'z');
			expect(requests).toEqual(['GET /v1/task/z']);
		});

		test('an ID that leads elsewhere is refused', async () => {
			const { json, requests } = await behind({ outcome: 'timed_out', task_id: '../credits' });
			expect([json[0]?.outcome, requests]).toEqual(['invalid', []]);
		});

		test('several tasks are named as they lie there', async () => {
			const details = { error: 'no', outcome: 'unreachable', task_ids: ['t', 'u'] };
			const input = from({ ...merged, error: 'no', details });
			const { error } = await runNode({ parameters: { ...wait, taskId: 'a' }, input });
			expect(error?.description).toMatch(/^Set 'Task ID' to {{ \$json\.details\.task_ids }} to/);
		});
	});

	test('an item that has tasks, but none that stands for it, stays what it is, with all of them', async () => {
		const left = {
			outcome: 'unreachable',
			error: 'tasks of this item exist',
			task_ids: ['a', 'b'],
		};
		const given = { input: from(left), node: goOn, answer: anyDone };
		const { json, requests } = await runNode({ ...given, parameters: { ...wait, taskId: '' } });
		const description = "Set 'Task ID' to {{ $json.task_ids }} to wait for each of the tasks.";
		expect(json).toEqual([{ ...left, description }]);
		expect(requests).toEqual([]);
		const { error } = await runNode({ ...given, node: {}, parameters: { ...wait, taskId: '' } });
		expect(error?.description).toMatch(/^Set 'Task ID' to {{ \$json\.task_ids }}/);
		const named = await runNode({ ...given, parameters: { ...wait, taskId: ['a', 'b'] } });
		expect(named.json).toMatchObject([{ task_id: 'a', status: 'done' }, { task_id: 'b' }]);
	});

	test.each([
		...['timed_out', 'unreachable', 'cancelled', 'undelivered', 'nonsense', 'unknown'].map(
			(outcome) => ({ outcome }),
		),
		// A field of the task's own.
		{ outcome: 'failed', status: 'done' },
	])('an item with its task is waited for: %j', async (fields) => {
		const input = from({ task_id: 't', error: 'x', ...fields });
		const { json } = await runNode({ parameters: wait, input, answer: known });
		expect(json).toMatchObject([{ status: 'done', task_id: 't', outputs: [{}] }]);
	});

	test('what to do about a failure from before', async () => {
		const [before, now] = [{ input: from(failed) }, { answer: () => ({ body: failed }) }];
		for (const given of [before, now]) {
			const { error: thrown } = await runNode({ parameters: wait, ...given });
			expect(thrown?.description).toMatch(
				/^The service ended .* run the node that created the task/,
			);
		}
		const none = await runNode({
			parameters: { ...wait, taskId: ' ' },
			input: from({ outcome: 'rejected' }),
		});
		expect(none.error?.description).toBe(
			'No task of this item is known, so there is nothing to wait for. See the node that made it.',
		);
	});
});
