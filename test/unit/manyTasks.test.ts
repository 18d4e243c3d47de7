/** More tasks than a call takes arguments. */
import { PollLoop } from '../../nodes/MediaGeneration/wait/poll';
import { seededRandom, VirtualClock } from '../support/virtualClock';

test('130,000 tasks in one loop: the loop goes on, and Stop ends them all', async () => {
	const clock = new VirtualClock();
	const start = clock.now();
	const stop = new AbortController();
	let looks = 0;
	const loop = new PollLoop({
		look: async () => {
			looks += 1;
			return await Promise.resolve({ kind: 'busy' as const, detail: 'busy' });
		},
		now: clock.now,
		sleep: clock.sleep,
		random: seededRandom(1),
		signal: stop.signal,
		pausedUntil: () => 0,
	});
	const waits = Array.from(
		{ length: 130_000 },
		async (_, index) =>
			await loop.wait({
				taskId: `task-${index}`,
				kind: 'speech',
				createdAt: start,
				deadline: start + 600_000,
				// One look shows that the loop goes on; its first looks at the others come later.
				pace: index === 0 ? 'atOnce' : 'poll',
				route: 'auto',
				echoes: [],
			}),
	);
	await clock.advance(100);
	expect(looks).toBe(1);
	stop.abort();
	const outcomes = (await Promise.all(waits)).map((waited) =>
		waited.kind === 'failed' ? waited.failure.outcome : waited.kind,
	);
	expect(new Set(outcomes)).toEqual(new Set(['cancelled']));
});
