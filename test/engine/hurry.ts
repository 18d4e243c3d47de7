/** Time that runs ahead, for what takes seconds by design: pauses end at once, requests stay real. */

/** Everything but the pauses of n8n's `sleep` and the clock that they are measured by. */
const REAL = [
	'hrtime',
	'nextTick',
	'performance',
	'queueMicrotask',
	'setImmediate',
	'clearImmediate',
	'setInterval',
	'clearInterval',
] as const;

const STEP_MS = 50;

/**
 * Runs something while its time runs ahead, and gives back what it made and how long that seemed to take, in ms.
 *
 * @param withinMs of the time that runs ahead: what takes longer fails. For requests that are not real, as those take time of their own
 */
export async function hurry<T>(
	act: () => Promise<T>,
	withinMs = Infinity,
): Promise<{ value: T; tookMs: number }> {
	jest.useFakeTimers({ now: Date.now(), doNotFake: [...REAL] });
	const startedAt = Date.now();
	try {
		let over = false;
		const work = act().finally(() => (over = true));
		work.catch(() => undefined);
		// Between two steps, requests on their way come back.
		while (!over) {
			if (Date.now() - startedAt > withinMs)
				throw new Error(`Nothing came of it in ${withinMs} ms`);
			for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
			if (!over) await jest.advanceTimersByTimeAsync(STEP_MS);
		}
		return { value: await work, tookMs: Date.now() - startedAt };
	} finally {
		jest.useRealTimers();
	}
}
