/** Tells the time and waits. Callers can pass a clock, so that tests run on a virtual one. */
export interface Clock {
	/** Epoch ms that never go back. */
	now: () => number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Returns epoch ms that do not jump when somebody sets the machine's clock: that must not make a pause longer. */
export function now(): number {
	return performance.timeOrigin + performance.now();
}

/** Compares the machine's clock with {@link now}: n8n wakes executions by it, and other processes read notes by it. */
export function clockAheadMs(): number {
	return Date.now() - now();
}

/** Limits what is reported repeatedly, such as log lines. */
export class OncePerMinute {
	/** Epoch ms. */
	private reportedAt: number | undefined;

	isDue(nowMs: number): boolean {
		if (this.reportedAt !== undefined && nowMs - this.reportedAt < 60_000) return false;
		this.reportedAt = nowMs;
		return true;
	}
}
