/**
 * `npm run test:mutation`: changes the code in one place at a time and sees whether the tests notice. What they notice of each folder is
 * kept in test/mutation/results and shown in docs/mutation.md. Stryker's own reports in reports/mutation make the next run short: only
 * what was changed, and what lives and got a new test, runs again.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { folders, type Folder } from './mutation/folders';
import {
	incrementalFile,
	missingTests,
	optionsFor,
	reportFile,
	reportsFolder,
	testsOf,
	type Measuring,
} from './mutation/options';
import { mutationPage, reasonFor, staleReasons, type Reason } from './mutation/page';
import {
	resultOf,
	scoreOf,
	type FolderResult,
	type StrykerMutant,
	type StrykerReport,
} from './mutation/result';
import { root } from './pack';

const kept = join(root, 'test', 'mutation');
const page = join(root, 'docs', 'mutation.md');
/** What Stryker was asked to do for the last report. */
const optionsFile = (name: string) => join(reportsFolder, `${name}.options.json`);
const resultFile = (name: string) => join(kept, 'results', `${name}.json`);

const read = <T>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as T;
const write = (file: string, content: unknown) =>
	writeFileSync(file, `${JSON.stringify(content, null, '\t')}\n`);

function choose(names: readonly string[]): readonly Folder[] {
	const unknown = names.filter((name) => !folders.some((folder) => folder.name === name));
	if (unknown.length > 0) {
		const all = folders.map(({ name }) => name).join(', ');
		throw new Halt(`There is no folder ${unknown.join(', ')}. There are: ${all}.`);
	}
	return folders.filter(({ name }) => names.length === 0 || names.includes(name));
}

interface Options extends Measuring {
	force: boolean;
}

/**
 * What lives and is met while modules are loaded is tried again each time: no test is known to reach it, so that Stryker would not
 * see that there is a new one.
 */
function forgetStatic(file: string): void {
	if (!existsSync(file)) return;
	const report = read<StrykerReport>(file);
	const stays = (mutant: StrykerMutant) => mutant.static !== true || mutant.status === 'Killed';
	for (const entry of Object.values(report.files)) entry.mutants = entry.mutants.filter(stays);
	write(file, report);
}

async function measure(folder: Folder, { force, ...how }: Options): Promise<void> {
	const missing = missingTests(folder);
	if (missing.length > 0) throw new Halt(`${folder.name}: there is no ${missing.join(', ')}.`);
	mkdirSync(reportsFolder, { recursive: true });
	const options = optionsFile(folder.name);
	write(options, { ...optionsFor(folder, how), force });
	rmSync(reportFile(folder.name), { force: true });
	forgetStatic(incrementalFile(folder.name));
	const { execa } = await import('execa');
	const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
	const args = [stryker, 'run', options];
	await execa(process.execPath, args, { cwd: root, stdio: 'inherit', reject: false });
	if (!existsSync(reportFile(folder.name)))
		throw new Halt(`Stryker wrote no report of ${folder.name}; its messages are above.`);
}

/** Keeps what Stryker has reported of a folder; without a report, what was kept before stays. */
function keep(folder: Folder): void {
	if (!existsSync(reportFile(folder.name))) return;
	const report = read<StrykerReport>(reportFile(folder.name));
	const tests = testsOf(folder, true).filter((name) => `test/${name}.test.ts` in report.testFiles);
	write(resultFile(folder.name), { tests, ...resultOf(report) });
}

/** Writes the page from what is kept of all folders. */
function writePage(reasons: readonly Reason[]): ReadonlyMap<string, FolderResult> {
	const results = new Map(
		folders
			.filter(({ name }) => existsSync(resultFile(name)))
			.map(({ name }) => [name, read<FolderResult>(resultFile(name))]),
	);
	writeFileSync(page, mutationPage(folders, results, reasons));
	return results;
}

/** What is wrong with the result of a folder, in words. */
function complaints(folder: Folder, result: FolderResult, reasons: readonly Reason[]): string[] {
	const score = scoreOf(result);
	const unnamed = result.survivors.filter((survivor) => reasonFor(survivor, reasons) === undefined);
	console.log(`${folder.name}: ${score}% killed (${result.killed} of ${result.total})`);
	return [
		...(score >= folder.mark ? [] : [`${folder.name}: ${score}% is below ${folder.mark}%`]),
		...(unnamed.length === 0 ? [] : [`${folder.name}: ${unnamed.length} live without a reason`]),
	];
}

runMain(async () => {
	const options = new Command()
		.name('npm run test:mutation --')
		.description('Changes the code in one place at a time and sees whether the tests notice')
		.option('--folder <names...>', `only these: ${folders.map(({ name }) => name).join(', ')}`)
		.option('--concurrency <n>', 'how many mutants at once', '2')
		.option(
			'--no-engine',
			'unit tests only: what lives may still be killed by the tests in the engine',
		)
		.option('--force', 'forget what earlier runs have found')
		.option(
			'--page',
			'measure nothing: write docs/mutation.md again from the last reports and the reasons',
		)
		.parse()
		.opts<{
			folder?: string[];
			concurrency: string;
			engine: boolean;
			force?: boolean;
			page?: boolean;
		}>();
	const chosen = choose(options.folder ?? []);
	const reasons = read<Reason[]>(join(kept, 'reasons.json'));
	mkdirSync(join(kept, 'results'), { recursive: true });
	for (const folder of chosen) {
		if (options.page !== true) {
			await measure(folder, {
				concurrency: Number(options.concurrency),
				engine: options.engine,
				force: options.force === true,
			});
		}
		keep(folder);
		writePage(reasons);
	}
	const results = writePage(reasons);
	const wrong = chosen.flatMap((folder) => {
		const result = results.get(folder.name);
		return result === undefined
			? [`${folder.name}: not measured`]
			: complaints(folder, result, reasons);
	});
	for (const { file, code, reason } of staleReasons(reasons, results))
		console.log(`No longer needed in reasons.json: ${file}: ${code} (${reason})`);
	if (wrong.length > 0) throw new Halt(wrong.join('\n'));
});
