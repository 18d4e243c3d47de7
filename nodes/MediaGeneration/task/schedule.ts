/** Says when to look at a task next, by what is known of it. Pure; `random` is in [0, 1). Source: docs/service.md, "Status" and "Time and size". */
import { backoffMs } from '../base/clock';

export interface ProgressSample {
	ageMs: number;
	progress: number;
}

export interface Known {
	ageMs: number;
	samples: readonly ProgressSample[];
	/** Sibling tasks of this run were found finished at these ages. */
	siblingAgesMs: readonly number[];
	/** True if creations wait for its slot, or a batch waits for its last tasks. */
	endWanted: boolean;
	/** The age at which age alone wants the next look, by the look before. A look that comes sooner does not move it. */
	byAgeMs: number;
}

/** A task may end in this range of ages. */
interface Range {
	fromMs: number;
	stepMs: number;
	leastMs: number;
	/** A pause may last this long where age alone asks for a shorter one. */
	allowedMs?: number;
}

export const FIRST_LOOK_MS = 1_000;
const MIN_INTERVAL_MS = 1_500;
/** The pause grows with the task's age by this share. By age alone, the mean delay after a task's end stays under 5% of its duration. */
const AGE_FACTOR = 0.103;
const MAX_INTERVAL_MS = 58_900;
const JITTER = 0.06;
/** Up to this age the pause is shorter where others wait for the end. */
const END_WANTED_AGE_MS = 120_000;
const END_WANTED_FACTOR = 0.5;
const END_WANTED_INTERVAL_MS = 1_000;

const SIBLING_MARGIN_MS = 120;
/** Tasks are expected to end up to this far beyond their siblings' age. */
const SIBLING_SLACK = 1.1;
const SIBLING_SLACK_MS = 1_000;
const SIBLING_STEP_SHARE = 0.06;
const DIFFERENCE_SHARE = 0.3;
const RECENT_SIBLINGS = 5;
/** Siblings are short where all of them were over by then. */
const LONGEST_SHORT_MS = 5_000;
/** Siblings take equally long where the shortest took more than this share of the longest. */
const EQUAL_SHARE = 0.7;
/** Where short ones differ, a look comes as soon as this share of those that took longer was over. */
const OVER_SHARE = 0.2;

/** No range may cause a shorter pause: in ms, and as a share of the age. */
const MIN_AIM_MS = 350;
const MIN_AIM_SHARE = 0.006;
/** A task this close to its end, as a share of its age, is aimed at directly. */
const NEAR_SHARE = 0.1;
/** One look covers these shares of the range, and of the way to it. */
const RANGE_STEP = 0.55;
const FAR_STEP = 0.6;
const AIM_MARGIN_MS = 50;
/** A task can be done long before its progress says so: no pause by progress is longer than that by age times this. */
const TRUSTED_FACTOR = 2.4;
/** A range of durations wider than this factor would have fitted almost any progress: falling into it proves nothing. */
const RANGE_THAT_CAN_BE_WRONG = 2.5;

const least = (ages: readonly number[]) => ages.reduce((a, b) => Math.min(a, b), Infinity);
const most = (ages: readonly number[]) => ages.reduce((a, b) => Math.max(a, b), 0);

