/** Workflows that differ in a few values only, put together by code. */
import { createHash } from 'node:crypto';
import type { SavedCredential } from './rest';
import type { Workflow, WorkflowNode } from './workflow';

export type Parameters = Record<string, unknown>;
export type Node = Pick<WorkflowNode, 'name' | 'type' | 'typeVersion' | 'parameters'> & {
	/** n8n takes any text; made up where it is missing. */
	id?: string;
	webhookId?: string;
	credentials?: WorkflowNode['credentials'];
};
/** `[from, to]` or `[from, to, output of from, input of to]`; of a tool or a model, the kind of its output instead. */
export type Link = [
	from: string,
	to: string,
	output?: number | 'ai_tool' | 'ai_languageModel',
	input?: number,
];

const ours = 'n8n-nodes-media-generation';

/** Operations that need little beside a text. */
export const soundEffect = { resource: 'soundEffect', operation: 'generate' };
export const speechByName = {
	resource: 'speech',
	operation: 'generateByVoiceName',
	voice: 'en-US-AriaNeural',
};

/** A node of n8n's own. */
export const base = (
	name: string,
	[type, typeVersion]: [type: string, version: number],
	parameters: Parameters = {},
): Node => ({ name, type: `n8n-nodes-base.${type}`, typeVersion, parameters });

export const called = (path: string): Node => ({
	...base('Called', ['webhook', 2], {
		httpMethod: 'POST',
		path,
		responseMode: 'onReceived',
		options: {},
	}),
	webhookId: path,
});
/** One item for each entry of `jobs` in the body, as `$json.job`. */
export const oneItemEach = (): Node =>
	base('One Item Each', ['splitOut', 1], {
		fieldToSplitOut: 'body.jobs',
		options: { destinationFieldName: 'job' },
	});
export const last = (name = 'Last'): Node => base(name, ['noOp', 1]);
/** Where a sub-workflow begins. */
export const calledByParent = (name = 'Called'): Node =>
	base(name, ['executeWorkflowTrigger', 1.1], { inputSource: 'passthrough' });
/** Two nodes: one item for each entry of a list. */
export const listed = (list: unknown[], name: string): Node[] => [
	base('List', ['set', 3.4], { mode: 'raw', jsonOutput: JSON.stringify({ list }), options: {} }),
	base(name, ['splitOut', 1], { fieldToSplitOut: 'list', options: {} }),
];
/** Where a person begins. */
export const start = (name = 'Start'): Node => base(name, ['manualTrigger', 1]);
export const action = (parameters: Parameters, settings: object = {}): Node => ({
	name: 'Generate',
	type: `${ours}.mediaGeneration`,
	typeVersion: 1,
	parameters,
	...settings,
});
/** The node as the tool of an agent. */
export const tool = (parameters: Parameters, settings: object = {}): Node => ({
	...action({ ...soundEffect, ...parameters }),
	name: 'Make a Sound',
	type: `${ours}.mediaGenerationTool`,
	...settings,
});
export const langchain = (
	name: string,
	[type, typeVersion]: [type: string, version: number],
	parameters: Parameters,
): Node => ({ name, type: `@n8n/n8n-nodes-langchain.${type}`, typeVersion, parameters });
/** An AI Agent. */
export const agent = (text: string): Node =>
	langchain('Agent', ['agent', 3], {
		promptType: 'define',
		text,
		options: { enableStreaming: false },
	});
/** Its model, which is scripted. */
export const chatModel = (credentialId: string): Node => ({
	...langchain('Model', ['lmChatOpenAi', 1.2], {
		model: { __rl: true, mode: 'id', value: 'scripted' },
		options: {},
	}),
	credentials: { openAiApi: { id: credentialId, name: 'Scripted Model' } },
});
/** What is made of `$json.job` (`{ text, standIn }`): a sound effect, unless the parameters say otherwise. */
export const generate = (
	parameters: Parameters = {},
	options: Parameters = {},
	settings: object = {},
): Node =>
	action(
		{
			...soundEffect,
			text: '={{ $json.job.text }}',
			...parameters,
			options: {
				extraFields: '={{ JSON.stringify({ stand_in: $json.job.standIn ?? {} }) }}',
				...options,
			},
		},
		settings,
	);
/** Options of a node that sleeps at once, for long. */
export const limits = { gracePeriod: 0, timeout: 3600 };
/** The webhook's ID of the trigger with this name: a UUID, as n8n gives. */
export function webhookIdOf(name: string): string {
	const hex = createHash('sha256').update(name).digest('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}

export const trigger = (path: string, parameters: Parameters = {}): Node => ({
	name: 'Finished',
	type: `${ours}.mediaGenerationTrigger`,
	typeVersion: 1.1,
	webhookId: webhookIdOf(path),
	parameters: { options: {}, ...parameters },
});

export const chain = (nodes: Node[]): Link[] =>
	nodes.slice(1).map((node, at) => [nodes[at]?.name ?? '', node.name]);

export function workflowOf(
	name: string,
	nodes: Node[],
	{ id, name: title }: Pick<SavedCredential, 'id' | 'name'>,
	links: Link[] = chain(nodes),
): Workflow {
	const connections: Record<string, Record<string, object[][]>> = {};
	for (const [from, to, output = 0, index = 0] of links) {
		const [type, at] = typeof output === 'string' ? [output, 0] : ['main', output];
		const outputs = ((connections[from] ??= {})[type] ??= []);
		while (outputs.length <= at) outputs.push([]);
		outputs[at]?.push({ node: to, type, index });
	}
	const credentials = { mediaGenerationApi: { id, name: title } };
	return {
		name,
		connections,
		settings: { executionOrder: 'v1' },
		nodes: nodes.map((node, index) => ({
			id: `5e1f0000-0000-4000-8000-${String(index).padStart(12, '0')}`,
			position: [220 * index, 0],
			...(node.type.startsWith(ours) || 'nodeCredentialType' in node.parameters
				? { credentials }
				: {}),
			...node,
		})),
	};
}
