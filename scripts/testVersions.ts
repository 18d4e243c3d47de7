/**
 * `npm run test:versions`: the suites of test/n8n in every version of n8n that test/n8n/install names, one n8n after the other. How many
 * tests passed where is written at the end of docs/versions.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { runMain } from './halt';
import { versions, versionVariable } from './n8nInstall';
import { inTemporaryFolder, root } from './pack';
import { chooseSuites, runSuites, suitesIn } from './suites';
import { type Outcome, versionsTable } from './versionsTable';

const folder = join(root, 'test', 'n8n');
const page = join(root, 'docs', 'versions.md');
/** What makes sense in every version, and what needs suspending. The others test this repository's own helpers or take long. */
const everywhere = ['basics', 'refusals', 'trigger'];
const withSuspending = ['examples', 'suspend'];

/** Runs the suites in one version; what came of each test. */
async function run(version: string): Promise<Outcome[]> {
	process.env[versionVariable] = version;
	console.log(`\nn8n ${version}`);
	const { canSuspend } = await import('../test/n8n/harness/version');
	const names = canSuspend() ? [...everywhere, ...withSuspending] : everywhere;
	const suites = chooseSuites(suitesIn(folder, '.n8n.ts'), names);
	return await inTemporaryFolder(async (temporary) => {
		const lines = join(temporary, 'outcomes');
		await runSuites(suites, {
			nodeArgs: [
				'--test-reporter=spec',
				'--test-reporter-destination=stdout',
				`--test-reporter=${join(folder, 'harness', 'reporter.mjs')}`,
				`--test-reporter-destination=${lines}`,
			],
		});
		const text = readFileSync(lines, 'utf8').trim();
		return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Outcome);
	});
}

runMain(async () => {
	const { only } = new Command()
		.name('npm run test:versions --')
		.description('Tests the packed nodes in several versions of n8n, and writes docs/versions.md')
		.addOption(new Option('--only <version...>', 'the page stays as it is').choices(versions))
		.parse()
		.opts<{ only?: string[] }>();
	const outcomes = new Map<string, Outcome[]>();
	for (const version of only ?? versions) outcomes.set(version, await run(version));
	const table = versionsTable(outcomes);
	console.log(`\n${table}`);
	if (only !== undefined) return;
	const [text = ''] = readFileSync(page, 'utf8').split(/^\| Suite/m);
	writeFileSync(page, text + table);
});