export function intervalForAge(ageMs: number, random: number): number {
	const interval = Math.min(Math.max(ageMs * AGE_FACTOR, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
	return interval * (1 + JITTER * (2 * random - 1));
}

interface Prediction {
	/** The duration is in this range. */
	fromMs: number;
	toMs: number;
	/** Counts how often a later sample fell where the earlier ones said it would. */
	confirmed: number;
}

/**
 * Reads the duration out of progress that grows with age. A whole-number progress `p` at age `a` means a duration
 * between `100a / (p + 1)` and `100a / (p - 0.5)`, whether the service rounds or cuts off. Undefined as soon as two samples contradict.
 */
export function predict(samples: readonly ProgressSample[]): Prediction | undefined {
	let [fromMs, toMs, confirmed, previous] = [0, Infinity, 0, -1];
	for (const { ageMs, progress } of samples) {
		if (progress < previous || progress >= 100) return undefined;
		const low = (100 * ageMs) / (progress + 1);
		const high = progress >= 1 ? (100 * ageMs) / (progress - 0.5) : Infinity;
		if (low > toMs || high < fromMs) return undefined;
		if (progress > previous && toMs < fromMs * RANGE_THAT_CAN_BE_WRONG) confirmed += 1;
		fromMs = Math.max(fromMs, low);
		toMs = Math.min(toMs, high);
		previous = progress;
	}
	return toMs === Infinity ? undefined : { fromMs, toMs, confirmed };
}

function rangeByProgress(ageMs: number, predicted: Prediction, random: number): Range {
	const { fromMs, toMs, confirmed } = predicted;
	const leastMs = Math.max(MIN_AIM_MS, MIN_AIM_SHARE * ageMs);
	if (confirmed === 0) return { fromMs: toMs + AIM_MARGIN_MS, stepMs: 0, leastMs };
	const width = toMs - Math.max(fromMs, ageMs);
	const ahead = Math.max(0, fromMs - ageMs);
	const near = ahead <= Math.max(width, NEAR_SHARE * ageMs);
	// Looks are spread over the range where the task may be finished; before that, each narrows it.
	const pauseMs = near
		? ahead + width * RANGE_STEP + AIM_MARGIN_MS
		: (ahead + width / 2) * FAR_STEP;
	const allowedMs = TRUSTED_FACTOR * intervalForAge(ageMs, random);
	return { fromMs: ageMs + pauseMs, stepMs: pauseMs, leastMs, allowedMs };
}

/** Tells whether all siblings were over within seconds: then the first look does not wait for its turn. */
export function areShort(siblingAgesMs: readonly number[]): boolean {
	return siblingAgesMs.length > 0 && most(siblingAgesMs) <= LONGEST_SHORT_MS;
}

/** Tasks of one kind made in one run tend to take equally long. There is at least one; undefined for a task that outlives them by far. */
function rangeBySiblings({ siblingAgesMs, ageMs }: Known, random: number): Range | undefined {
	const shortest = least(siblingAgesMs);
	const isShort = areShort(siblingAgesMs);
	if (isShort && shortest <= most(siblingAgesMs) * EQUAL_SHARE) {
		const tookLonger = siblingAgesMs
			.filter((age) => age > ageMs + AIM_MARGIN_MS)
			.sort((a, b) => a - b);
		const aim = tookLonger[Math.floor(tookLonger.length * OVER_SHARE)];
		if (aim === undefined) return undefined;
		// As below: to look a little before the found ages keeps them from staying longer than the tasks.
		return { fromMs: aim * (0.9 + 0.1 * random), stepMs: MIN_AIM_MS, leastMs: MIN_AIM_MS };
	}
	const recent = siblingAgesMs.slice(-RECENT_SIBLINGS);
	const expected = least(recent);
	if (ageMs >= expected * SIBLING_SLACK + SIBLING_SLACK_MS) return undefined;
	// Found ages can't be shorter than the first looks: to look a little before them keeps both from growing together.
	const fromMs = isShort ? shortest * (0.97 + 0.1 * random) : expected + SIBLING_MARGIN_MS;
	return {
		fromMs,
		// The more they differ, and the longer the task outlives the first of them, the less that one says.
		stepMs: most([
			expected * SIBLING_STEP_SHARE,
			(most(recent) - expected) * DIFFERENCE_SHARE,
			ageMs - fromMs,
		]),
		leastMs: SIBLING_MARGIN_MS,
	};
}

/**
 * Step one: finds the range in which the task may end, by what is known best: its progress, once a prediction made from it has come
 * true; else its siblings; else a first guess from progress. Undefined where only its age is known.
 */
function rangeOf(known: Known, random: number): Range | undefined {
	const { ageMs, samples, siblingAgesMs } = known;
	const predicted = predict(samples);
	const prediction = predicted === undefined || ageMs > predicted.toMs ? undefined : predicted;
	const byProgress = prediction && rangeByProgress(ageMs, prediction, random);
	if (siblingAgesMs.length === 0 || (prediction?.confirmed ?? 0) > 0) return byProgress;
	return rangeBySiblings(known, random) ?? byProgress;
}

function pauseByAge({ ageMs, endWanted }: Known, random: number): number {
	const pause = intervalForAge(ageMs, random);
	return endWanted && ageMs < END_WANTED_AGE_MS
		? Math.min(pause, Math.max(pause * END_WANTED_FACTOR, END_WANTED_INTERVAL_MS))
		: pause;
}

/** Step two: looks at the beginning of the range, then step by step to its end, but no later than age alone asks for. */
export function nextLook(known: Known, random: number): { delayMs: number; byAgeMs: number } {
	const { ageMs } = known;
	const planned = known.byAgeMs - ageMs;
	const byAge = planned >= MIN_AIM_MS ? planned : pauseByAge(known, random);
	const byAgeMs = ageMs + byAge;
	const range = rangeOf(known, random);
	if (range === undefined) return { delayMs: byAge, byAgeMs };
	const { fromMs, stepMs, leastMs, allowedMs = 0 } = range;
	const wanted = Math.max(leastMs, ageMs < fromMs ? fromMs - ageMs : stepMs);
	return { delayMs: Math.min(wanted, Math.max(byAge, allowedMs)), byAgeMs };
}

/** n8n 2.41 refuses callbacks while it saves an execution that falls asleep, for up to 0.2 s: one look follows. */
const AFTER_FALLING_ASLEEP_MS = 2_500;
const FIRST_AGE_ASLEEP_MS = 12_500;
const ASLEEP_INTERVAL_MS = 29_500;
const ASLEEP_FACTOR = 0.347;

export function firstLookAsleep(ageMs: number, slotWanted: boolean): number {
	return Math.max(AFTER_FALLING_ASLEEP_MS, slotWanted ? 0 : FIRST_AGE_ASLEEP_MS - ageMs);
}

/** Applies while a callback is expected: a lost one is noticed within 30 s or 35% of the task's duration, by at most 15 looks in an hour. */
export function asleepInterval(ageMs: number): number {
	return Math.max(ASLEEP_INTERVAL_MS, ageMs * ASLEEP_FACTOR);
}

const FIRST_BUSY_PAUSE_MS = 700;

/** `streak` counts the busy answers in a row, from 1. */
interface Busy {
	streak: number;
	ageMs: number;
	retryAfterMs: number | undefined;
}

/** Keeps to what the service asked for, but the pause grows all the same: "come back in 0 s" does not allow asking in a tight loop. */
export function busyDelay({ streak, ageMs, retryAfterMs }: Busy, random: number): number {
	const mostMs = Math.min(Math.max(intervalForAge(ageMs, 0.5), 1_000) * 2, MAX_INTERVAL_MS);
	return backoffMs(streak, { firstMs: FIRST_BUSY_PAUSE_MS, mostMs, retryAfterMs }, random);
}
