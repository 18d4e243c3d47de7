import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { root } from './pack';
import { queueFolder, runInQueueFolder } from './queueRunner';

const ending = '.queue.ts';
/** Suites of test/n8n that run on a cluster, too, in the place of their one n8n. */
const shared = ['basics', 'suspend', 'trigger', 'triggerAttacks'];
const sharedFolder = join(root, 'test', 'n8n');
const reporter = ['--test-reporter=spec'];

/** Runs test/queue/*.queue.ts and the shared suites, or the load, on n8n in queue mode. The package must be built. */
runMain(async () => {
	const { only, load } = new Command()
		.name('npm run test:queue --')
		.description("Tests the packed nodes in n8n's queue mode: main, webhook processor, two workers")
		.option('--only <name...>', 'run only these suites, e.g. "queue" for test/queue/queue.queue.ts')
		.option('--load', 'run the load instead: 2,000 tasks by 100 executions')
		.parse()
		.opts<{ only?: string[]; load?: boolean }>();
	if (load) return await runInQueueFolder('load.ts', []);
	const own = readdirSync(queueFolder)
		.filter((name) => name.endsWith(ending))
		.map((name) => basename(name, ending))
		.sort();
	const wanted = (name: string) => only === undefined || only.includes(name);
	const ownFiles = own.filter(wanted).map((name) => join(queueFolder, `${name}${ending}`));
	const sharedFiles = shared.filter(wanted).map((name) => join(sharedFolder, `${name}.n8n.ts`));
	if (ownFiles.length + sharedFiles.length === 0)
		throw new Halt(
			`There is no suite ${only?.join(', ')}. There are: ${[...own, ...shared].join(', ')}.`,
		);
	if (ownFiles.length > 0) await runInQueueFolder('runSuites.ts', ownFiles, reporter);
	if (sharedFiles.length > 0) {
		await runInQueueFolder(join('..', 'n8n', 'harness', 'runSuites.ts'), sharedFiles, reporter, {
			MEDIA_GENERATION_N8N: 'queue',
		});
	}
});
