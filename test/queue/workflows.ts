/** The workflows of these suites, small enough to be written in code. */
import type { SavedCredential } from '../n8n/harness/rest';
import type { Workflow, WorkflowNode } from '../n8n/harness/workflow';

/** One task to be made: its text says which, so that the service's ledger can be laid beside ours. */
export interface Job {
	text: string;
	standIn: Record<string, unknown>;
}

interface Step {
	name: string;
	type: string;
	parameters: Record<string, unknown>;
	more?: Record<string, unknown>;
}

function chain(name: string, credential: SavedCredential, steps: Step[]): Workflow {
	const nodes = steps.map(({ name: node, type, parameters, more }, index): WorkflowNode => ({
		id: `queue-${name}-${index}`.toLowerCase().replaceAll(' ', '-'),
		name: node,
		type,
		typeVersion: type === 'n8n-nodes-base.webhook' ? 2 : 1,
		position: [220 * index, 0],
		parameters,
		...(type.startsWith('n8n-nodes-media-generation')
			? { credentials: { mediaGenerationApi: { id: credential.id, name: credential.name } } }
			: {}),
		...more,
	}));
	const connections = Object.fromEntries(
		steps
			.slice(0, -1)
			.map(({ name: from }, index) => [
				from,
				{ main: [[{ node: steps[index + 1]?.name, type: 'main', index: 0 }]] },
			]),
	);
	return { name, nodes, connections, settings: { executionOrder: 'v1' } };
}

const action = 'n8n-nodes-media-generation.mediaGeneration';
const steered = '={{ JSON.stringify({ stand_in: $json.job.standIn ?? {} }) }}';

function called(path: string): Step[] {
	return [
		{
			name: 'Called',
			type: 'n8n-nodes-base.webhook',
			parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
			more: { webhookId: path },
		},
		{
			name: 'One Item Each',
			type: 'n8n-nodes-base.splitOut',
			parameters: { fieldToSplitOut: 'body.jobs', options: { destinationFieldName: 'job' } },
		},
	];
}

const text = '={{ $json.job.text }}';

/** What an operation wants to make a task of `$json.job.text`. */
export const media = {
	'sound effect': { resource: 'soundEffect', operation: 'generate', text },
	'speech by ID': {
		resource: 'speech',
		operation: 'generateByVoiceId',
		voiceId: '21m00Tcm4TlvDq8ikWAM',
		modelId: 'eleven_multilingual_v2',
		outputFormat: 'mp3_44100_128',
		text,
	},
	'speech by name': {
		resource: 'speech',
		operation: 'generateByVoiceName',
		voice: 'en-US-AriaNeural',
		withTranscript: true,
		text,
	},
	images: {
		resource: 'image',
		operation: 'generate',
		prompt: text,
		modelId: 'image-1',
		generationsCount: 2,
		aspectRatio: '16:9',
		resolution: '1K',
	},
} as const satisfies Record<string, Record<string, unknown>>;
export type Media = keyof typeof media;

/** The text that a task was asked for with, as the service got it. */
export function textOf({ body }: { body: Record<string, unknown> }): unknown {
	return body.text ?? body.prompt;
}

interface GenerateOptions {
	/** A sound effect unless told otherwise. */
	of?: Media;
	fields?: Record<string, unknown>;
	options?: Record<string, unknown>;
	/** Settings of the node itself; by default failed items go on as items. */
	node?: Record<string, unknown>;
}

/** `POST /webhook/PATH { jobs }` makes one task for each job; what comes out is in the node `Generate`. */
export function generating(
	path: string,
	{
		of = 'sound effect',
		fields,
		options,
		node = { onError: 'continueRegularOutput' },
	}: GenerateOptions = {},
): (credential: SavedCredential) => Workflow {
	return (credential) =>
		chain(path, credential, [
			...called(path),
			{
				name: 'Generate',
				type: action,
				parameters: {
					...media[of],
					...fields,
					options: { extraFields: steered, ...options },
				},
				more: node,
			},
			{ name: 'Last', type: 'n8n-nodes-base.noOp', parameters: {} },
		]);
}

/** `POST /webhook/PATH { taskIds }` fetches tasks that exist already. */
export function recovering(path: string): (credential: SavedCredential) => Workflow {
	return (credential) =>
		chain(path, credential, [
			called(path)[0] as Step,
			{
				name: 'One Item Each',
				type: 'n8n-nodes-base.splitOut',
				parameters: {
					fieldToSplitOut: 'body.taskIds',
					options: { destinationFieldName: 'task_id' },
				},
			},
			{
				name: 'Generate',
				type: action,
				parameters: { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' },
				more: { onError: 'continueRegularOutput' },
			},
		]);
}

/** Runs once for each callback; what came is in the node `Finished`. */
export function triggered(
	path: string,
	parameters: Record<string, unknown> = {},
): (credential: SavedCredential) => Workflow {
	return (credential) =>
		chain(path, credential, [
			{
				name: 'Finished',
				type: 'n8n-nodes-media-generation.mediaGenerationTrigger',
				parameters: { options: {}, ...parameters },
				more: { webhookId: path },
			},
			{ name: 'Last', type: 'n8n-nodes-base.noOp', parameters: {} },
		]);
}
