import { setTimeout as delay } from 'node:timers/promises';

/** Each wait of the harness lasts at most this long, unless told otherwise: a busy machine is no failure. */
export const PATIENCE_MS = 300_000;

interface WaitOptions {
	timeoutMs?: number;
	/** What is waited for, as in "... did not come within 30 s". */
	what: string;
	intervalMs?: number;
	/** Added to the message of a timeout, e.g. the end of a log. */
	details?: () => string;
}

/** Looks again and again until `look` gives something other than undefined or false. Errors of `look` end the wait. */
export async function waitUntil<T>(
	look: () => Promise<T> | T,
	{ timeoutMs = PATIENCE_MS, what, intervalMs = 200, details }: WaitOptions,
): Promise<Exclude<T, undefined | false>> {
	const deadline = Date.now() + timeoutMs;
	for (;;) {
		const found = await look();
		if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
		if (Date.now() > deadline) {
			const more = details ? `\n${details()}` : '';
			throw new Error(`${what} did not come within ${timeoutMs / 1000} s${more}`);
		}
		await delay(intervalMs);
	}
}
