import {
	busyDelay,
	intervalForAge,
	nextLook,
	predict,
	type Known,
	type ProgressSample,
} from '../../nodes/MediaGeneration/task/schedule';

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;
const UNKNOWN: Known = { ageMs: 0, samples: [], siblingAgesMs: [], endWanted: false, byAgeMs: 0 };

describe('pause by age', () => {
	test.each([
		[0, 1_500],
		[30 * S, 3_090],
		[MIN, 6_180],
		[H, 58_900],
	])('at an age of %d ms it is %d ms', (age, expected) => {
		expect(intervalForAge(age, 0.5)).toBeCloseTo(expected, 5);
	});

	test('it is a little shorter or longer each time', () => {
		expect(intervalForAge(MIN, 0)).toBeCloseTo(5_809.2, 5);
		expect(intervalForAge(MIN, 1)).toBeCloseTo(6_550.8, 5);
	});
});

describe('prediction from progress', () => {
	const at = (...pairs: Array<[number, number]>): ProgressSample[] =>
		pairs.map(([ageMs, progress]) => ({ ageMs, progress }));
	test.each<[string, ProgressSample[]]>([
		['nothing', []],
		['progress 0 only', at([1_000, 0], [2_000, 0])],
		['going back', at([1_000, 20], [2_000, 10])],
		['going back a little, a moment later', at([10 * S, 20], [10_001, 19])],
		['100 without being done', at([1_000, 100])],
		['standing still for too long', at([1_000, 50], [9_000, 50])],
		['jumping ahead', at([1_000, 10], [1_100, 80])],
	])('none from %s', (_name, samples) => {
		expect(predict(samples)).toBeUndefined();
	});

	test('the true duration lies in the range, whether the service cuts off or rounds', () => {
		for (const round of [Math.floor, Math.round]) {
			const samples = [1_000, 2_500, 4_000, 7_000].map((ageMs) => ({
				ageMs,
				progress: round(ageMs / 100),
			}));
			const prediction = predict(samples);
			expect(prediction?.fromMs).toBeLessThanOrEqual(10_000);
			expect(prediction?.toMs).toBeGreaterThanOrEqual(10_000);
			expect(prediction?.confirmed).toBe(3);
		}
	});

	test.each<[string, ProgressSample[], fromMs: number, toMs: number, confirmed: number]>([
		['one sample confirms nothing', at([1_000, 10]), 9_090.9, 10_526.3, 0],
		['nor does one after 0', at([S, 0], [20 * S, 10]), 181_818.2, 210_526.3, 0],
		['a second one in its range confirms it', at([1_000, 2], [2_000, 4]), 40_000, 57_142.9, 1],
		['not where it has not moved', at([1_000, 2], [1_100, 2]), 36_666.7, 66_666.7, 0],
		['not where almost any would fit', at([1_000, 1], [2_000, 2]), 66_666.7, 133_333.3, 0],
		['each sample narrows it', at([50_000, 49], [60_000, 60]), 100_000, 100_840.3, 1],
	])('%s', (_name, samples, fromMs, toMs, confirmed) => {
		expect(predict(samples)).toEqual({
			fromMs: expect.closeTo(fromMs, 1) as number,
			toMs: expect.closeTo(toMs, 1) as number,
			confirmed,
		});
	});
});

