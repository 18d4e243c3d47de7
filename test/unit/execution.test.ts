/** Which run, and which call of an agent, the node runs for. */
import { killedSince, runOf } from '../../nodes/MediaGeneration/n8n/execution';
import { fakeN8n } from '../support/n8n';

test.each<[object | null, string]>([
	[null, ':0'],
	[{ main: [{ previousNode: 'Agent' }] }, 'Agent:0'],
	[{ main: [{ previousNode: 'Agent', previousNodeRun: 2 }] }, 'Agent:2'],
])('a call belongs to a run of the agent, and its ID has no colon: %j', (source, agent) => {
	const input = [{ json: { toolCallId: 'a:b' } }];
	const own = { isToolExecution: () => true };
	const { context } = fakeN8n({ runIndex: 3, input, source, own });
	const call = { id: '3 a b', agent };
	expect(runOf(context)).toEqual({ executionId: '7', runIndex: 3, call });
});

const NOW = performance.timeOrigin;
const LONG_AGO = { sentAt: NOW - 14 * 86_400_000, isExact: false, overAt: NOW };
/** By how much the machine's clock is ahead of the process's own. */
const AHEAD = 3_600_000;
const THEN = { sentAt: 5 - AHEAD, isExact: true, overAt: NOW };
const SAVED = { ...THEN, repeated: '6' };
/** When nodes ran, the trigger first. */
const runsAt = (...times: number[]) =>
	Object.fromEntries(
		times.map((startTime, at) => [`${at}`, [{ startTime, source: at === 0 ? [] : [{}] }]]),
	);

test.each<[string, string, number | undefined, object, object?, null?]>([
	['is no Retry', 'trigger', 1, runsAt(1)],
	['is one that begins with this node: its progress was saved', 'retry', 1, runsAt(1, 2), SAVED],
	['is that of an n8n that does not count', 'retry', undefined, {}, THEN],
	['is that of an n8n that has no times', 'retry', undefined, {}, LONG_AGO, null],
	['begins with a node between, which had failed', 'retry', 2, runsAt(1, 9)],
	[
		'begins there after one that was killed in this node',
		'retry',
		2,
		{ ...runsAt(1, 9), Generate: [] },
		LONG_AGO,
	],
	[
		'begins there after one that was killed in this node, and n8n has made up a run behind it',
		'retry',
		2,
		{ ...runsAt(1, 9), Generate: [{ executionStatus: 'crashed', startTime: 2, source: [{}] }] },
		LONG_AGO,
	],
	[
		'comes back to this node in a loop',
		'retry',
		2,
		{ ...runsAt(1, 9), Generate: [{ executionStatus: 'success', startTime: 8, source: [{}] }] },
	],
	['begins anew, with nothing saved', 'retry', 3, runsAt(8, 9), LONG_AGO],
	[
		'begins anew, though n8n has made up runs',
		'retry',
		2,
		{
			0: [
				{ startTime: 1, source: [] },
				{ startTime: 9, source: [] },
			],
		},
		LONG_AGO,
	],
])('what a killed execution may have sent is looked for where this one %s', (...row) => {
	const [, mode, started, runData, expected, times = { establishedAt: 5 }] = row;
	jest.spyOn(performance, 'now').mockReturnValue(0);
	jest.spyOn(Date, 'now').mockReturnValue(NOW + AHEAD);
	const own = {
		getExecutionContext: times === null ? undefined : () => times,
		additionalData: { currentNodeExecutionIndex: started, hooks: { retryOf: '6' } },
		runExecutionData: { resultData: { runData } },
	};
	const { context } = fakeN8n({ mode, node: { name: 'Generate' }, own });
	expect(killedSince(context)).toEqual(expected);
});
