/** The real clock, for everything that takes one. */
import { sleep } from 'n8n-workflow';

/** What everything that waits takes from outside, so that its tests run on a virtual clock. */
export interface Clock {
	/** Epoch ms, never going back. */
	now: () => number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Since n8n 2.34 `sleep` honours a signal; before, it ignores the second argument. */
const sleepUntil: (ms: number, signal?: AbortSignal) => Promise<void> = sleep;

/** Made once: n8n's `sleep` makes an error, with its stack, from any reason that is not one, and that is most of what waking costs. */
const WOKEN = new Error('woken');

/** No timer outlives an aborted pause by more than this where n8n's `sleep` knows no signal. */
const SLICE_MS = 30_000;

/** Epoch ms that neither jump nor go back when somebody sets the machine's clock: a pause must not last longer for that. */
export function now(): number {
	return performance.timeOrigin + performance.now();
}

async function slice(ms: number, signal: AbortSignal): Promise<void> {
	const cut = new AbortController();
	await new Promise<void>((resolve) => {
		const done = () => {
			signal.removeEventListener('abort', wake);
			resolve();
		};
		const wake = () => {
			cut.abort(WOKEN);
			done();
		};
		signal.addEventListener('abort', wake, { once: true });
		sleepUntil(ms, cut.signal).then(done, done);
	});
}

/** Resolves after `ms`, or as soon as the signal aborts. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	if (signal === undefined) return await sleepUntil(ms);
	const end = now() + ms;
	for (let left = ms; left > 0 && !signal.aborted; left = end - now()) {
		await slice(Math.min(left, SLICE_MS), signal);
	}
}

export const realClock: Clock = { now, sleep: pause };

/**
 * A signal that aborts with another one or after `ms`, whichever is first. Call `end` when it is not needed any more: a
 * signal that lives as long as an execution must not collect the listeners of thousands of requests.
 */
export function timeLimit(
	ms: number,
	outer?: AbortSignal,
): { signal: AbortSignal; timedOut: () => boolean; end: () => void } {
	const controller = new AbortController();
	const timer = AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(ms, 2 ** 31 - 1))));
	const abort = () => controller.abort(WOKEN);
	timer.addEventListener('abort', abort, { once: true });
	outer?.addEventListener('abort', abort, { once: true });
	if (outer?.aborted === true) abort();
	return {
		signal: controller.signal,
		timedOut: () => timer.aborted,
		end() {
			timer.removeEventListener('abort', abort);
			outer?.removeEventListener('abort', abort);
		},
	};
}
