/** Which run, and which call of an agent, the node runs for. */
import { runOf } from '../../nodes/MediaGeneration/n8n/execution';
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
