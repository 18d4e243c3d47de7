import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { queueFolder, runInQueueFolder } from './queueRunner';

const ending = '.queue.ts';

/** Runs test/queue/*.queue.ts, or the load, on n8n in queue mode. The package must be built. */
runMain(async () => {
	const { only, load } = new Command()
		.name('npm run test:queue --')
		.description("Tests the packed nodes in n8n's queue mode: main, webhook processor, two workers")
		.option('--only <name...>', 'run only these suites, e.g. "queue" for test/queue/queue.queue.ts')
		.option('--load', 'run the load instead: 2,000 tasks by 100 executions')
		.parse()
		.opts<{ only?: string[]; load?: boolean }>();
	if (load) return await runInQueueFolder('load.ts', []);
	const all = readdirSync(queueFolder).filter((name) => name.endsWith(ending));
	const chosen = all.filter((name) => !only || only.includes(basename(name, ending)));
	if (chosen.length === 0) throw new Halt(`There is no suite ${only?.join(', ')}.`);
	const files = chosen.sort().map((name) => join(queueFolder, name));
	await runInQueueFolder('runSuites.ts', files, ['--test-reporter=spec']);
});
