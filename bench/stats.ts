export function mean(values: readonly number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function median(values: readonly number[]): number {
	return quantile(values, 0.5);
}

/** @param share 0 to 1, e.g. 0.95 */
export function quantile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (sorted.length - 1) * share;
	const below = sorted[Math.floor(at)] ?? NaN;
	const above = sorted[Math.ceil(at)] ?? NaN;
	return below + (above - below) * (at - Math.floor(at));
}

/** Fails a bench whose work was not done: a time for wrong results is worth nothing. */
export function check(condition: boolean, what: string): asserts condition {
	if (!condition) throw new Error(`The bench did not do its work: ${what}`);
}
