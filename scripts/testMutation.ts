/**
 * `npm run test:mutation`: changes the code in one place at a time and sees whether the tests notice, folder by folder; see
 * stryker.config.mjs. What is left of the command line goes to StrykerJS, e.g. `--force`.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { runNode } from './child';
import { runMain } from './halt';
import { root } from './pack';

const nodes = join(root, 'nodes', 'MediaGeneration');
const all = readdirSync(nodes, { withFileTypes: true })
	.filter((entry) => entry.isDirectory())
	.map(({ name }) => name);

runMain(async () => {
	const command = new Command('npm run test:mutation --')
		.description('Changes the code in one place at a time and sees whether the tests notice')
		.option('--folder <names...>', 'only these', [...all, 'credentials'])
		.option('--sample <number>', 'at most so many changes of each, drawn by chance')
		.allowUnknownOption()
		.allowExcessArguments()
		.parse();
	const { folder, sample } = command.opts<{ folder: string[]; sample?: string }>();
	const env: Record<string, string> = sample === undefined ? {} : { MUTATION_SAMPLE: sample };
	const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
	for (const name of folder) {
		console.log(`\n${name}`);
		await runNode([stryker, 'run', ...command.args], { ...env, MUTATION_FOLDER: name });
	}
});
