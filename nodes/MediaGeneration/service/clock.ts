/** The real clock, for everything that takes one. */
import { sleep } from 'n8n-workflow';

/** Since n8n 2.34 `sleep` honours a signal; before, it ignores the second argument. */
const sleepUntil: (ms: number, signal?: AbortSignal) => Promise<void> = sleep;

/** Made once: n8n's `sleep` makes an error, with its stack, from any reason that is none, and that is most of what waking costs. */
const WOKEN = new Error('woken');

/** No timer outlives an aborted pause by more than this where n8n's `sleep` knows no signal. */
const SLICE_MS = 30_000;

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
	const end = Date.now() + ms;
	for (let left = ms; left > 0 && !signal.aborted; left = end - Date.now()) {
		await slice(Math.min(left, SLICE_MS), signal);
	}
}
