/** Two accounts in one process: see {@link playBeside}. */
import { neighbours, playBeside } from './neighbours';
import { loadProcesses, playMany, SEEDS } from './processes';

const NUM_RUNS = Math.ceil(SEEDS / 10);

const processes = loadProcesses(1);

test(
	'after any history of an account beside another one, it went as it goes alone',
	async () =>
		await playMany(neighbours, NUM_RUNS, async (played) => await playBeside(played, processes)),
	Math.max(300_000, NUM_RUNS * 600),
);
