/** On the real clock, by what aborts and what does not: none of these tests asserts how long anything takes. */
import { timeLimit } from '../../nodes/MediaGeneration/base/clock';
import { pause } from '../../nodes/MediaGeneration/n8n/clock';

const aborted = async (signal: AbortSignal) => {
	if (!signal.aborted)
		await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
};

test('after its end, nothing aborts a time limit any more', async () => {
	const outer = new AbortController();
	const ended = timeLimit(20, outer.signal);
	ended.end();
	const other = timeLimit(60);
	await aborted(other.signal);
	outer.abort();
	expect(ended.signal.aborted).toBe(false);
	other.end();
});

test.each([1e12, Infinity])('a limit of %d ms is not over at once', async (ms) => {
	const limit = timeLimit(ms);
	const other = timeLimit(20);
	await aborted(other.signal);
	expect(limit.signal.aborted).toBe(false);
	limit.end();
	other.end();
});

describe('a pause', () => {
	test('ends as soon as the signal aborts, and leaves no timer for long', async () => {
		jest.useFakeTimers();
		try {
			const stop = new AbortController();
			const paused = pause(3_600_000, stop.signal);
			expect(jest.getTimerCount()).toBe(1);
			stop.abort();
			await paused;
			await pause(3_600_000, stop.signal);
			// n8n's `sleep` of older versions does not hear the signal: its timer goes on, and so would a process of tests.
			jest.advanceTimersByTime(30_000);
			expect(jest.getTimerCount()).toBe(0);
		} finally {
			jest.useRealTimers();
		}
	});

	test('that is long lasts to its end', async () => {
		jest.useFakeTimers();
		try {
			let isOver = false;
			void pause(100_000, new AbortController().signal).then(() => (isOver = true));
			await jest.advanceTimersByTimeAsync(99_000);
			expect(isOver).toBe(false);
			await jest.advanceTimersByTimeAsync(1_100);
			expect(isOver).toBe(true);
		} finally {
			jest.useRealTimers();
		}
	});
});
