/** What the trigger offers to map from before its first call: a schema that n8n finds, and a pinned sample in the example. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadOutputSchema } from 'n8n-core';
import { verdictOf } from '../../nodes/MediaGeneration/service/verdict';
import { parseTask } from '../../nodes/MediaGeneration/service/task';

const root = join(__dirname, '../..');

function schemaFields(): string[] {
	const nodeDir = join(root, 'dist/nodes/MediaGeneration');
	const schema = loadOutputSchema({ nodeDir, version: 1.1, versionFallback: true });
	return Object.keys(schema?.properties ?? {});
}

function sample(): Record<string, unknown> | undefined {
	const example = JSON.parse(readFileSync(join(root, 'examples/on-completion.json'), 'utf8')) as {
		pinData: Record<string, Array<{ json: Record<string, unknown> }>>;
	};
	return Object.values(example.pinData).flat()[0]?.json;
}

test('the schema has what the trigger adds to a task', () => {
	expect(schemaFields()).toEqual(
		expect.arrayContaining(['task_id', 'outputs', 'verified', 'reference', 'error_message']),
	);
});

test('the sample is a finished task, and fits the schema', () => {
	const json = sample();
	const task = parseTask(json);
	expect(task === undefined ? undefined : verdictOf('sample', task).kind).toBe('done');
	expect(schemaFields()).toEqual(expect.arrayContaining(Object.keys(json ?? {})));
});
