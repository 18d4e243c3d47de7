/** `npm run test:n8n`, `test:queue`, `test:browser` and `test:chaos`: the packed nodes in a real n8n. */
import { join } from 'node:path';
import { Command, type OptionValues } from 'commander';
import { Halt, runMain } from './halt';
import { root } from './pack';
import { ensureChromium, ensureQueuePrograms } from './programs';
import { chooseSuites, runFile, runSuites, suitesIn } from './suites';

const of = (kind: 'n8n' | 'queue' | 'browser') => suitesIn(join(root, 'test', kind), `.${kind}.ts`);
/** Suites of test/n8n that run on a cluster, too, in the place of their one n8n. */
const alsoInQueueMode = [
	'basics',
	'suspend',
	'asleepSettings',
	'durable',
	'trigger',
	'triggerAttacks',
];

const command = (kind: string, description: string) =>
	new Command().name(`npm run test:${kind} --`).description(description);
const parsed = <T extends OptionValues>(asked: Command) =>
	asked.parse(process.argv.slice(3), { from: 'user' }).opts<T>();
const only = ['--only <name...>', 'run only these suites, named as their files are'] as const;

const kinds: Record<string, () => Promise<void>> = {
	async n8n() {
		const asked = command('n8n', 'Tests the packed nodes in a real n8n').option(...only);
		await runSuites(chooseSuites(of('n8n'), parsed<{ only?: string[] }>(asked).only));
	},

	async queue() {
		const asked = command(
			'queue',
			"Tests the packed nodes in n8n's queue mode: main, webhook processors, workers",
		)
			.option(...only)
			.option('--load', 'run the load instead: 2,000 tasks by 100 executions');
		const { load, only: names } = parsed<{ only?: string[]; load?: boolean }>(asked);
		await ensureQueuePrograms();
		if (load === true) return await runFile(join(root, 'test', 'queue', 'load.ts'), []);
		const shared = chooseSuites(of('n8n'), alsoInQueueMode);
		await runSuites(chooseSuites(new Map([...of('queue'), ...shared]), names), {
			env: { MEDIA_GENERATION_N8N: 'queue' },
		});
	},

	async browser() {
		const asked = command(
			'browser',
			"Drives n8n's editor with the packed nodes in headless Chromium",
		)
			.option(...only)
			.option('--pictures', 'renew docs/images and examples/images');
		const { pictures, only: names } = parsed<{ only?: string[]; pictures?: boolean }>(asked);
		const suites = chooseSuites(of('browser'), names);
		await runSuites(suites, {
			env: {
				CHROMIUM: await ensureChromium(),
				...(pictures === true ? { MEDIA_GENERATION_PICTURES: '1' } : {}),
			},
		});
	},

	async chaos() {
		const asked = command(
			'chaos',
			'200 tasks through n8n in queue mode while everything breaks, and the ledgers after it',
		).option('--seed <number>', 'replays the plan of another run', '1');
		const { seed } = parsed<{ seed: string }>(asked);
		await ensureQueuePrograms();
		await runFile(join(root, 'test', 'queue', 'chaos.ts'), [seed]);
	},
};

runMain(async () => {
	const kind = process.argv[2] ?? '';
	const run = kinds[kind];
	if (run === undefined) throw new Halt(`There are: ${Object.keys(kinds).join(', ')}.`);
	await run();
});
