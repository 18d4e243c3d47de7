/** Time limits and pauses, by the timers of n8n and of Node.js, while time passes at once. */
import { getEventListeners } from 'node:events';
import { onAbort, timeLimit } from '../../nodes/MediaGeneration/base/abort';
import { pause } from '../../nodes/MediaGeneration/n8n/realClock';
import { onMachine } from '../support/machine';

test('after its end, nothing aborts a time limit any more', async () => {
	await onMachine(async (machine) => {
		const outer = new AbortController();
		const ended = timeLimit(20, outer.signal);
		ended.end();
		await machine.pause(60);
		outer.abort();
		expect(ended.signal.aborted).toBe(false);
	});
});

test('nothing listens any more once everybody has what they waited for: Node.js 20 would keep the signal', () => {
	const { signal } = new AbortController();
	const forget = [onAbort(signal, () => {}), onAbort(signal, () => {})];
	expect(getEventListeners(signal, 'abort')).toHaveLength(1);
	forget.forEach((each) => each());
	expect(getEventListeners(signal, 'abort')).toHaveLength(0);
	let heard = 0;
	const again = onAbort(signal, () => (heard += 1));
	// Twice does no harm.
	forget.forEach((each) => each());
	signal.dispatchEvent(new Event('abort'));
	again();
	expect(heard).toBe(1);
});

test.each([1e12, Infinity])('a limit of %d ms is not over at once', async (ms) => {
	await onMachine(async (machine) => {
		const { signal } = timeLimit(ms);
		await machine.pause(20);
		expect(signal.aborted).toBe(false);
	});
});

test('a pause ends as soon as the signal aborts, and leaves no timer for long', async () => {
	await onMachine(async (machine) => {
		const stop = new AbortController();
		const paused = pause(3_600_000, stop.signal);
		expect(machine.pending).toBe(1);
		stop.abort();
		await paused;
		await pause(3_600_000, stop.signal);
		// n8n's `sleep` of older versions does not hear the signal: its timer goes on, and so would a process of tests.
		await machine.pause(30_000);
		expect([machine.elapsed, machine.pending]).toEqual([30_000, 0]);
	});
});

test('a pause that is long lasts to its end', async () => {
	await onMachine(async (machine) => {
		await pause(100_000, new AbortController().signal);
		expect(machine.elapsed).toBe(100_000);
	});
});
