import {
	attempt,
	attemptLater,
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
		failures.withoutOutputs('t9', task({ status: 'done' })),
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
	expect(failures.withoutOutputs('t', task({})).description).toMatch(/without paying again/);
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
