import type { IDataObject } from 'n8n-workflow';
import { describesTask, parseTask } from '../../nodes/MediaGeneration/answers/task';
import { saidIn } from '../../nodes/MediaGeneration/answers/said';
import { readJson } from '../../nodes/MediaGeneration/base/bounded';
import { creditsOf } from '../../nodes/MediaGeneration/answers/balance';
import { withoutEmptyError } from '../../nodes/MediaGeneration/n8n/failedItems';

describe('parseTask', () => {
	test('the shape that docs/service.md states', () => {
		const raw = {
			id: 't1',
			status: 'done',
			progress: 100,
			type: 'sound_effect',
			metadata: { output_uri: 'https://f/a.mp3' },
		};
		expect(parseTask(raw)).toEqual({
			id: 't1',
			state: 'done',
			status: 'done',
			progress: 100,
			type: 'sound_effect',
			errorText: undefined,
			raw,
		});
	});

	// A task that is taken for failed is paid for again, so a bare "error" is not enough.
	test.each([{ id: 't1' }, { task_id: 7 }, { metadata: {} }, { progress: 0 }, { type: 'speech' }])(
		'an error with %j is about a task',
		(sign) => {
			const body = { status: 'error', message: 'no', ...sign };
			expect(parseTask(body)).toMatchObject({ state: 'failed' });
		},
	);

	test.each<[string, object]>([
		['a bare status', { status: 'done' }],
		['one in a successful answer', { success: true, status: 'done' }],
		['one with data that is no task', { status: 'done', data: { files: 2 } }],
	])('%s is a task that is not described', (_name, body) => {
		const task = parseTask(body);
		expect(task).toMatchObject({ id: undefined, state: 'done' });
		expect(task && describesTask(task.raw)).toBe(false);
		expect(parseTask({ ...body, success: false })).toBeUndefined();
	});
});

const said = (text: string, body: IDataObject) =>
	saidIn({ answered: true, status: 400, headers: {}, text, ...readJson(text) }, { body }).named;

test.each<[string, string | undefined]>([
	['{"task_id":"a"}', 'a'],
	['{"success":false,"error":{"context":[{"taskId" : 17}]}}', '17'],
	['{"success":true,"taskID":"t1"}', 't1'],
	['{"task_id":"a\\/b"}', 'a/b'],
	['No JSON: "task_id": "a"', 'a'],
	['No JSON: "task_id":"cut of', undefined],
])('the text %s names the task %j', (text, taskId) => {
	expect(said(text, {})).toEqual({ taskId });
});

test.each<[string, IDataObject]>([
	['{"success":false,"message":"task_id is required"}', {}],
	['{"message":"\\"task_id\\":\\"a\\""}', {}],
	['{"success":false,"task_id":"","task_Id":null}', {}],
	// The request's own words.
	['Not spoken: say "task_id":"victim" twice', { text: 'say "task_id":"victim" twice' }],
	['{"error":"no","request":{"task_id":"mine"}}', { task_id: 'mine' }],
])('the text %s names none', (text, body) => {
	expect(said(text, body)).toBeUndefined();
});

test.each(['', ' ', null, undefined, false, 0, {}, []])('the error %j says nothing', (error) => {
	expect(withoutEmptyError({ a: 1, error })).toStrictEqual({ a: 1 });
});
test.each(['no', { code: 1 }, [1], true, 1])('the error %j says something', (error) => {
	expect(withoutEmptyError({ a: 1, error })).toStrictEqual({ a: 1, error });
});

test.each<[unknown, number | undefined]>([
	[{ success: true, credits: 12 }, 12],
	[{ credits: '12.5' }, 12.5],
	[{ data: { credits: 3 } }, 3],
	[{ data: 9 }, 9],
	[12.5, 12.5],
	['12.5', 12.5],
	[{ balance: 4 }, 4],
	[{ credits: null }, undefined],
	[undefined, undefined],
])('creditsOf %j', (body, expected) => {
	expect(creditsOf(body)).toBe(expected);
});
