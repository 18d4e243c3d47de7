/**
 * `npm run test:versions`: the suites of test/n8n in every version of n8n that test/n8n/install names, one n8n after the other. How many
 * tests passed where is written at the end of docs/versions.md.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { versions, versionVariable } from './n8nInstall';
import { root } from './pack';
import { chooseSuites, runSuites, suitesIn } from './suites';
import { type Outcome, versionsTable } from './versionsTable';

const folder = join(root, 'test', 'n8n');
const page = join(root, 'docs', 'versions.md');
/** What makes sense in every version, and what needs suspending. The others test this repository's own helpers or take long. */
const everywhere = ['basics', 'delivery', 'refusals', 'saved', 'trigger'];
const withSuspending = ['examples', 'suspend'];

/** Runs the suites in one version; what came of each test. */
async function run(version: string): Promise<Outcome[]> {
	process.env[versionVariable] = version;
	console.log(`\nn8n ${version}`);
	const { canSuspend } = await import('../test/n8n/harness/version');
	const names = canSuspend() ? [...everywhere, ...withSuspending] : everywhere;
	const temporary = mkdtempSync(join(tmpdir(), 'media-generation-versions-'));
	const lines = join(temporary, 'outcomes');
	try {
		await runSuites(chooseSuites(suitesIn(folder, '.n8n.ts'), names), {
			nodeArgs: [
				'--test-reporter=spec',
				'--test-reporter-destination=stdout',
				`--test-reporter=${join(folder, 'harness', 'reporter.mjs')}`,
				`--test-reporter-destination=${lines}`,
			],
		});
		const text = readFileSync(lines, 'utf8').trim();
		return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Outcome);
	} finally {
		rmSync(temporary, { recursive: true, force: true });
	}
}

runMain(async () => {
	const { only } = new Command()
		.name('npm run test:versions --')
		.description('Tests the packed nodes in several versions of n8n, and writes docs/versions.md')
		.option('--only <version...>', `some of ${versions.join(', ')}; the page stays as it is`)
		.parse()
		.opts<{ only?: string[] }>();
	const unknown = (only ?? []).filter((version) => !versions.includes(version));
	if (unknown.length > 0)
		throw new Halt(`There is no ${unknown.join(', ')}. There are: ${versions.join(', ')}.`);
	const outcomes = new Map<string, Outcome[]>();
	for (const version of only ?? versions) outcomes.set(version, await run(version));
	const table = versionsTable(outcomes);
	console.log(`\n${table}`);
	if (only !== undefined) return;
	const [text = ''] = readFileSync(page, 'utf8').split(/^\| Suite/m);
	writeFileSync(page, text + table);
});
