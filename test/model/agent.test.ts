/** Random histories of an AI agent and its tool: see {@link playAgent}. `npm run test:model -- --seeds N` plays more of them. */
import fc from 'fast-check';
import { agentHistories, playAgent, type AgentHistory } from './agent';
import { type History, PLAIN_HISTORY, PLAIN_NODE, PLAIN_TASK } from './history';
import { loadProcesses, SEED, SEEDS } from './processes';

const NUM_RUNS = Math.ceil(SEEDS / 4);

const processes = loadProcesses(1);

/** Calls with one text, each so many s after the one before, whose node is tried twice. */
const callsOf = (
	creations: Array<Partial<History['creations'][number]>>,
	tasks: Array<Partial<History['tasks'][number]>>,
	after: number[],
): AgentHistory => ({
	history: {
		...PLAIN_HISTORY,
		node: { ...PLAIN_NODE, tries: 2 },
		creations: creations.map((each) => ({
			...{ kind: 'never answered', created: false, retryAfter: 'none' },
			...each,
		})),
		tasks: tasks.map((each) => ({ ...PLAIN_TASK, ...each })),
	},
	...{ by: 'the agent', sameIds: false },
	calls: after.map((each) => ({ text: 0, after: each })),
});

/** Each as short as it can be. The node was wrong in every one of them. */
const found: Record<string, AgentHistory> = {
	'a try takes up what its own call has made, not what an equal one left unclear': callsOf(
		[{}, { kind: 'creation/503-server-busy', retryAfter: '3600' }],
		[{ end: 'never' }],
		[-1, 0.1],
	),
	'nor the task that an equal one left behind': callsOf(
		[{ kind: 'creation/payment-required' }, {}],
		[{ seconds: 4_000 }, { end: 'never' }],
		[-1, 0.1, 1.5, -1],
	),
};

test.each(Object.entries(found))('%s', async (_name, agent) => {
	expect((await playAgent(agent, processes)).broken).toEqual([]);
});

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
