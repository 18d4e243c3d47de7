import { errorTextOf } from '../../nodes/MediaGeneration/answers/said';
import {
	attempt,
	attemptAsync,
	FailureError,
	type Failure,
} from '../../nodes/MediaGeneration/base/outcomes';
import { quote } from '../../nodes/MediaGeneration/base/words';
import { withoutEmptyError } from '../../nodes/MediaGeneration/n8n/errorItems';
import * as failures from '../../nodes/MediaGeneration/answers/failures';
import { taskOf } from './itemSettings';

const done = (metadata?: unknown) => failures.withoutOutputs('t9', taskOf({ metadata }));
const manyNames = Array.from({ length: 30 }, (_, number) => `n${number + 1}`);
const many = Object.fromEntries(manyNames.map((name) => [name, 0]));
const { timedOut, broken } = failures;

/** Each as `outcome: message | description`. */
test.each<[Failure, RegExp]>([
	[
		timedOut('t9', 119_940, { task: undefined, detail: undefined }),
		/^timed_out: Task t9 was not .* after 119.9 s; the service never described it \| .*paid.*"Task: Wait".*option\.$/,
	],
	[done(), /^undelivered: Task t9 .*; its metadata is empty \| .*without paying again/],
	[done(many), /; its metadata has only: n1, n2, (n\d+, ){17}n20 \|/],
	[broken(new Error('x'), 'nothing'), /^invalid: .* handled: x \| Nothing was sent for it\. Check/],
	[
		broken(7, 'sent'),
		/^unknown: Creating the task was .* \(unknown reason\)\. The task may exist \| .* Check the task list/,
	],
	[
		broken(new Error(' '), 'sent', 't9'),
		/^unreachable: Task t9 exists, .*: unknown reason \| .*"Task: Wait" with this task ID\.$/,
	],
	[
		broken(new Error('x'), 'done', 't9'),
		/^undelivered: Task t9 is done, .* over: x \| .* store the/,
	],
])('%j names its task, and says what to do', (failure, words) => {
	const { outcome, message, description, taskId, status } = failure;
	expect(status).toBe(outcome === 'undelivered' ? 'done' : undefined);
	expect(`${outcome}: ${message} | ${description}`).toMatch(words);
	expect(message.includes('t9')).toBe(taskId === 't9');
});

test("the service's words are put on one line, and cut", () => {
	expect(failures.taskFailed('t', taskOf({ status: 'error', error: 'a\n\n b' })).message).toBe(
		'Task t failed: a b',
	);
	expect(quote('x'.repeat(400))).toHaveLength(303);
	expect(quote('x'.repeat(300))).toBe('x'.repeat(300));
	expect(quote(' \n ')).toBeUndefined();
	expect(quote(undefined)).toBeUndefined();
});

const unread = {
	outcome: 'invalid',
	message: 'The item could not be handled: no such item',
	description: expect.stringMatching(/^Nothing was sent for it\./) as string,
} as const;
test.each<[string, unknown, Failure]>([
	['a failure of ours is passed on', new FailureError(done()), done()],
	['any other error is named as it is', new Error('no such item'), unread],
])('%s', async (_name, thrown, failure) => {
	const breaking = () => {
		throw thrown;
	};
	expect(attempt(breaking)).toEqual({ ok: false, failure });
	const later = await attemptAsync(async () => await Promise.resolve().then(breaking));
	expect(later).toEqual({ ok: false, failure });
});

test.each(['', ' ', null, undefined, false, 0, {}, []])('the error %j says nothing', (error) => {
	expect(withoutEmptyError({ a: 1, error })).toStrictEqual({ a: 1 });
});
test.each(['no', { code: 1 }, [1], true, 1])('the error %j says something', (error) => {
	expect(withoutEmptyError({ a: 1, error })).toStrictEqual({ a: 1, error });
});

test('of an error, about a thousand values are looked at, each once', () => {
	let looks = 0;
	const leaf = Object.defineProperty({}, 'message', {
		enumerable: true,
		get: () => void (looks += 1),
	});
	const names = ['message', 'msg', 'reason', 'detail', 'error'];
	const inside = (each: unknown, within: readonly string[], levels: number): unknown =>
		levels === 0
			? each
			: Object.fromEntries(within.map((name) => [name, inside(each, within, levels - 1)]));
	errorTextOf({ detail: inside(leaf, ['message'], 4) });
	expect(looks).toBe(1);
	errorTextOf({ message: inside(leaf, names, 5), detail: inside(leaf, names, 5) });
	expect(looks).toBeLessThan(1_000);
});
