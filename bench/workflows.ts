/** The workflows that the benches run in a real n8n, put together by code: they differ in a few values only. */
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import type { TestContext } from '../test/n8n/harness/context';
import type { Workflow, WorkflowNode } from '../test/n8n/harness/workflow';

type Parameters = Record<string, unknown>;
export type Node = Pick<WorkflowNode, 'name' | 'type' | 'typeVersion' | 'parameters'> & {
	webhookId?: string;
};
/** `[from, to]` or `[from, to, output of from]`. */
export type Link = [from: string, to: string, output?: number];

const base = (type: string) => `n8n-nodes-base.${type}`;
const package_ = 'n8n-nodes-media-generation';

export const called = (path: string): Node => ({
	name: 'Called',
	type: base('webhook'),
	typeVersion: 2,
	webhookId: path,
	parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
});
/** One item for each of the body's `jobs`, as `$json.job`. */
export const oneItemEach = (): Node => ({
	name: 'One Item Each',
	type: base('splitOut'),
	typeVersion: 1,
	parameters: { fieldToSplitOut: 'body.jobs', options: { destinationFieldName: 'job' } },
});
export const last = (): Node => ({
	name: 'Last',
	type: base('noOp'),
	typeVersion: 1,
	parameters: {},
});
export const request = (name: string, parameters: Parameters): Node => ({
	name,
	type: base('httpRequest'),
	typeVersion: 4.2,
	parameters: { options: {}, ...parameters },
});
/** A sound effect for `$json.job` (`{ text, standIn }`), delivered without files unless told otherwise. */
export const generate = (parameters: Parameters = {}, options: Parameters = {}): Node => ({
	name: 'Generate',
	type: `${package_}.mediaGeneration`,
	typeVersion: 1,
	parameters: {
		resource: 'soundEffect',
		operation: 'generate',
		text: '={{ $json.job.text }}',
		downloadOutput: false,
		options: {
			timeout: 3600,
			extraFields: '={{ JSON.stringify({ stand_in: $json.job.standIn }) }}',
			...options,
		},
		...parameters,
	},
});
export const trigger = (path: string, parameters: Parameters): Node => ({
	name: 'Finished',
	type: `${package_}.mediaGenerationTrigger`,
	typeVersion: 1.1,
	webhookId: path,
	parameters: { options: {}, ...parameters },
});

/** What one builds from n8n's own nodes: create, wait 5 s, look at all of the batch, until all of it is done. */
export function requestLoop(baseUrl: string, apiKey: string, batchSize: number) {
	const authorized = {
		sendHeaders: true,
		headerParameters: { parameters: [{ name: 'Authorization', value: `Bearer ${apiKey}` }] },
	};
	const nodes: Node[] = [
		{
			name: 'Loop',
			type: base('splitInBatches'),
			typeVersion: 3,
			parameters: { batchSize, options: {} },
		},
		request('Create', {
			...authorized,
			method: 'POST',
			url: `${baseUrl}/v1/task/sound-effect`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody: '={{ JSON.stringify({ text: $json.job.text, stand_in: $json.job.standIn }) }}',
		}),
		{
			name: 'Wait',
			type: base('wait'),
			typeVersion: 1.1,
			parameters: { resume: 'timeInterval', amount: 5, unit: 'seconds' },
		},
		request('Look', { ...authorized, url: `=${baseUrl}/v1/task/{{ $json.task_id ?? $json.id }}` }),
		{
			name: 'All Done?',
			type: base('if'),
			typeVersion: 2.2,
			parameters: {
				conditions: {
					options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
					combinator: 'and',
					conditions: [
						{
							id: 'done',
							leftValue: "={{ $input.all().every((item) => item.json.status === 'done') }}",
							rightValue: '',
							operator: { type: 'boolean', operation: 'true', singleValue: true },
						},
					],
				},
				options: {},
			},
		},
		last(),
	];
	const links: Link[] = [
		['Loop', 'Last', 0],
		['Loop', 'Create', 1],
		['Create', 'Wait'],
		['Wait', 'Look'],
		['Look', 'All Done?'],
		['All Done?', 'Loop', 0],
		['All Done?', 'Wait', 1],
	];
	return { nodes, links };
}

export function chain(nodes: Node[]): Link[] {
	return nodes.slice(1).map((node, at) => [nodes[at]?.name ?? '', node.name]);
}

/** Saves a workflow in n8n and publishes it. */
export async function publish(
	{ rest, credential }: TestContext,
	name: string,
	nodes: Node[],
	links: Link[] = chain(nodes),
): Promise<SavedWorkflow> {
	const connections: Record<
		string,
		{ main: Array<Array<{ node: string; type: string; index: number }>> }
	> = {};
	for (const [from, to, output = 0] of links) {
		const { main } = (connections[from] ??= { main: [] });
		while (main.length <= output) main.push([]);
		main[output]?.push({ node: to, type: 'main', index: 0 });
	}
	const workflow: Workflow = {
		name,
		connections,
		settings: { executionOrder: 'v1' },
		nodes: nodes.map((node, index) => ({
			id: `5e1f0000-0000-4000-8000-${String(index).padStart(12, '0')}`,
			position: [220 * index, 0],
			...(node.type.startsWith(package_)
				? { credentials: { mediaGenerationApi: { id: credential.id, name: credential.name } } }
				: {}),
			...node,
		})),
	};
	const saved = await rest.createWorkflow(workflow);
	await rest.publish(saved);
	return saved;
}
