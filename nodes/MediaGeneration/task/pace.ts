/** When to poll a task next. Pure. Source: docs/service.md, "Status" and "Limits". */

/**
 * Pause before the next poll, in ms.
 * @param ageMs time since the task was created
 * @param progress percentage that the service reported last, if any; 0 and 100 say nothing about the end
 */
export function pace(ageMs: number, progress?: number): number {
	// With a pause of a tenth of its age, a task's end is seen late by 5% of its duration on average.
	const byAge = Math.min(Math.max(0.1 * ageMs, 1_000), 60_000);
	if (progress === undefined || progress <= 0 || progress >= 100) return byAge;
	const rest = (ageMs * (100 - progress)) / progress;
	return Math.min(byAge, Math.max(rest + 50, 500, 0.02 * ageMs));
}

/** Pause before the next poll of a task whose end a callback reports, in ms. That callback can be lost. */
export function rarePace(ageMs: number): number {
	return Math.max(30_000, 0.35 * ageMs);
}
