/** `npm run test:n8n`, `test:queue`, `test:browser`, `test:chaos` and `test:workflows`: the packed nodes in a real n8n; `test:model` and `test:mutation`. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { runJest, runNode } from './child';
import { runMain } from './halt';
import { defaultVersion, versions, versionVariable } from './n8nInstall';
import { root } from './pack';
import { ensureChromium, ensureQueuePrograms } from './programs';
import { chooseSuites, runFile, runSuites, suitesIn } from './suites';

const of = (kind: 'n8n' | 'queue' | 'browser') => suitesIn(join(root, 'test', kind), `.${kind}.ts`);
/** Suites of test/n8n that run on a cluster, too, in the place of their one n8n. */
const inQueueMode = 'basics suspend durable neighbours trigger'.split(' ');
const only = ['--only <name...>', 'run only these suites, named as their files are'] as const;

interface QueueOptions {
	only?: string[];
	sleepers: string;
	workers: string;
	manualOnMain?: boolean;
}

const program = new Command('npm run');

program
	.command('test:n8n')
	.description('Tests the packed nodes in a real n8n')
	.option(...only)
	.addOption(
		new Option('--n8n <version>', 'in this version').choices(versions).default(defaultVersion),
	)
	.action(async (asked: { only?: string[]; n8n: string }) => {
		process.env[versionVariable] = asked.n8n;
		await runSuites(chooseSuites(of('n8n'), asked.only));
	});

program
	.command('test:queue')
	.description("Tests the packed nodes in n8n's queue mode: main, webhook processors, workers")
	.option(...only)
	.option('--sleepers <number>', 'how many executions sleep in the suite storms', '100')
	.option('--workers <number>', 'how many workers there are', '2')
	.option('--manual-on-main', 'run what is started by hand on the main, as n8n does by default')
	.action(async (asked: QueueOptions) => {
		// Storms take long, and run at night.
		const all = new Map([...of('queue'), ...chooseSuites(of('n8n'), inQueueMode)]);
		const usual = [...all.keys()].filter((name) => name !== 'storms');
		const suites = chooseSuites(all, asked.only ?? usual);
		await ensureQueuePrograms();
		await runSuites(suites, {
			env: {
				MEDIA_GENERATION_N8N: 'queue',
				MEDIA_GENERATION_SLEEPERS: asked.sleepers,
				MEDIA_GENERATION_WORKERS: asked.workers,
				MEDIA_GENERATION_MANUAL: asked.manualOnMain === true ? 'main' : '',
			},
		});
	});

program
	.command('test:browser')
	.description("Drives n8n's editor with the packed nodes in headless Chromium")
	.option(...only)
	.option('--pictures', 'renew docs/images and examples/images')
	.action(async (asked: { only?: string[]; pictures?: boolean }) => {
		const suites = chooseSuites(of('browser'), asked.only);
		const MEDIA_GENERATION_PICTURES = asked.pictures === true ? '1' : '';
		await runSuites(suites, {
			env: { CHROMIUM: await ensureChromium(), MEDIA_GENERATION_PICTURES },
		});
	});

const random = {
	'test:chaos': [
		'chaos.ts',
		'Random workflows in queue mode while processes of n8n are killed',
		'50',
	],
	'test:workflows': ['main.ts', 'Random workflows in a real n8n, and what became of all', '40'],
} as const;
for (const [name, [file, description, seeds]] of Object.entries(random))
	program
		.command(name)
		.description(description)
		.option('--seeds <number>', 'how many workflows', seeds)
		.option('--seed <number>', 'the first one', '1')
		.action(async (asked: { seeds: string; seed: string }) => {
			if (name === 'test:chaos') await ensureQueuePrograms();
			await runFile(join(root, 'test', 'workflows', file), [asked.seeds, asked.seed]);
		});

program
	.command('test:model')
	.description('Random histories of the core, an agent and the trigger, and the rules after each')
	.option('--seeds <number>', 'how many histories', '20000')
	.option('--seed <number>', 'which ones', String(Date.now() % 1_000_000))
	.action(async ({ seeds, seed }: { seeds: string; seed: string }) => {
		console.log(`${seeds} histories of seed ${seed}`);
		await runJest(['test/model/'], { MODEL_SEEDS: seeds, MODEL_SEED: seed });
	});

const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
const folders = readdirSync(join(root, 'nodes', 'MediaGeneration'), { withFileTypes: true })
	.filter((entry) => entry.isDirectory())
	.map(({ name }) => name);

program
	.command('test:mutation')
	.description(
		'Changes the code in one place at a time and sees whether the tests notice (stryker.config.mjs)',
	)
	.option('--folder <names...>', 'only these', [...folders, 'credentials'])
	.option('--sample <number>', 'at most so many changes of each, drawn by chance')
	// Any other option goes to StrykerJS, e.g. `--force`.
	.allowUnknownOption()
	.allowExcessArguments()
	.action(async (asked: { folder: string[]; sample?: string }, { args }: Command) => {
		const env: Record<string, string> = asked.sample ? { MUTATION_SAMPLE: asked.sample } : {};
		for (const name of asked.folder) {
			console.log(`\n${name}`);
			await runNode([stryker, 'run', ...args], { ...env, MUTATION_FOLDER: name });
		}
	});

runMain(async () => void (await program.parseAsync()));
