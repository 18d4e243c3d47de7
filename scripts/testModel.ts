/**
 * `npm run test:model`: random histories of the core, of an agent and of the trigger, as many as wished (`-- --seeds N`), and others than `npm test` plays
 * (`-- --seed S`). What breaks a rule is made shorter and printed.
 */
import { Command } from 'commander';
import { runJest } from './child';
import { runMain } from './halt';

runMain(async () => {
	const { seeds, seed } = new Command('npm run test:model --')
		.description('Random histories of the core, an agent and the trigger, and the rules after each')
		.option('--seeds <number>', 'how many histories', '20000')
		.option('--seed <number>', 'which ones', String(Date.now() % 1_000_000))
		.parse()
		.opts<{ seeds: string; seed: string }>();
	console.log(`${seeds} histories of seed ${seed}`);
	await runJest(['test/model/'], { MODEL_SEEDS: seeds, MODEL_SEED: seed });
});
