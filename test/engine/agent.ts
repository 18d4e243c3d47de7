/**
 * The built node as a tool of an AI agent: n8n-core makes the tool of it and calls it, with tries, run indexes and errors
 * of its own. The agent is a node that calls its tool as often as the test says.
 */
import {
	deepCopy,
	NodeConnectionTypes,
	type IConnections,
	type IDataObject,
	type IExecuteFunctions,
	type INodeType,
} from 'n8n-workflow';
import {
	mediaGeneration,
	mediaNode,
	node,
	passing,
	source,
	type EngineOptions,
	type EngineResult,
} from './engine';
import { runWorkflow } from './executions';

/** The part of a LangChain tool that an agent uses. */
interface Tool {
	invoke(args: IDataObject): Promise<string>;
}

type ToolAnswer =
	| { ok: true; response: unknown }
	/** What the agent, and so its model and its user, gets to read. */
	| { ok: false; message: string; description: string };

export interface ToolOptions extends Omit<EngineOptions, 'items' | 'inputs' | 'retryOf'> {
	/** Arguments of the calls. One call without arguments if not given. */
	calls?: IDataObject[];
	/** Whether all calls are made at once, or one after the other. */
	atOnce?: boolean;
}

export interface ToolResult extends Pick<EngineResult, 'run' | 'saved' | 'logs'> {
	answers: ToolAnswer[];
	/** How often n8n ran the node. */
	runs: number;
}

/** n8n makes a second type of every node that is usable as a tool. */
function asTool(type: INodeType): INodeType {
	const tool = Object.create(type) as INodeType;
	tool.description = deepCopy(type.description);
	tool.description.name += 'Tool';
	tool.description.inputs = [];
	tool.description.outputs = [NodeConnectionTypes.AiTool];
	delete tool.description.webhooks;
	return tool;
}

async function call(tool: Tool, args: IDataObject): Promise<ToolAnswer> {
	try {
		return { ok: true, response: JSON.parse(await tool.invoke(args)) as unknown };
	} catch (error) {
		const { message, description } = error as Error & { description?: string | null };
		return { ok: false, message, description: description ?? '' };
	}
}

function agent(calls: IDataObject[], atOnce: boolean, answers: ToolAnswer[]): INodeType {
	const type = passing('agent', async function (this: IExecuteFunctions) {
		const [tool] = (await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0)) as Tool[];
		if (tool === undefined) throw new Error('The agent has no tool');
		if (atOnce)
			answers.push(...(await Promise.all(calls.map(async (args) => await call(tool, args)))));
		else for (const args of calls) answers.push(await call(tool, args));
		return [this.getInputData()];
	});
	type.description.inputs = [NodeConnectionTypes.Main, NodeConnectionTypes.AiTool];
	return type;
}

export async function runTool(options: ToolOptions): Promise<ToolResult> {
	const answers: ToolAnswer[] = [];
	const { calls = [{}], atOnce = false } = options;
	const connections: IConnections = {
		Source: { main: [[{ node: 'Agent', type: NodeConnectionTypes.Main, index: 0 }]] },
		Media: { ai_tool: [[{ node: 'Agent', type: NodeConnectionTypes.AiTool, index: 0 }]] },
	};
	const { run, saved, logs } = await runWorkflow({
		...options,
		types: {
			source: source([{ json: {} }]),
			agent: agent(calls, atOnce, answers),
			mediaGenerationTool: asTool(mediaGeneration),
		},
		nodes: [
			node('Source', 'source'),
			node('Agent', 'agent'),
			{ ...mediaNode(options), type: 'mediaGenerationTool' },
		],
		connections,
	});
	return { run, saved, logs, answers, runs: run.data.resultData.runData.Media?.length ?? 0 };
}
