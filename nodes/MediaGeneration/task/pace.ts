/** When to poll a task next. Pure. Source: docs/service.md, "Status" and "Limits". */

const SHORTEST_MS = 1_000;
const LONGEST_MS = 60_000;
/** Share of the age, so that a task's end is seen late by 5% of its duration on average. */
const AGE_SHARE = 0.1;
const PROGRESS = { marginMs: 50, shortestMs: 500, ageShare: 0.02 };

/**
 * Pause before the next poll, in ms.
 * @param ageMs time since the task was created
 * @param progress percentage that the service reported last, if any; 0 and 100 say nothing of the end
 */
export function pace(ageMs: number, progress?: number): number {
	const byAge = Math.min(Math.max(AGE_SHARE * ageMs, SHORTEST_MS), LONGEST_MS);
	if (progress === undefined || progress <= 0 || progress >= 100) return byAge;
	const rest = (ageMs * (100 - progress)) / progress;
	const { marginMs, shortestMs, ageShare } = PROGRESS;
	return Math.min(byAge, Math.max(rest + marginMs, shortestMs, ageShare * ageMs));
}
