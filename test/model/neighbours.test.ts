/** Two accounts in one process: see {@link playBeside}. */
import fc from 'fast-check';
import { neighbours, playBeside } from './neighbours';
import { loadProcesses, SEED, SEEDS } from './processes';

const NUM_RUNS = Math.ceil(SEEDS / 10);

const processes = loadProcesses(1);

test(
	'after any history of an account beside another one, it went as it goes alone',
	async () => {
		await fc.assert(
			fc.asyncProperty(neighbours, async (played) => {
				const { broken, story } = await playBeside(played, processes);
				if (broken.length > 0) throw new Error([...broken, ...story].join('\n'));
			}),
			{ numRuns: NUM_RUNS, seed: SEED },
		);
	},
	Math.max(300_000, NUM_RUNS * 600),
);
