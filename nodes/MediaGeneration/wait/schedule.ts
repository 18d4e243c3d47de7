/**
 * When to look at a task next. Pure: ages, progress and a random number in, a delay out. All times in ms.
 *
 * Three sources, in this order:
 * 1. age: look soon while a task is young, in proportion to its age later. The mean delay after completion
 *    then stays under 5% of the duration, with few looks, whatever the service says or does not say;
 * 2. siblings: tasks of one kind made in one run tend to take equally long, so the first one to finish shows when to
 *    look at the others; where all of them are over within seconds, looks come at shares of their time;
 * 3. progress: once a prediction made from it has come true, it is believed, and looks are spent near the end.
 *    What goes back, stands still or runs past its own prediction is not believed again.
 * Source: docs/service.md, "Status" (progress may be null, stuck at 0, a string, or go back) and "Time and size".
 */

export interface ProgressSample {
	ageMs: number;
	/** 0 to 100. */
	progress: number;
}

export interface LookHistory {
	/** Age of the task now, counted from its creation. */
	ageMs: number;
	/** Progress seen so far, oldest first. */
	samples: readonly ProgressSample[];
	/** Ages at which sibling tasks of this run were found finished. */
	siblingAgesMs: readonly number[];
	/** Looks that were already brought forward because of siblings. */
	broughtForward: number;
	/** `byAgeMs` of the look before. Undefined for the first. */
	plannedByAgeMs?: number;
	/** Whether others wait for its end: tasks for its slot, or a batch of which it is among the last. */
	endWanted?: boolean;
}

export interface NextLook {
	delayMs: number;
	/** True when siblings brought this look forward. */
	broughtForward: boolean;
	/** The age at which age alone wants the next look. A guess that comes sooner and fails does not move it. */
	byAgeMs: number;
}

export const FIRST_LOOK_MS = 1_000;
const MIN_INTERVAL_MS = 1_500;
const AGE_FACTOR = 0.103;
const MAX_INTERVAL_MS = 58_900;
const JITTER = 0.06;
/** Bounds the extra looks that siblings can cause. */
const MAX_BROUGHT_FORWARD = 2;
const SIBLING_MARGIN_MS = 120;
/**
 * A task can be done long before its progress says so. With a trusted progress no pause is longer than that for the age
 * times this, so that the end of such a task is seen within three times the delay of one that reports nothing.
 */
const TRUSTED_FACTOR = 2.4;
/** Siblings are short where all of them were over by then. */
const LONGEST_SHORT_MS = 5_000;
/** Where others wait for the end, a late look delays them all: for tasks of up to this age the pause is shorter. */
const END_WANTED_AGE_MS = 120_000;
const END_WANTED_FACTOR = 0.5;
const END_WANTED_INTERVAL_MS = 1_000;
/** Of the time of the longest of them: when to look first, and the pause between looks. */
const SHORT_FIRST_SHARE = 0.4;
/** Siblings take equally long where the shortest took more than this share of the longest. */
const EQUAL_SHARE = 0.7;
const SHORT_SHARE = 0.2;
/** Shortest pause that a prediction may cause, and the shortest as a share of the age. */
const MIN_AIM_MS = 350;
const MIN_AIM_SHARE = 0.006;
/** A task this close to its end, as a share of its age, is aimed at directly. */
const NEAR_SHARE = 0.1;
/** How much of the possible range one look covers. */
const RANGE_STEP = 0.55;

