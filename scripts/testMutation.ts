/**
 * `npm run test:mutation`: changes the code in one place at a time and sees whether the tests notice, folder by folder; see
 * stryker.config.mjs, and docs/mutation.md for the last scores. What follows the folders goes to StrykerJS, e.g. `--force`.
 */
import { join } from 'node:path';
import { Command } from 'commander';
import { runNode } from './child';
import { runMain } from './halt';
import { root } from './pack';

const all = 'create wait sleep callback door credential service run delivery media operations';

runMain(async () => {
	const command = new Command('npm run test:mutation --')
		.description('Changes the code in one place at a time and sees whether the tests notice')
		.option('--folder <names...>', 'only these', all.split(' '))
		.allowUnknownOption()
		.allowExcessArguments()
		.parse();
	const { folder } = command.opts<{ folder: string[] }>();
	const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
	for (const name of folder) {
		console.log(`\n${name}`);
		await runNode([stryker, 'run', ...command.args], { MUTATION_FOLDER: name });
	}
});
