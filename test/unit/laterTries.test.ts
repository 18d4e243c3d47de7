/** Which run a try belongs to (README, "Nothing is paid for twice"). */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { runOf } from '../../nodes/MediaGeneration/run/prepare';

describe('the run that a try belongs to', () => {
	interface Given {
		call?: IDataObject;
		tool?: boolean;
		source?: object | null;
	}
	const contextOf = (runIndex: unknown, { call, tool = true, source = {} }: Given = {}) =>
		({
			evaluateExpression: () => runIndex,
			getExecutionId: () => '7',
			getInputData: () => (call === undefined ? [] : [{ json: call }]),
			getExecuteData: () => ({ source }),
			isToolExecution: () => tool,
			getNode: () => ({ type: 'mediaGeneration' }),
		}) as unknown as IExecuteFunctions;
	const callOf = (...given: Parameters<typeof contextOf>) => runOf(contextOf(...given)).call;

	test('is the one that n8n counts', () => {
		const call = {};
		for (const runIndex of [0, 3])
			expect(runOf(contextOf(runIndex, { call, tool: false }))).toEqual({
				executionId: '7',
				runIndex,
			});
	});

	test('is the first one where n8n says none', () => {
		for (const runIndex of [undefined, '1'])
			expect(runOf(contextOf(runIndex, { tool: false })).runIndex).toBe(0);
	});

	test('as a tool that the agent runs: each try a run of its own, and the same arguments object', () => {
		const [call, other] = [{ text: 'Rain' }, { text: 'Rain' }];
		const ids = [call, other, call, other, call].map(
			(args, index) => callOf(index, { call: args })?.id,
		);
		expect(new Set(ids).size).toBe(2);
		expect(ids).toEqual([ids[0], ids[1], ids[0], ids[1], ids[0]]);
	});

	test("as a tool that n8n's engine runs: the model's ID and the run, which all tries share", () => {
		const id = (runIndex: number, toolCallId: string) =>
			callOf(runIndex, { call: { toolCallId } })?.id;
		expect(id(2, 'call_0')).toBe(id(2, 'call_0'));
		// Some models count the calls of each answer from 0.
		expect(id(3, 'call_0')).not.toBe(id(2, 'call_0'));
		expect(id(2, 'call_1')).not.toBe(id(2, 'call_0'));
		expect(id(2, 'a:b')).not.toContain(':');
	});

	test('of a call without arguments is the one that n8n counts', () => {
		expect(callOf(4)).toEqual(callOf(4));
		expect(callOf(5)).not.toEqual(callOf(4));
	});

	test.each<[string, object | null]>([
		[':0', null],
		[':0', {}],
		['Agent:0', { main: [{ previousNode: 'Agent' }] }],
		['Agent:2', { main: [{ previousNode: 'Agent', previousNodeRun: 2 }] }],
	])('belongs to a run of the agent: %s', (agent, source) => {
		expect(callOf(0, { source })?.agent).toBe(agent);
	});
});
