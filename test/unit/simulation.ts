/** One task, waited for by the schedule alone: how late its end is seen, and how many looks it took. */
import {
	FIRST_LOOK_MS,
	nextLook,
	type ProgressSample,
} from '../../nodes/MediaGeneration/wait/schedule';
import { seededRandom } from '../support/virtualClock';

/** What a service says of the progress of a task of this age. */
export type ProgressReport = (
	ageMs: number,
	durationMs: number,
	random: () => number,
) => number | undefined;

export const reports = {
	none: () => undefined,
	honest: (age, duration) => Math.floor((100 * age) / duration),
	honestRounded: (age, duration) => Math.min(99, Math.round((100 * age) / duration)),
	stuckAt0: () => 0,
	stuckAt50: () => 50,
	stuckAt99: () => 99,
	random: (_age, _duration, random) => Math.floor(random() * 100),
	backwards: (age, duration) => Math.max(0, 90 - Math.floor((90 * age) / duration)),
	twiceTooFast: (age, duration) => Math.min(99, Math.floor((200 * age) / duration)),
	twiceTooSlow: (age, duration) => Math.floor((50 * age) / duration),
	inSteps: (age, duration) => 25 * Math.floor((4 * age) / duration),
} satisfies Record<string, ProgressReport>;

export interface Simulated {
	/** From the end of the task to the look that saw it. */
	delayMs: number;
	looks: number;
}

export function simulate(durationMs: number, report: ProgressReport, seed: number): Simulated {
	const random = seededRandom(seed);
	const samples: ProgressSample[] = [];
	let byAgeMs = 0;
	let ageMs = FIRST_LOOK_MS * (0.8 + 0.4 * random());
	for (let looks = 1; ; looks += 1) {
		if (ageMs >= durationMs) return { delayMs: ageMs - durationMs, looks };
		if (looks > 5_000) throw new Error('More than 5,000 looks');
		const progress = report(ageMs, durationMs, random);
		if (progress !== undefined) samples.push({ ageMs, progress });
		const history = { ageMs, samples, siblingAgesMs: [], endWanted: false, byAgeMs };
		const next = nextLook(history, random());
		byAgeMs = next.byAgeMs;
		ageMs += next.delayMs;
	}
}

export interface Summary {
	meanDelayMs: number;
	meanLooks: number;
	maxLooks: number;
}

/** Many tasks of about one duration (within 15%), so that no lucky phase of the looks counts. */
export function simulateMany(aboutMs: number, report: ProgressReport, tasks = 300): Summary {
	const phase = seededRandom(aboutMs);
	const results = Array.from({ length: tasks }, (_, seed) =>
		simulate(aboutMs * (0.85 + 0.3 * phase()), report, seed + 1),
	);
	const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
	return {
		meanDelayMs: mean(results.map(({ delayMs }) => delayMs)),
		meanLooks: mean(results.map(({ looks }) => looks)),
		maxLooks: Math.max(...results.map(({ looks }) => looks)),
	};
}