describe('next look', () => {
	const history: Known = { ...UNKNOWN, ageMs: 20 * S };
	test('without anything known it goes by age', () => {
		const pause = intervalForAge(20 * S, 0.5);
		expect(nextLook(history, 0.5)).toEqual({
			delayMs: pause,
			byAgeMs: 20 * S + pause,
		});
	});

	test('a look that came sooner and found nothing does not move the one that age wants', () => {
		const first = nextLook({ ...history, siblingAgesMs: [21 * S] }, 0.5);
		expect(first).toEqual({ delayMs: 1_120, byAgeMs: 22_060 });
		const next = { ...history, ageMs: 21_120, byAgeMs: first.byAgeMs };
		expect(nextLook(next, 0.5).delayMs).toBeCloseTo(940, 5);
		expect(nextLook({ ...next, ageMs: 22_060 }, 0.5).delayMs).toBe(intervalForAge(22_060, 0.5));
	});

	const of = (...pairs: Array<[number, number]>) =>
		pairs.map(([ageMs, progress]) => ({ ageMs, progress }));
	/** Two minutes of about 140 s. */
	const narrow = of([110 * S, 78], [120 * S, 85]);
	const near = [...narrow, ...of([130 * S, 93])];
	const early = of([MIN, 10], [2 * MIN, 20]);
	const toTheEnd = of([100 * S, 98], [101 * S, 99]);

	test.each<[string, number, ProgressSample[], number]>([
		['a first guess: at the end that it names', S, of([S, 50]), 1_070.2],
		['a first guess of an end far away: by age', 20 * S, of([20 * S, 10]), 2_060],
		['a first guess of an end right now: after 0.6%', 100 * S, of([100 * S, 99.99]), 600],
		['a guess that has not come true: by age', 1_100, of([S, 99]), 1_500],
		['believed, and far from the end: 2.4 times by age', 2 * MIN, early, 29_664],
		['believed: over half of the way to the end', 2 * MIN, narrow, 12_441.1],
		['believed, and near the end: into the range of it', 130 * S, near, 10_138],
		['in that range: on through the rest of it', 101.5 * S, toTheEnd, 621],
		['at the end of that range: after 0.6%', 102 * S, toTheEnd, 612],
	])('%s', (_name, ageMs, samples, delayMs) => {
		const next = nextLook({ ...history, ageMs, samples }, 0.5);
		expect(next.delayMs).toBeCloseTo(delayMs, 0);
	});

	test.each([
		[350, 350],
		[349, 2_060],
	])('a look that age wants in %d ms comes in %d ms', (inMs, delayMs) => {
		const planned = { ...history, byAgeMs: history.ageMs + inMs };
		expect(nextLook(planned, 0.5).delayMs).toBe(delayMs);
	});

	test.each<[string, number[], number]>([
		['a sibling that took a little longer: then', [21 * S], 1_120],
		['a sibling that took much longer: by age', [90 * S], 2_060],
		['long past the sibling: by age', [10 * S], 2_060],
		['the earliest of the recent siblings counts', [30 * S, 21 * S, 25 * S], 1_120],
		['the last five siblings count', [20.5 * S, ...Array<number>(5).fill(90 * S)], 2_060],
		['just past the sibling: a step of 6% of its time', [19.8 * S], 1_188],
		['that step, where siblings differ: three tenths of the difference', [19.8 * S, 25 * S], 1_560],
		['further past it: as long again as it was outlived', [18.5 * S], 1_380],
		['a tenth and a second past it: by age', [17.2 * S], 2_060],
	])('%s', (_name, siblingAgesMs, delayMs) => {
		expect(nextLook({ ...history, siblingAgesMs }, 0.5).delayMs).toBeCloseTo(delayMs, 5);
	});
});

test.each([
	[5 * S, 1_000],
	[20 * S, 1_030],
	[60 * S, 3_090],
	[2 * MIN, 12_360],
	[3 * MIN, 18_540],
])(
	'while others wait for the end of the task, at an age of %d ms the pause is %d ms',
	(ageMs, expected) => {
		expect(nextLook({ ...UNKNOWN, ageMs, endWanted: true }, 0.5).delayMs).toBeCloseTo(expected, 5);
	},
);

const short = [400, 2_500, 1_200];
const tens = [7, 2, 10, 4, 1, 9, 3, 8, 5, 6].map((it) => it * 450);
const delay = (siblingAgesMs: number[], ageMs: number, random: number) =>
	nextLook({ ...UNKNOWN, siblingAgesMs, ageMs }, random).delayMs;

test.each<[string, number[], number, number, number]>([
	['the first look comes a little before the first fifth of them was over', short, 0, 0, 360],
	['not at the same moment for several of them', short, 0, 0.5, 380],
	['of ten: before the third', tens, 0, 0, 1_215],
	['sooner by what has passed already', [1_000, 2_500], 300, 0, 600],
	['so it does where one took 70% of the longest', [700, 1_000], 0, 0, 630],
	['when they end, where they take equally long', [1_000, 1_100], 0, 0, 970],
	['that neither at the same moment', [1_000, 1_100], 0, 0.5, 1_020],
	['the next one goes by those that took longer', short, 1_300, 0.5, 1_075],
	['not by one that would be over in a moment', short, 1_160, 0, 1_090],
	['until the task has outlived them', short, 2_600, 0.5, 1_500],
	['no pause is shorter than 350 ms', [300, 1_000], 700, 0.5, 350],
])(
	'among siblings that are over within seconds: %s',
	(_name, siblings, ageMs, random, expected) => {
		expect(delay(siblings, ageMs, random)).toBeCloseTo(expected, 5);
	},
);

test.each<
	[streak: number, ageMs: number, retryAfterMs: number | undefined, random: number, number]
>([
	// What it asked for, and a little jitter.
	[1, 0, 5_000, 0, 5_000],
	[1, 0, 5_000, 0.5, 5_250],
	// "Come back in 0 s" does not allow a tight loop.
	[1, 0, 0, 0, 525],
	[3, H, 200, 0.5, 2_800],
	// Else it grows with the streak, bounded by the pause for the age.
	[1, H, undefined, 0.5, 700],
	[2, H, undefined, 0.5, 1_400],
	[7, H, undefined, 0.5, 44_800],
	[50, 20 * S, undefined, 0.5, 4_120],
	[50, 0, undefined, 0.5, 3_000],
])(
	'busy for the %dth time, at %d ms, Retry-After %p: %p',
	(streak, ageMs, retryAfterMs, random, ms) => {
		expect(busyDelay({ streak, ageMs, retryAfterMs }, random)).toBe(ms);
	},
);
