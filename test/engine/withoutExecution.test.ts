/** n8n's Agents run the node without an execution, so that nothing can be kept. */
import { ExecuteContext } from 'n8n-core';
import {
	createEmptyRunExecutionData,
	Workflow,
	type INodeExecutionData,
	type INodeParameters,
} from 'n8n-workflow';
import { logLines } from './container';
import { additionalDataFor, mediaGeneration, mediaNode, typesOf } from './engine';
import { engineSetting, sound } from './setting';

const setting = engineSetting();

/** Runs the node as n8n does (`EphemeralNodeExecutor.executeNodeDirectly`, n8n 2.41). */
async function runWithoutExecution(parameters: INodeParameters): Promise<INodeExecutionData[]> {
	const node = mediaNode({ parameters });
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: typesOf({ mediaGeneration }),
	});
	const items = [{ json: {} }];
	const input = { main: [items] };
	const context = new ExecuteContext(
		workflow,
		node,
		additionalDataFor(setting.service),
		'internal',
		createEmptyRunExecutionData(),
		0,
		items,
		input,
		{ node, data: input, source: null },
		[],
	);
	await workflow.expression.acquireIsolate?.();
	const output = (await mediaGeneration.execute?.call(context)) as INodeExecutionData[][];
	return output[0] ?? [];
}

const speech = { resource: 'speech', operation: 'generateByVoiceId', voiceId: 'voice-00002' };

test.each<[string, INodeParameters]>([
	['a long text', { ...speech, longText: 'join', text: 'A. B.' }],
	['a sound effect', sound('Rain')],
])('%s is made, waited for and fetched', async (_name, parameters) => {
	const [item] = await runWithoutExecution(parameters);
	expect(item?.json).toMatchObject({ status: 'done' });
	expect(Object.keys(item?.binary ?? {})).toContain('data');
	expect(setting.attempts()).toBe(1);
});

test('a task made before is waited for; the log names each', async () => {
	const from = logLines.length;
	const [made] = await runWithoutExecution({ ...sound('Rain'), waitForCompletion: false });
	const taskId = made?.json.task_id as string;
	const [item] = await runWithoutExecution({ resource: 'task', operation: 'wait', taskId });
	expect(item?.json).toMatchObject({ status: 'done', task_id: taskId });
	const lines = logLines.slice(from).join('\n');
	expect(lines).toContain(taskId);
	expect(lines).not.toContain('undefined');
});
