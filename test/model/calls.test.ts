/**
 * Random histories of the trigger: whatever calls come and whatever breaks, each task that ends starts its workflow, once, by the
 * service's own word.
 */
import fc from 'fast-check';
import { callHistories, playCalls, type CallHistory } from './calls';
import { loadProcesses, SEED, SEEDS } from './processes';

const NUM_RUNS = Math.ceil(SEEDS / 4);

const processes = loadProcesses();

/** Each as short as it can be. The trigger was wrong in every one of them. */
const found: Record<string, CallHistory> = {
	'a callback whose task the service shows late is not given up with a forged one that came before it':
		{
			seed: 0,
			tasks: [{ seconds: 5, end: 'done', lag: 8, copies: [0], lost: 0 }],
			...{ looks: [], stores: [], deaths: [] },
			forged: [{ at: 0, task: 0, status: 'done', signed: true }],
		},
	'a callback whose task the service shows late is not given up where another one brings a long pause':
		{
			seed: 0,
			tasks: [
				{ seconds: 5, end: 'done', lag: 0, copies: [0], lost: 0 },
				{ seconds: 0, end: 'done', lag: 0, copies: [0], lost: 0 },
				{ seconds: 5, end: 'done', lag: 0.2, copies: [0], lost: 0 },
			],
			looks: ['ok', 'wait'],
			...{ stores: [], forged: [], deaths: [] },
		},
};

test.each(Object.entries(found))('%s', async (_name, history) => {
	expect((await playCalls(history, processes)).broken).toEqual([]);
});

test(
	'whatever calls come, each task that ends runs once, and no other one does',
	async () => {
		let runs = 0;
		await fc.assert(
			fc.asyncProperty(callHistories, async (history) => {
				const played = await playCalls(history, processes);
				runs += played.runs;
				expect(played.broken).toEqual([]);
			}),
			{ numRuns: NUM_RUNS, seed: SEED },
		);
		expect(runs).toBeGreaterThanOrEqual(NUM_RUNS);
	},
	Math.max(60_000, NUM_RUNS * 300),
);
