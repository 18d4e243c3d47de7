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

interface Replacements {
	/** Takes the place of every node's `mediaGenerationApi` credential. */
	credential?: { id: string; name: string };
	/** `{ SERVICE_URL: '...' }` replaces `__SERVICE_URL__` wherever it stands. */
	placeholders?: Record<string, string | number>;
	/** Instead of the name in the file. */
	name?: string;
}

/** Reads a workflow's JSON file and fills in what differs from one n8n to the next. A placeholder without a value is an error. */
export function readWorkflow(
	file: string,
	{ credential, placeholders = {}, name }: Replacements = {},
): Workflow {
	const text = readFileSync(file, 'utf8').replace(/__([A-Z][A-Z0-9_]*?)__/g, (_, key: string) => {
		const value = placeholders[key];
		if (value === undefined) throw new Error(`${file} wants a value for ${key}`);
		return JSON.stringify(String(value)).slice(1, -1);
	});
	const workflow = JSON.parse(text) as Workflow;
	for (const { credentials } of workflow.nodes) {
		if (credential && credentials?.mediaGenerationApi)
			credentials.mediaGenerationApi = { id: credential.id, name: credential.name };
	}
	return { ...workflow, name: name ?? workflow.name };
}

const examples = join(__dirname, '..', '..', '..', 'examples');

interface Place {
	credential: { id: string; name: string };
	n8n: { baseUrl: string; userFolder: string };
}

/** An example of examples/, with what differs from one n8n to the next: the credential, its own address, the folder that it may write to. */
export function exampleWorkflow(name: string, { credential, n8n }: Place): Workflow {
	const { id, name: title } = credential;
	const workflow = readWorkflow(join(examples, `${name}.json`), {
		credential: { id, name: title },
	});
	const text = JSON.stringify(workflow)
		.replaceAll('http://localhost:5678', n8n.baseUrl)
		// The folder of an expression, not the one that a note speaks of.
		.replaceAll('"=/home/node/.n8n-files', `"=${filesFolder(n8n.userFolder)}`);
	return JSON.parse(text) as Workflow;
}

export const exampleNames = readdirSync(examples)
	.filter((file) => file.endsWith('.json'))
	.map((file) => file.replace(/\.json$/, ''))
	.sort();

/** What the examples ask of the stand-in beside the specification: a list of tasks, forms, dubbing, prices. */
export const exampleSettings = { lists: { tasks: true }, moreRoutes: true };

/** The same for a file of test/n8n/workflows, named without its ending. */
export function testWorkflow(name: string, replacements?: Replacements): Workflow {
	return readWorkflow(join(__dirname, '..', 'workflows', `${name}.json`), replacements);
}
