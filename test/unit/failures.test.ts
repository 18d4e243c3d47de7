import {
	attempt,
	attemptLater,
	failureJson,
	outcomes,
	quote,
	type Failure,
} from '../../nodes/MediaGeneration/service/failures';
import { parseTask, type Task } from '../../nodes/MediaGeneration/service/task';
import * as failures from '../../nodes/MediaGeneration/service/failures';

function task(fields: object): Task {
	const found = parseTask({ id: 't', status: 'doing', ...fields });
	if (found === undefined) throw new Error('no task');
	return found;
}

test('every failure names its task, and says what to do', () => {
	const all = [
		failures.failed('t9', task({ status: 'error' })),
		failures.timedOut('t9', 1_000, undefined, undefined),
		failures.cancelled('t9', undefined),
		failures.denied('t9', { httpStatus: 401, detail: 'no' }),
		failures.missing('t9', { detail: '' }),
		failures.withoutOutputs('t9', task({ status: 'done' }), []),
	];
	expect(all.map(({ outcome }) => outcome)).toEqual([
		'failed',
		'timed_out',
		'cancelled',
		'unreachable',
		'unreachable',
		'undelivered',
	]);
	for (const { taskId, message, description } of all) {
		expect(taskId).toBe('t9');
		expect(message).toContain('t9');
		expect(description.length).toBeGreaterThan(40);
	}
});

test('what is paid for says so, and names the way to its result', () => {
	expect(failures.timedOut('t', 1, undefined, undefined).description).toMatch(/paid.*"Task: Wait"/);
	expect(failures.cancelled('t', undefined).description).toMatch(/paid.*"Task: Wait"/);
	expect(failures.denied('t', { httpStatus: 403, detail: '' }).description).toMatch(
		/^The API key may have expired.* Put a valid key of the same account.*"Task: Wait"/,
	);
	expect(failures.missing('t', { detail: '' }).description).toMatch(
		/^Check that the Base URL and the API key belong to the account.* set the option Poll Route\.$/,
	);
	expect(failures.withoutOutputs('t', task({}), []).description).toMatch(/without paying again/);
});

test("the service's words are put on one line, and cut", () => {
	expect(failures.failed('t', task({ status: 'error', error: 'a\n\n b' })).message).toBe(
		'Task t failed: a b',
	);
	expect(failures.failed('t', task({ status: 'error' })).message).toBe('Task t failed');
	expect(quote('x'.repeat(400))).toHaveLength(303);
	expect(quote('x'.repeat(300))).toBe('x'.repeat(300));
	expect(quote(' \n ')).toBeUndefined();
	expect(quote(undefined)).toBeUndefined();
});

test('what the service did not say is not made up', () => {
	expect(failures.denied('t', { httpStatus: 403, detail: ' ' }).message).toMatch(
		/\(HTTP 403\): no reason given$/,
	);
	const unknown = failures.missing('t', { detail: '' });
	expect(unknown.message).toMatch(/at the service: HTTP 404$/);
	expect(unknown.httpStatus).toBe(404);
	const gone = failures.missing('t', { detail: 'HTTP 410: gone', httpStatus: 410 });
	expect(gone.message).toMatch(/at the service: HTTP 410: gone$/);
	expect(gone.httpStatus).toBe(410);
	expect(failures.timedOut('t', 1, undefined, undefined).description).toMatch(
		/raise the Timeout option\.$/,
	);
	expect(failures.cancelled('t', 'doing').status).toBe('doing');
});

describe('outcomes', () => {
	const those = (property: 'useful' | 'unclear' | 'final') =>
		Object.entries(outcomes).flatMap(([name, meaning]) => (meaning[property] ? [name] : []));
	const lost = ['unreachable', 'undelivered', 'timed_out', 'cancelled'];

	test('a task is of use unless the service ended it', () => {
		expect(those('useful')).toEqual(['unknown', ...lost, 'rejected', 'invalid']);
	});

	test('"Task: Wait" can still bring the result of those that are paid for', () => {
		expect(those('final')).toEqual(['unknown', 'failed', 'rejected', 'invalid']);
	});
});

test.each<[string, unknown, Partial<Failure>]>([
	[
		'a failure of ours is passed on',
		new failures.FailureError({ outcome: 'failed', message: 'm', description: 'd' }),
		{ outcome: 'failed', message: 'm' },
	],
	[
		"an error of n8n's is a field that can't be read",
		new Error('no such item'),
		{ outcome: 'invalid', message: 'A field of this item could not be read: no such item' },
	],
])('%s', async (_name, thrown, failure) => {
	const breaking = () => {
		throw thrown;
	};
	expect(attempt(breaking)).toMatchObject({ ok: false, failure });
	const later = await attemptLater(async () => await Promise.resolve().then(breaking));
	expect(later).toMatchObject({ ok: false, failure });
});

test("an item's JSON has the documented names, and nothing that is not known", () => {
	const failure = { outcome: 'timed_out' as const, message: 'm', description: 'd' };
	expect(failureJson(failure)).toStrictEqual({ error: 'm', outcome: 'timed_out' });
	expect(
		failureJson({
			...failure,
			whole: { taskIds: ['a', 'b'], part: { number: 2, of: 3 }, longText: undefined },
		}),
	).toStrictEqual({
		error: 'm',
		outcome: 'timed_out',
		task_ids: ['a', 'b'],
		part: 2,
		parts: 3,
	});
	expect(failureJson({ ...failure, taskId: 't', status: 'doing', httpStatus: 404 })).toEqual({
		error: 'm',
		outcome: 'timed_out',
		task_id: 't',
		status: 'doing',
		http_status: 404,
	});
});
