import { Command } from 'commander';
import { runMain } from './halt';
import { runInQueueFolder } from './queueRunner';

/** Runs the chaos on n8n in queue mode and prints the ledgers. */
runMain(async () => {
	const { seed } = new Command()
		.name('npm run test:chaos --')
		.description('200 tasks through n8n in queue mode while everything breaks')
		.option('--seed <number>', 'replays the plan of another run', '1')
		.parse()
		.opts<{ seed: string }>();
	await runInQueueFolder('chaos.ts', [seed]);
});
