/** An item that a later try refuses still names what the earlier ones have paid for, or may have. */
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';
import { failedResult } from '../../nodes/MediaGeneration/run/item';
import { withEarlierTasks } from '../../nodes/MediaGeneration/run/left';
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
