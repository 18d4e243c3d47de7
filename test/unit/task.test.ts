import {
	describesTask,
	mentionsTask,
	parseTask,
	taskIdIn,
} from '../../nodes/MediaGeneration/answers/task';
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

test.each<[string, boolean, string | undefined]>([
	['{"task_id":"a"}', true, 'a'],
	['{"success":false,"error":{"context":[{"taskId" : 17}]}}', true, '17'],
	['{"task_id":"a\\/b"}', true, undefined],
	['{"success":false,"message":"task_id is required"}', false, undefined],
	['{"message":"\\"task_id\\":\\"a\\""}', false, undefined],
	['{"success":false,"task_id":"","task_Id":null}', false, undefined],
	['{"success":true,"taskID":"t1"}', true, 't1'],
])('the text %s mentions a task: %j, %s', (text, expected, taskId) => {
	expect(mentionsTask(text)).toBe(expected);
	expect(taskIdIn(text)).toBe(taskId);
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
	[{ balance: 4 }, 4],
	[{ credits: null }, undefined],
	[undefined, undefined],
])('creditsOf %j', (body, expected) => {
	expect(creditsOf(body)).toBe(expected);
});
