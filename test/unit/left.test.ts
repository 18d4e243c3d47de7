/** An item that a later try refuses still names what the earlier ones have paid for, or may have. */
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';
import { failedResult } from '../../nodes/MediaGeneration/run/item';
import { leftBy, withEarlierTasks } from '../../nodes/MediaGeneration/run/left';
import type { Ledger } from '../../nodes/MediaGeneration/task/ledger';

const INVALID = failedResult(0, { outcome: 'invalid', message: 'empty', description: 'Fill it.' });
const unclear = (taskId?: string): Failure => ({
	...{ outcome: 'unknown', message: 'lost', description: 'Look.' },
	...(taskId !== undefined && { taskId }),
});

test.each<[string, Partial<Ledger['left']>, Partial<Failure>, string[] | undefined]>([
	['nothing', {}, INVALID.failure, undefined],
	[
		'only what another item has left',
		{ made: [{ item: 1, taskId: 'b' }], unclear: [{ item: 1, failure: unclear('c') }] },
		INVALID.failure,
		undefined,
	],
	[
		'a paid task',
		{ made: [0, 1].map((item) => ({ item, taskId: `t${item}` })) },
		{ outcome: 'unreachable', message: 'empty; tasks of this item exist: t0' },
		['t0'],
	],
	[
		'a creation without an answer',
		{ unclear: [{ item: 0, failure: unclear() }] },
		unclear(),
		undefined,
	],
	[
		'a paid task, and two that unclear answers have named',
		{
			made: [{ item: 0, taskId: 'a' }],
			unclear: ['b', 'c'].map((taskId) => ({ item: 0, failure: unclear(taskId) })),
		},
		{ outcome: 'unknown', message: 'lost' },
		['a', 'b', 'c'],
	],
])('%s', (_name, left, failure, taskIds) => {
	const ledger = { left: { made: [], unclear: [], ...left } } as unknown as Ledger;
	const result = withEarlierTasks(ledger, INVALID);
	expect(result).toMatchObject({ kind: 'failed', index: 0, failure });
	const { whole } = (result as typeof INVALID).failure;
	expect(whole?.taskIds).toEqual(taskIds);
});

const ended = (outcome: Failure['outcome'], httpStatus?: number) => {
	const failure = { outcome, message: 'm', description: 'd', taskId: 't', httpStatus };
	return { ...failedResult(0, failure), taskIds: ['t'] };
};
const MADE = [{ item: 0, taskId: 't' }];
test.each<[string, Ledger['left']['made'], ReturnType<typeof ended>, string[]]>([
	['a paid task that answers 404 is named', MADE, ended('unreachable', 404), ['t']],
	['an ID that the user entered is not', [], ended('unreachable', 404), []],
	['but for one whose key has expired', [], ended('unreachable', 401), ['t']],
	['a task that failed is of no use', MADE, ended('failed'), []],
])('what a run leaves: %s', (_name, made, result, taskIds) => {
	const ledger = { left: { made, unclear: [] } } as unknown as Ledger;
	expect(leftBy(ledger, [result]).taskIds).toEqual(taskIds);
});
