import {
	describesTask,
	mentionsTask,
	parseTask,
	taskIdIn,
	taskIdOf,
} from '../../nodes/MediaGeneration/answers/task';
import { creditsOf } from '../../nodes/MediaGeneration/answers/balance';
import { errorTextOf } from '../../nodes/MediaGeneration/answers/said';
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

	const t1 = { id: 't1', state: 'done' };
	const running = (progress: unknown) => ({ status: 'doing', progress });
	test.each<[string, unknown, object | undefined]>([
		['what is done', { status: 'done' }, { state: 'done' }],
		['what runs', { status: 'doing' }, { state: 'running' }],
		['a status in another spelling', { status: 'Done' }, { state: 'running' }],
		['data', { success: true, data: { id: 't1', status: 'done' } }, t1],
		['data.task', { success: true, data: { task: { id: 't1', status: 'done' } } }, t1],
		['JSend', { status: 'success', data: { id: 't1', status: 'done' } }, t1],
		['one with a task', { data: { id: 't1', status: 'done', task: { status: 'doing' } } }, t1],
		['one with data of its own', { id: 't1', status: 'done', data: { status: 'stored' } }, t1],
		['result', { success: true, result: { task_id: 't1', status: 'done' } }, t1],
		['an answer with an ID of its own', { id: 'r1', data: { id: 't1', status: 'done' } }, t1],
		['no progress', running(null), { progress: undefined }],
		['progress below 0', running(-1), { progress: undefined }],
		['progress', running(0), { progress: 0 }],
		['progress beyond 100', running(101), { progress: undefined }],
		['a denial', { success: false, id: 't1', status: 'error' }, { state: 'failed' }],
		// A task that is taken for failed is paid for again, so a bare "error" is not enough.
		...[{ id: 't1' }, { task_id: 7 }, { metadata: {} }, { progress: 0 }, { type: 'speech' }].map(
			(sign): [string, object, object] => [
				`an error with ${JSON.stringify(sign)}`,
				{ status: 'error', message: 'no', ...sign },
				{ state: 'failed' },
			],
		),
		['a list', [{ status: 'done' }], undefined],
		['no status', { id: 't1' }, undefined],
		['an empty status', { id: 't1', status: '' }, undefined],
		['success:false', { success: false, code: 'server_busy' }, undefined],
		['a denied request', { success: false, status: 'error', message: 'busy' }, undefined],
		['a request', { status: 'error', message: 'Too many requests' }, undefined],
		['an error with data of no task', { status: 'error', data: { retry: true } }, undefined],
	])('read from %s', (_name, body, expected) => {
		const task = parseTask(body);
		if (expected === undefined) expect(task).toBeUndefined();
		else expect(task).toMatchObject(expected);
	});

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

test.each<[unknown, string | undefined]>([
	[{ task_id: 'a' }, 'a'],
	[{ id: 'b' }, 'b'],
	[{ task_id: 17 }, '17'],
	[undefined, undefined],
])('taskIdOf %j', (body, expected) => {
	expect(taskIdOf(body)).toBe(expected);
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

test.each<[Record<string, unknown>, string | undefined]>([
	[{ metadata: { error_message: 'c' }, error_message: 'a', error: 'b', message: 'a' }, 'a; b; c'],
	[{ error: { message: 'b' } }, 'b'],
	[{ detail: 'd' }, 'd'],
	[{ metadata: { error_message: 'e' } }, 'e'],
	[{ error: { code: 1 } }, undefined],
	[
		{ errors: [{ field: 'text', message: 'too long' }, { message: 'no' }, 'odd', {}] },
		'text: too long; no; odd',
	],
	[
		{
			detail: [
				{ loc: ['body', 'text'], msg: 'Field required', type: 'missing' },
				{ loc: ['body', 'settings', 0, 'speed'], msg: 'too fast' },
			],
		},
		'text: Field required; settings.0.speed: too fast',
	],
	[
		{ message: 'Invalid.', errors: { text: ['is required.', 'is bad.'], a: 'x' } },
		'Invalid.; text: is required.; text: is bad.; a: x',
	],
	[
		{ error: 'Bad Request', message: ['text must be a string', 'no'], statusCode: 400 },
		'Bad Request; text must be a string; no',
	],
	[{ errors: [{ detail: 'blank', source: { pointer: '/data/text' } }] }, 'blank'],
	[{ error: { message: 'No', errors: [{ param: 'text', reason: 'blank' }] } }, 'No; text: blank'],
	[{ error: { error: { message: 'deep' } } }, 'deep'],
	[{ detail: { message: 'No', code: 5 } }, 'No'],
	[{ detail: [{ loc: ['body'], msg: 'No' }, 7, null, {}] }, 'No; 7'],
	[{ errors: Array.from({ length: 50 }, (_, at) => at) }, '0; 1; 2; 3; 4; 5; 6; 7; 8; 9'],
	[{ errors: [[[[[[['too deep']]]]]]] }, undefined],
])('errorTextOf %j', (body, expected) => {
	expect(errorTextOf(body)).toBe(expected);
});
