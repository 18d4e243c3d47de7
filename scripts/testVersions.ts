/**
 * `npm run test:versions`: the suites of test/n8n in every version of n8n that test/n8n/install names, one n8n after the other. What
 * works where is written to docs/versions.md, and a summary of it to the README.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { ensureBuilt } from './built';
import { Halt, runMain } from './halt';
import { ensureN8n, versions, versionVariable } from './n8nInstall';
import { root } from './pack';
import { chooseSuites, runFile, suitesIn } from './suites';
import { type Outcome, versionsPage, versionsSummary, withSummary } from './versionsPage';

const folder = join(root, 'test', 'n8n');
const page = join(root, 'docs', 'versions.md');
const readme = join(root, 'README.md');
/** What makes sense in every version, and what needs suspending. The others test this repository's own helpers or take long. */
const everywhere = ['basics', 'delivery', 'refusals', 'saved', 'trigger'];
const withSuspending = ['examples', 'suspend'];

/** Runs the suites in one version; what came of each test. */
async function run(version: string): Promise<Outcome[]> {
	process.env[versionVariable] = version;
	console.log(`\nn8n ${version}`);
	await ensureN8n();
	const { canSuspend } = await import('../test/n8n/harness/version');
	const names = canSuspend() ? [...everywhere, ...withSuspending] : everywhere;
	const files = [...chooseSuites(suitesIn(folder, '.n8n.ts'), names).values()];
	const temporary = mkdtempSync(join(tmpdir(), 'media-generation-versions-'));
	const lines = join(temporary, 'outcomes');
	try {
		const reporter = join(folder, 'harness', 'reporter.mjs');
		await runFile(join(folder, 'harness', 'runSuites.ts'), files, {
			nodeArgs: [
				'--test-reporter=spec',
				'--test-reporter-destination=stdout',
				`--test-reporter=${reporter}`,
				`--test-reporter-destination=${lines}`,
			],
			env: { [versionVariable]: version },
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
		.option(
			'--only <version...>',
			`some of ${versions.join(', ')}; docs/versions.md stays as it is`,
		)
		.parse()
		.opts<{ only?: string[] }>();
	const unknown = (only ?? []).filter((version) => !versions.includes(version));
	if (unknown.length > 0)
		throw new Halt(`There is no ${unknown.join(', ')}. There are: ${versions.join(', ')}.`);
	await ensureBuilt();
	const outcomes = new Map<string, Outcome[]>();
	for (const version of only ?? versions) outcomes.set(version, await run(version));
	const text = versionsPage(outcomes);
	const summary = versionsSummary(outcomes);
	if (only === undefined) {
		writeFileSync(page, text);
		writeFileSync(readme, withSummary(readFileSync(readme, 'utf8'), summary));
	}
	console.log(`\n${text}\n${summary}`);
});
