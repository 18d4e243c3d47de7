/** What a later try knows of the ones before it: which run it belongs to, and what they left (README, "Nothing is paid for twice"). */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { runOf } from '../../nodes/MediaGeneration/run/checks';
import { PLAIN_TASK } from '../model/history';
import { runNode } from './wholeNode';

const sound = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
const goOn = { onError: 'continueRegularOutput' } as const;
const unclear = { kind: 'HTTP 500', created: true, retryAfter: 'none' } as const;
const refused = { kind: 'refused', created: false, retryAfter: 'none' } as const;

describe('the run that a try belongs to', () => {
	const contextOf = (
		runIndex: unknown,
		{ call = undefined as IDataObject | undefined, tool = true },
	) =>
		({
			evaluateExpression: () => runIndex,
			getExecutionId: () => '7',
			getInputData: () => (call === undefined ? [] : [{ json: call }]),
			isToolExecution: () => tool,
			getNode: () => ({ type: 'mediaGeneration' }),
		}) as unknown as IExecuteFunctions;

	test('is the one that n8n counts', () => {
		const call = {};
		for (const runIndex of [0, 3])
			expect(runOf(contextOf(runIndex, { call, tool: false }))).toEqual({
				executionId: '7',
				runIndex,
				asTool: false,
			});
	});

	test('is the first one where n8n says none', () => {
		expect(runOf(contextOf(undefined, { tool: false })).runIndex).toBe(0);
		expect(runOf(contextOf('1', { tool: false })).runIndex).toBe(0);
	});

	test("of an agent's call is that of its first try; another call has its own, also with equal arguments", () => {
		const [call, other] = [{ text: 'Rain' }, { text: 'Rain' }];
		const runs = [
			runOf(contextOf(4, { call })),
			runOf(contextOf(5, { call: other })),
			runOf(contextOf(6, { call })),
			runOf(contextOf(7, { call: other })),
			runOf(contextOf(8, { call })),
		];
		expect(runs.map(({ runIndex }) => runIndex)).toEqual([4, 5, 4, 5, 4]);
		expect(runs.every(({ asTool }) => asTool === true)).toBe(true);
	});

	test('of a call without arguments is the one that n8n counts', () => {
		expect(runOf(contextOf(4, {})).runIndex).toBe(4);
		expect(runOf(contextOf(5, {})).runIndex).toBe(5);
	});
});

test('the error of a later try names the items of all tries whose tasks may exist, in order', async () => {
	const { error, sent } = await runNode({
		parameters: [sound, sound, sound],
		creations: [refused, unclear, unclear, unclear],
		node: { tries: 2 },
	});
	expect(sent).toHaveLength(4);
	expect(error?.description).toContain('The tasks of items 0, 1, 2 may exist');
});

test('a part whose file could not be fetched does not keep the other one from its sleep', async () => {
	const { json, execution } = await runNode({
		parameters: {
			resource: 'speech',
			operation: 'generateByVoiceId',
			voiceId: 'v',
			longText: 'join',
			text: 'The first part of a text, as long as that.\n\nThe second part, about as long.',
			waitMode: 'callback',
			options: { gracePeriod: 10, maxCharacters: 60 },
		},
		tasks: [PLAIN_TASK, { ...PLAIN_TASK, seconds: 40 }],
		files: ['HTTP 404', 'HTTP 404'],
		node: goOn,
	});
	expect(execution.woken).toBe(true);
	expect(json).toMatchObject([{ status: 'done' }]);
});
