/**
 * Random histories of the core: after each, nothing was paid for twice, no task was lost, and the key went nowhere else. `npm run test:model -- --seeds N` plays more of them;
 * `-- --seed S` plays those of one run again.
 */
import {
	histories,
	PLAIN_HISTORY,
	PLAIN_ITEM,
	PLAIN_NODE,
	PLAIN_TASK,
	type EventScript,
} from './history';
import { NO_LIST } from './list';
import { play } from './play';
import { loadProcesses, playMany, SEEDS } from './processes';

const processes = loadProcesses();

test.each<[string, RegExp, EventScript[]]>([
	['takes the task from the list, whatever is left to spend', /ends: success/, []],
	[
		'only names it where somebody has set the clock: nobody knows when the killed execution began',
		/ends: error: .* may have created this task; the service lists a task that could be it/,
		[{ at: 0, kind: 'clock set forward' }],
	],
])('killed while it waits: the Retry of what n8n has saved %s', async (_, end, events) => {
	const { broken, story } = await play(
		{
			...PLAIN_HISTORY,
			node: { ...PLAIN_NODE, savesProgress: true, minimumCredits: 50 },
			list: { ...NO_LIST, kind: 'data' },
			tasks: [{ ...PLAIN_TASK, seconds: 40, cost: 60 }],
			events: [...events, { at: 11, kind: 'death' }],
			retries: [{ changed: false }],
		},
		processes,
	);
	expect(broken).toEqual([]);
	expect(story.at(-1)).toMatch(end);
});

test('killed, and a refused item before: its Retry does not take the task of the next one, whose voice the list leaves out', async () => {
	const { broken, story } = await play(
		{
			...PLAIN_HISTORY,
			node: {
				...PLAIN_NODE,
				...{ operation: 'voiceName', alike: true, maxActive: 1, savesProgress: true },
				onError: 'continueRegularOutput',
			},
			items: [PLAIN_ITEM, PLAIN_ITEM],
			list: { ...NO_LIST, kind: 'data', repeats: 'text' },
			creations: [{ kind: 'creation/text-too-long', created: false, retryAfter: 'none' }],
			tasks: [{ ...PLAIN_TASK, seconds: 40 }],
			events: [{ at: 11, kind: 'death' }],
			retries: [{ changed: false }],
		},
		processes,
	);
	expect(broken).toEqual([]);
	expect(story.at(-1)).toMatch(/execution 2 ends: success/);
});

test(
	'after any history the three rules hold',
	async () => {
		let woken = 0;
		await playMany(histories, SEEDS, async (history) => {
			const played = await play(history, processes);
			woken += Number(played.woken);
			return played;
		});
		// About one in twenty: with none, the model would play past what it is to test.
		expect(woken).toBeGreaterThanOrEqual(Math.floor(SEEDS / 50));
	},
	Math.max(60_000, SEEDS * 300),
);
