/**
 * `npm run test:model`: random histories of the core, of an agent and of the trigger, as many as wished (`-- --seeds N`), and others than `npm test` plays
 * (`-- --seed S`). What breaks a rule is made shorter and printed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { runMain } from './halt';
import { root } from './pack';

function count(text: string): number {
	if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
	return Number(text);
}

runMain(async () => {
	const { seeds, seed } = new Command()
		.name('npm run test:model --')
		.description(
			'Random histories of the core, of an agent and of the trigger, and the rules after each',
		)
		.option('--seeds <number>', 'how many histories', count, 20_000)
		.option('--seed <number>', 'which ones', count, Date.now() % 1_000_000)
		.parse()
		.opts<{ seeds: number; seed: number }>();
	console.log(`${seeds} histories of seed ${seed}`);
	const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
	const played = spawn(process.execPath, [jest, 'test/model/'], {
		cwd: root,
		stdio: 'inherit',
		env: { ...process.env, MODEL_SEEDS: String(seeds), MODEL_SEED: String(seed) },
	});
	const [code] = (await once(played, 'exit')) as [number | null];
	process.exitCode = code ?? 1;
});
