import { join } from 'node:path';
import { Command } from 'commander';
import { runMain } from './halt';
import { root } from './pack';
import { queueFolder, runInQueueFolder } from './queueRunner';
import { chooseSuites, specReporter, suitesIn } from './suites';

/** Suites of test/n8n that run on a cluster, too, in the place of their one n8n. */
const shared = ['basics', 'suspend', 'asleepSettings', 'durable', 'trigger', 'triggerAttacks'];

/** Runs test/queue/*.queue.ts and the shared suites, or the load, on n8n in queue mode. */
runMain(async () => {
	const { only, load } = new Command()
		.name('npm run test:queue --')
		.description("Tests the packed nodes in n8n's queue mode: main, webhook processor, two workers")
		.option('--only <name...>', 'run only these suites, e.g. "queue" for test/queue/queue.queue.ts')
		.option('--load', 'run the load instead: 2,000 tasks by 100 executions')
		.parse()
		.opts<{ only?: string[]; load?: boolean }>();
	if (load) return await runInQueueFolder('load.ts', []);
	const own = suitesIn(queueFolder, '.queue.ts');
	const ofOneN8n = chooseSuites(suitesIn(join(root, 'test', 'n8n'), '.n8n.ts'), shared);
	const files = [...chooseSuites(new Map([...own, ...ofOneN8n]), only).values()];
	const isOwn = (file: string) => [...own.values()].includes(file);
	const [ownFiles, sharedFiles] = [files.filter(isOwn), files.filter((file) => !isOwn(file))];
	const options = { nodeArgs: specReporter };
	if (ownFiles.length > 0) await runInQueueFolder('runSuites.ts', ownFiles, options);
	if (sharedFiles.length > 0) {
		const runner = join('..', 'n8n', 'harness', 'runSuites.ts');
		const env = { MEDIA_GENERATION_N8N: 'queue' };
		await runInQueueFolder(runner, sharedFiles, { ...options, env });
	}
});
