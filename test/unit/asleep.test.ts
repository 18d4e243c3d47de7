/** Looks at tasks whose callbacks are expected: rare, but a callback that got lost is noticed in time. */
import { firstLookAsleep } from '../../nodes/MediaGeneration/task/schedule';
import { busy, done, running, setUp, type Script } from './pollSetting';

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;
const DAY = 24 * H;
const asleep = { pace: 'asleep' } as const;

const endsAt =
	(durationMs: number): Script =>
	(_, ageMs) =>
		ageMs < durationMs ? running() : done();

describe('the pace while a callback is expected', () => {
	test('a task of an hour is looked at 15 times at most before its callback', async () => {
		const { clock, looks, wait } = setUp(endsAt(H));
		await clock.run(wait('t', DAY, asleep));
		expect(looks.filter(({ ageMs }) => ageMs <= H).length).toBeLessThanOrEqual(15);
		expect(looks.length).toBeLessThanOrEqual(16);
	});

	test.each([1, 20, 28, 60, 600, 3_600, 10_800].map((s) => s * S))(
		'a lost callback of a task of %d ms is noticed within 30 s or 35% of its time',
		async (durationMs) => {
			const { clock, start, wait } = setUp(endsAt(durationMs));
			expect((await clock.run(wait('t', DAY, asleep))).kind).toBe('done');
			const lateMs = clock.now() - start - durationMs;
			expect(lateMs).toBeLessThanOrEqual(Math.max(30 * S, 0.35 * durationMs));
		},
	);
});

describe('somebody says that the task is over', () => {
	/** The callback comes after 5 min, and the service's own word lags behind it. */
	const called = (lagMs: number, script?: Script) => {
		const all = setUp(script ?? endsAt(5 * MIN + lagMs));
		const watch = all.watchOf('t', DAY, asleep);
		all.clock.at(all.start + 5 * MIN, () => all.loop.hurry(watch));
		return { ...all, run: async () => await all.clock.run(all.loop.wait(watch)) };
	};
	const after = (looks: Array<{ ageMs: number }>) =>
		looks.map(({ ageMs }) => ageMs - 5 * MIN).filter((ageMs) => ageMs >= 0);

	test('it is looked at in that moment', async () => {
		const { looks, run } = called(0);
		expect((await run()).kind).toBe('done');
		expect(after(looks)).toEqual([0]);
	});

	test.each([300, 2_000, 9_000, 25_000])(
		'what the service confirms %d ms later is seen in at most as long again, with few looks',
		async (lagMs) => {
			const { clock, start, looks, run } = called(lagMs);
			expect((await run()).kind).toBe('done');
			const lateMs = clock.now() - start - 5 * MIN - lagMs;
			expect(lateMs).toBeLessThanOrEqual(Math.max(500, lagMs));
			expect(after(looks).length).toBeLessThanOrEqual(8);
		},
	);

	test('who was wrong changes nothing for long', async () => {
		const { looks, run } = called(H);
		expect((await run()).kind).toBe('done');
		expect(after(looks).filter((ms) => ms < 2 * MIN).length).toBeLessThanOrEqual(10);
		expect(looks.length).toBeLessThanOrEqual(25);
	});

	test('a busy service in that moment is asked again soon', async () => {
		const { clock, start, run } = called(0, (_, ageMs) =>
			ageMs < 5 * MIN ? running() : ageMs < 5 * MIN + 3 * S ? busy() : done(),
		);
		expect((await run()).kind).toBe('done');
		expect(clock.now() - start - 5 * MIN).toBeLessThan(10 * S);
	});

	test('in the middle of a look: another one follows soon', async () => {
		const { clock, start, loop, watchOf } = setUp(async (_, ageMs) => {
			// What the service answers is as old as the question.
			await clock.sleep(2 * S);
			return ageMs < 13 * S ? running() : done();
		});
		const watch = watchOf('t', DAY, asleep);
		const lookedAt = start + firstLookAsleep(0, false);
		clock.at(lookedAt + S, () => loop.hurry(watch));
		await clock.run(loop.wait(watch));
		expect(clock.now() - lookedAt).toBeLessThan(8 * S);
	});
});
