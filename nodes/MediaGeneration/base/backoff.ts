/** Says how long to pause before something is tried again: the pause doubles after each failure. */
interface Backoff {
	firstMs: number;
	maxMs: number;
	retryAfterMs?: number | undefined;
}

/**
 * Returns the pause before the next try. A Retry-After only makes it longer, because one of 0 s must not lead to a tight loop.
 * @param failures how many there were in a row, from 1
 * @param random in [0, 1); spreads callers that failed together, by a quarter to either side
 */
export function backoffMs(
	failures: number,
	{ firstMs, maxMs, retryAfterMs = 0 }: Backoff,
	random?: number,
): number {
	const own = Math.min(firstMs * 2 ** (failures - 1), maxMs) * (0.75 + (random ?? 0.5) / 2);
	// Spreads callers that were asked to wait for the same time.
	return retryAfterMs < own ? own : retryAfterMs + (random ?? 0) * 500;
}
