import { join } from 'node:path';
import { Command } from 'commander';
import { runMain } from './halt';
import { ensureBuilt } from './built';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';
import { chooseSuites, runFile, specReporter, suitesIn } from './suites';

const folder = join(root, 'test', 'n8n');

/**
 * Runs test/n8n/*.n8n.ts by Node.js's own test runner: all of them in one child process, so that they can share one n8n and call the
 * stand-in directly.
 */
runMain(async () => {
	const { only } = new Command()
		.name('npm run test:n8n --')
		.description('Tests the packed nodes in a real n8n')
		.option('--only <name...>', 'run only these suites, e.g. "basics" for test/n8n/basics.n8n.ts')
		.parse()
		.opts<{ only?: string[] }>();
	const suites = chooseSuites(suitesIn(folder, '.n8n.ts'), only);
	await ensureBuilt();
	await ensureN8n();
	await runFile(join(folder, 'harness', 'runSuites.ts'), [...suites.values()], {
		nodeArgs: specReporter,
	});
});
