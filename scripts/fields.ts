/** `npm run fields`: writes docs/fields.md by the built nodes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeType } from 'n8n-workflow';
import { fieldsPage } from './fieldsPage';
import { runMain } from './halt';
import { root } from './pack';

async function descriptionOf(name: string) {
	const file = join(root, 'dist', 'nodes', 'MediaGeneration', `${name}.node.js`);
	const built = (await import(file)) as Record<string, new () => INodeType>;
	const Node = built[name];
	if (Node === undefined) throw new Error(`${file} has no ${name}`);
	return new Node().description;
}

runMain(async () => {
	const action = await descriptionOf('MediaGeneration');
	const trigger = await descriptionOf('MediaGenerationTrigger');
	writeFileSync(join(root, 'docs', 'fields.md'), fieldsPage(action, trigger));
});
