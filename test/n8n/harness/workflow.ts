import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesFolder } from './n8n';

export interface WorkflowNode {
	name: string;
	type: string;
	typeVersion: number;
	parameters: Record<string, unknown>;
	credentials?: Record<string, { id: string | null; name: string }>;
	[other: string]: unknown;
}

/** A workflow as n8n's editor exports it. */
export interface Workflow {
	name: string;
	nodes: WorkflowNode[];
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
	[other: string]: unknown;
}

const examples = join(__dirname, '..', '..', '..', 'examples');

interface Place {
	credential: { id: string; name: string };
	n8n: { baseUrl: string; userFolder: string };
}

/** An example of examples/, with what differs from one n8n to the next: the credential, its own address, the folder that it may write to. */
export function exampleWorkflow(name: string, { credential, n8n }: Place): Workflow {
	const text = readFileSync(join(examples, `${name}.json`), 'utf8')
		.replaceAll('http://localhost:5678', n8n.baseUrl)
		// The folder of an expression, not the one that a note speaks of.
		.replaceAll('"=/home/node/.n8n-files', `"=${filesFolder(n8n.userFolder)}`);
	const workflow = JSON.parse(text) as Workflow;
	for (const { credentials } of workflow.nodes)
		if (credentials?.mediaGenerationApi)
			credentials.mediaGenerationApi = { id: credential.id, name: credential.name };
	return workflow;
}

export const exampleNames = readdirSync(examples)
	.filter((file) => file.endsWith('.json'))
	.map((file) => file.replace(/\.json$/, ''))
	.sort();

/** What the examples ask of the stand-in beside the specification: a list of tasks, forms, dubbing, prices. */
export const exampleSettings = { lists: { tasks: true }, moreRoutes: true };
