import { setTimeout as delay } from 'node:timers/promises';

interface WaitOptions {
	timeoutMs: number;
	/** What is waited for, as in "... did not come within 30 s". */
	what: string;
	intervalMs?: number;
	/** Added to the message of a timeout, e.g. the end of a log. */
	details?: () => string;
}

/** Looks again and again until `look` gives something other than undefined or false. Errors of `look` end the wait. */
export async function waitUntil<T>(
	look: () => Promise<T> | T,
	options: WaitOptions,
): Promise<Exclude<T, undefined | false>> {
	const deadline = Date.now() + options.timeoutMs;
	for (;;) {
		const found = await look();
		if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
		if (Date.now() > deadline) {
			const details = options.details ? `\n${options.details()}` : '';
			throw new Error(
				`${options.what} did not come within ${options.timeoutMs / 1000} s${details}`,
			);
		}
		await delay(options.intervalMs ?? 200);
	}
}
