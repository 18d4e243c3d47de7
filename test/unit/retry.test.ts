/** Whether n8n's Retry repeats an execution that was killed, by the node with which it begins. */
import { unrecordedRun } from '../../nodes/MediaGeneration/n8n/retry';
import { fakeN8n } from '../support/n8n';

const NOW = 1_900_000_000_000;
const KILLED = { beganAt: 5, endedBefore: NOW, repeated: '6' };
const trigger = { source: [], executionIndex: 0, startTime: 8 };
const first = { source: [{}], executionIndex: 0, startTime: 8 };
/** A run of the execution that is repeated. */
const before = { ...first, startTime: 1, executionStatus: 'success' };
const crashed = { executionStatus: 'crashed', executionIndex: 0, startTime: 2, source: [null] };
/** Nodes that the workflow has beside the node itself. */
const NODES: Record<string, object> = {
	Trigger: { type: 'n8n-nodes-base.webhook' },
	Set: { type: 'n8n-nodes-base.set' },
	Wait: { type: 'n8n-nodes-base.wait' },
	Form: { type: 'n8n-nodes-base.form' },
	Child: { type: 'n8n-nodes-base.executeWorkflow' },
	Approval: { type: 'n8n-nodes-base.slack', parameters: { operation: 'sendAndWait' } },
	Message: { type: 'n8n-nodes-base.slack', parameters: { operation: 'post' } },
	Dispatch: { type: 'n8n-nodes-base.github', parameters: { operation: 'dispatchAndWait' } },
	Chat: { type: '@n8n/n8n-nodes-langchain.chat' },
	ChatTool: { type: '@n8n/n8n-nodes-langchain.chatTool' },
	ChildTool: { type: '@n8n/n8n-nodes-langchain.toolWorkflow' },
	Respond: { type: 'n8n-nodes-base.respondToWebhook' },
	Other: { type: 'mediaGeneration' },
};
const SLEEPERS = 'Wait,Form,Child,ChildTool,Approval,Dispatch,Chat,ChatTool,Respond'.split(',');
const slept = { mediaGenerationDeadline: 1 };

/** @param started how many nodes n8n has started, this one included */
function found(runData: object, started: number | undefined, more: object = {}) {
	jest.spyOn(Date, 'now').mockReturnValue(NOW);
	const nodes = Object.entries(NODES).map(([name, node]) => [name, { parameters: {}, ...node }]);
	const own = {
		getExecutionContext: () => ({ establishedAt: 5 }),
		additionalData: { currentNodeExecutionIndex: started, hooks: { retryOf: '6' } },
		runExecutionData: { resultData: { runData } },
		workflow: { nodes: Object.fromEntries(nodes) as object },
		...more,
	};
	const { context } = fakeN8n({ mode: 'retry', node: { name: 'Generate' }, own });
	return unrecordedRun(context);
}

test.each<[string, object, number?]>([
	['this node, as far as the ledger says so', { Trigger: [{ ...trigger, startTime: 1 }] }, 1],
	['the trigger', { Trigger: [trigger], Set: [{ ...first, executionIndex: 1, startTime: 9 }] }, 3],
	['the trigger, and the recovery has made up a run', { Trigger: [trigger], Set: [crashed] }, 2],
	...SLEEPERS.map((name): [string, object, number] => [
		name,
		{ Set: [before], [name]: [first] },
		2,
	]),
	[
		'the node on which it slept last in a loop',
		{
			Loop: [before, { ...first, executionIndex: 1 }],
			...{ Generate: [before], Set: [before], Wait: [before, first] },
		},
		3,
	],
	['a node that was deleted since', { Gone: [first] }, 2],
	[
		'another node, and n8n made up that this one has crashed',
		{ Set: [first], Generate: [crashed] },
		2,
	],
	['another node, and n8n has removed what it made up', { Set: [first], Generate: [] }, 2],
	['nobody knows which node', {}, undefined],
])('killed: the Retry begins with %s', (_, runData, started) => {
	expect(found(runData, started)).toEqual(KILLED);
});

test.each<[string, object]>([
	['another node', { Trigger: [before], Set: [first] }],
	['another node in a loop', { Generate: [before], Set: [before, first] }],
	['a node that could have slept, with another operation', { Message: [first] }],
	['a node of this package, where none has slept', { Other: [first] }],
])('failed: the Retry begins with %s, so this one never ran', (_, runData) => {
	expect(found(runData, 2)).toBeUndefined();
});

test('a node of this package on which the execution slept', () => {
	const getContext = () => slept;
	expect(found({ Other: [first] }, 2, { getContext })).toEqual(KILLED);
});

test('an older n8n does not tell when the first execution began', () => {
	const older = { getExecutionContext: undefined };
	expect(found({}, 1, older)).toEqual({ ...KILLED, beganAt: undefined });
});

test.each([['trigger'], ['manual'], ['retry']])(
	'in mode %s, and for the tool of an agent, nothing is searched for',
	(mode) => {
		const own = { isToolExecution: () => mode === 'retry' };
		expect(unrecordedRun(fakeN8n({ mode, own }).context)).toBeUndefined();
	},
);
