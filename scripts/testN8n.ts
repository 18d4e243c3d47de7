import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';

const folder = join(root, 'test', 'n8n');
const ending = '.n8n.ts';

function chosenSuites(only: string[]): string[] {
	const all = readdirSync(folder).filter((name) => name.endsWith(ending));
	const chosen = all.filter((name) => only.length === 0 || only.includes(basename(name, ending)));
	if (chosen.length === 0) {
		const names = all.map((name) => basename(name, ending)).join(', ');
		throw new Halt(`There is no suite ${only.join(', ')}. There are: ${names}.`);
	}
	return chosen.sort().map((name) => join(folder, name));
}

/**
 * Runs test/n8n/*.n8n.ts by Node.js's own test runner: all of them in one child process, so that they can share one n8n and call the
 * stand-in directly. The package must be built.
 */
runMain(async () => {
	const options = new Command()
		.name('npm run test:n8n --')
		.description('Tests the packed nodes in a real n8n')
		.option('--only <name...>', 'run only these suites, e.g. "basics" for test/n8n/basics.n8n.ts')
		.parse()
		.opts<{ only?: string[] }>();
	const suites = chosenSuites(options.only ?? []);
	await ensureN8n();

	const { execa } = await import('execa');
	const runner = join(folder, 'harness', 'runSuites.ts');
	const child = execa(
		process.execPath,
		[
			'--import',
			pathToFileURL(require.resolve('tsx')).href,
			'--test-reporter=spec',
			runner,
			...suites,
		],
		{ cwd: root, stdio: 'inherit', reject: false },
	);
	// Ctrl-C reaches the child by itself; the others are passed on, and the child cleans up before it ends.
	for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
	process.on('SIGINT', () => {});
	const { exitCode } = await child;
	process.exitCode = exitCode ?? 1;
});
