import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** The same for a file of test/n8n/workflows, named without its ending. */
export function testWorkflow(name: string, replacements?: Replacements): Workflow {
	return readWorkflow(join(__dirname, '..', 'workflows', `${name}.json`), replacements);
}
