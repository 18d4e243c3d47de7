/** What the error and the log of a run name as paid for. */
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';
import { failedResult } from '../../nodes/MediaGeneration/run/item';
import { adviceAfter, leftoversOf } from '../../nodes/MediaGeneration/run/leftovers';
import type { Ledger } from '../../nodes/MediaGeneration/task/ledger';

const ended = (outcome: Failure['outcome'], httpStatus?: number) => {
	const failure = { outcome, message: 'm', description: 'd', taskId: 't', httpStatus };
	return { ...failedResult(0, failure), taskIds: ['t'] };
};
const leftBy = (made: Ledger['left']['made'], result: ReturnType<typeof ended>) =>
	leftoversOf({ left: { made, unclear: [] } } as unknown as Ledger, [result]);
const MADE = [{ item: 0, taskId: 't' }];
test.each<[string, Ledger['left']['made'], ReturnType<typeof ended>, string[]]>([
	['a paid task that answers 404 is named', MADE, ended('unreachable', 404), ['t']],
	['an ID that the user entered is not', [], ended('unreachable', 404), []],
	['but for one whose key has expired', [], ended('unreachable', 401), ['t']],
	['a task that failed is of no use', MADE, ended('failed'), []],
])('what a run leaves: %s', (_name, made, result, taskIds) => {
	expect(leftBy(made, result)).toMatchObject({ taskIds, creates: made.length > 0 });
});

test.each<[Failure['outcome'], string[]]>([
	['unknown', ['t']],
	['rejected', []],
])('a task that a creation of this run names, which ended as "%s": %j', (outcome, named) => {
	expect(leftBy([], { ...ended(outcome), taskIds: [] }).namedTaskIds).toEqual(named);
});

test.each([
	[true, /A new execution creates a new task .*, which "Task: Wait" can fetch: a, b\. To output/],
	[false, /^ "Task: Wait" can still fetch the paid tasks: a, b\.$/],
])('only a run that creates tasks would pay again: %j', (creates, words) => {
	const leftovers = { taskIds: ['a', 'b'], unclearItems: [], namedTaskIds: [], creates };
	expect(adviceAfter(ended('timed_out'), [], leftovers)).toMatch(words);
});
