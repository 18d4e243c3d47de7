/** Random histories of an AI agent and its tool: see {@link playAgent}. `npm run test:model -- --seeds N` plays more of them. */
import { agentHistories, playAgent } from './agent';
import { loadProcesses, playMany, SEEDS } from './processes';

const NUM_RUNS = Math.ceil(SEEDS / 4);

const processes = loadProcesses(1);

test(
	'after any history of an agent the three rules hold',
	async () => {
		let spared = 0;
		await playMany(agentHistories, NUM_RUNS, async (agent) => {
			const played = await playAgent(agent, processes);
			spared += played.spared;
			return played;
		});
		expect(spared).toBeGreaterThanOrEqual(NUM_RUNS);
	},
	Math.max(60_000, NUM_RUNS * 300),
);