/** The pause that depends on age alone. @param random in [0, 1) */
export function intervalForAge(ageMs: number, random: number): number {
	const interval = Math.min(Math.max(ageMs * AGE_FACTOR, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
	return interval * (1 + JITTER * (2 * random - 1));
}

/** A range of durations wider than this factor would have fitted almost any progress: falling into it proves nothing. */
const RANGE_THAT_CAN_BE_WRONG = 2.5;

interface Prediction {
	/** Earliest and latest age at which the task should be finished. */
	fromMs: number;
	toMs: number;
	/** How often a later sample fell where the earlier ones said it would. */
	confirmed: number;
}

/**
 * Reads the duration out of progress that grows with age. A whole-number progress `p` at age `a` means a duration
 * between `100a / (p + 1)` and `100a / (p - 0.5)`, whether the service rounds or cuts off. Undefined as soon as two samples contradict.
 */
export function predict(samples: readonly ProgressSample[]): Prediction | undefined {
	let fromMs = 0;
	let toMs = Infinity;
	let confirmed = 0;
	let previous = -1;
	for (const { ageMs, progress } of samples) {
		if (progress < previous || progress >= 100) return undefined;
		const low = (100 * ageMs) / (progress + 1);
		const high = progress >= 1 ? (100 * ageMs) / (progress - 0.5) : Infinity;
		if (low > toMs || high < fromMs) return undefined;
		// It counts as a confirmation only if the progress moved and the range before it was narrow enough to be wrong.
		if (progress > previous && toMs < fromMs * RANGE_THAT_CAN_BE_WRONG) confirmed += 1;
		fromMs = Math.max(fromMs, low);
		toMs = Math.min(toMs, high);
		previous = progress;
	}
	return toMs === Infinity ? undefined : { fromMs, toMs, confirmed };
}

/** The pause that a believable progress asks for, or undefined where there is none. */
function delayForProgress(
	{ ageMs, samples }: LookHistory,
	byAge: number,
	random: number,
): number | undefined {
	const prediction = predict(samples);
	if (prediction === undefined || ageMs > prediction.toMs) return undefined;
	const { fromMs, toMs, confirmed } = prediction;
	const shortest = Math.max(MIN_AIM_MS, MIN_AIM_SHARE * ageMs);
	if (confirmed === 0) {
		const aim = Math.max(toMs - ageMs + 50, shortest);
		return aim < byAge ? aim : undefined;
	}
	// Where the task may already be finished, a few looks are spread over the range; before that, every look narrows it.
	const range = toMs - Math.max(fromMs, ageMs);
	const ahead = Math.max(0, fromMs - ageMs);
	const near = ahead <= Math.max(range, NEAR_SHARE * ageMs);
	const wanted = near ? ahead + range * RANGE_STEP + 50 : (ahead + range / 2) * 0.6;
	const longest = Math.max(byAge, TRUSTED_FACTOR * intervalForAge(ageMs, random));
	return Math.min(Math.max(wanted, shortest), longest);
}

/** The pause that finished siblings ask for, or undefined. */
function delayForSiblings({
	ageMs,
	siblingAgesMs,
	broughtForward,
}: LookHistory): number | undefined {
	if (siblingAgesMs.length === 0 || broughtForward >= MAX_BROUGHT_FORWARD) return undefined;
	const recent = siblingAgesMs.slice(-5);
	const expected = recent.reduce((least, age) => Math.min(least, age));
	const delay = expected - ageMs + SIBLING_MARGIN_MS * (1 + broughtForward);
	// Well past the siblings' age there is nothing to learn from them any more.
	return ageMs > expected * 1.1 + 1_000 ? undefined : Math.max(delay, SIBLING_MARGIN_MS);
}

/**
 * When to look at a task first, in ms from now, where all siblings so far were over within seconds; undefined where they were not.
 * A task that is found late holds the slot of the next one: the shorter they are, the more that costs. @param random in [0, 1)
 */
export function firstLookAmongShort(
	siblingAgesMs: readonly number[],
	ageMs: number,
	random: number,
): number | undefined {
	if (siblingAgesMs.length === 0) return undefined;
	const longest = siblingAgesMs.reduce((most, age) => Math.max(most, age));
	if (longest > LONGEST_SHORT_MS) return undefined;
	const shortest = siblingAgesMs.reduce((least, age) => Math.min(least, age));
	// Found ages can't be shorter than the first looks: to look a little before them keeps both from growing together.
	const at =
		shortest > longest * EQUAL_SHARE
			? shortest * (0.97 + 0.1 * random)
			: longest * SHORT_FIRST_SHARE * (0.8 + 0.4 * random);
	return Math.max(0, at - ageMs);
}

/** The pause between two looks among such siblings, or undefined: also for a task that has outlived them all. */
function intervalAmongShort({ siblingAgesMs, ageMs }: LookHistory, random: number) {
	if (siblingAgesMs.length === 0) return undefined;
	const longest = siblingAgesMs.reduce((most, age) => Math.max(most, age));
	if (longest > LONGEST_SHORT_MS || ageMs > longest) return undefined;
	return Math.max(longest * SHORT_SHARE * (0.8 + 0.4 * random), MIN_AIM_MS);
}

function pauseByAge(ageMs: number, endWanted: boolean, random: number): number {
	const pause = intervalForAge(ageMs, random);
	return endWanted && ageMs < END_WANTED_AGE_MS
		? Math.min(pause, Math.max(pause * END_WANTED_FACTOR, END_WANTED_INTERVAL_MS))
		: pause;
}

/** When to look next. @param random in [0, 1), so that tables can test it */
export function nextLook(history: LookHistory, random: number): NextLook {
	const { ageMs, plannedByAgeMs = 0, endWanted = false } = history;
	const planned = plannedByAgeMs - ageMs;
	const byAge = planned >= MIN_AIM_MS ? planned : pauseByAge(ageMs, endWanted, random);
	const byAgeMs = ageMs + byAge;
	const amongShort = intervalAmongShort(history, random) ?? Infinity;
	const own = delayForProgress(history, byAge, random) ?? Math.min(byAge, amongShort);
	const siblings = delayForSiblings(history);
	return siblings !== undefined && siblings < own
		? { delayMs: siblings, broughtForward: true, byAgeMs }
		: { delayMs: own, broughtForward: false, byAgeMs };
}

/** After falling asleep: n8n refuses callbacks while it saves the execution (`npm run bench -- race`), so one look follows. */
const AFTER_FALLING_ASLEEP_MS = 2_500;
const FIRST_AGE_ASLEEP_MS = 12_500;
const ASLEEP_INTERVAL_MS = 29_500;
const ASLEEP_FACTOR = 0.347;

/** When to look first at a task whose execution has just gone to sleep, in ms from now. */
export function firstLookAsleep(ageMs: number): number {
	return Math.max(AFTER_FALLING_ASLEEP_MS, FIRST_AGE_ASLEEP_MS - ageMs);
}

/**
 * The pause between two looks at a task whose callback is expected, in ms: a lost one is noticed within 30 s or 35% of the
 * task's time, whichever is longer, by at most 15 looks while a task runs for an hour.
 */
export function asleepInterval(ageMs: number): number {
	return Math.max(ASLEEP_INTERVAL_MS, ageMs * ASLEEP_FACTOR);
}

/**
 * How long to leave a busy service alone: what it asked for, but never less than a growing pause that stays near the one
 * for the task's age. "Come back in 0 s" does not allow asking in a tight loop. @param streak busy answers in a row, from 1
 */
export function busyDelay(
	streak: number,
	ageMs: number,
	retryAfterMs: number | undefined,
	random: number,
): number {
	const growing = 700 * 2 ** Math.min(streak - 1, 6);
	const own =
		Math.min(growing, Math.max(intervalForAge(ageMs, 0.5), 1_000) * 2, MAX_INTERVAL_MS) *
		(0.75 + random / 2);
	return retryAfterMs === undefined || retryAfterMs < own ? own : retryAfterMs + random * 500;
}
