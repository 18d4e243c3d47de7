/** Which run, and which call of an agent, the node runs for. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { runOf } from '../../nodes/MediaGeneration/n8n/execution';

test.each<[object | null, string]>([
	[null, ':0'],
	[{ main: [{ previousNode: 'Agent' }] }, 'Agent:0'],
	[{ main: [{ previousNode: 'Agent', previousNodeRun: 2 }] }, 'Agent:2'],
])('a call belongs to a run of the agent, and its ID has no colon: %j', (source, agent) => {
	const context = {
		evaluateExpression: () => 3,
		getExecutionId: () => '7',
		getInputData: () => [{ json: { toolCallId: 'a:b' } }],
		getExecuteData: () => ({ source }),
		isToolExecution: () => true,
		getNode: () => ({ type: 'mediaGeneration' }),
	};
	const call = { id: '3 a b', agent };
	expect(runOf(context as unknown as IExecuteFunctions)).toEqual({
		executionId: '7',
		runIndex: 3,
		call,
	});
});
