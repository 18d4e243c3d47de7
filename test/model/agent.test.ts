/** Random histories of an AI agent and its tool: see {@link playAgent}. `npm run test:model -- --seeds N` plays more of them. */
import fc from 'fast-check';
import { agentHistories, playAgent } from './agent';
import { loadProcesses, SEED, SEEDS } from './processes';

const NUM_RUNS = Math.ceil(SEEDS / 4);

const processes = loadProcesses(1);

test(
	'after any history of an agent the three rules hold',
	async () => {
		let spared = 0;
		await fc.assert(
			fc.asyncProperty(agentHistories, async (agent) => {
				const played = await playAgent(agent, processes);
				spared += played.spared;
				if (played.broken.length > 0)
					throw new Error([...played.broken, ...played.story].join('\n'));
			}),
			{ numRuns: NUM_RUNS, seed: SEED },
		);
		expect(spared).toBeGreaterThanOrEqual(NUM_RUNS);
	},
	Math.max(60_000, NUM_RUNS * 300),
);
