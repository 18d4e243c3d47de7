/** Waits with n8n's own `sleep`, the only timer that its lint rules allow. */
import { sleep } from 'n8n-workflow';
import { ABORTED, unlessAborted } from '../base/abort';
import { now, type Clock } from '../base/clock';
import type { Work } from '../base/work';

/** The `sleep` of n8n-workflow honours a signal since n8n 2.34; before, it ignores the second argument. */
const sleepUntil: (ms: number, signal?: AbortSignal) => Promise<void> = sleep;

/** Implements {@link Clock.sleep} in real time. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	if (signal === undefined) return await sleepUntil(ms);
	const end = now() + ms;
	for (let left = ms; left > 0 && !signal.aborted; left = end - now()) {
		const cut = new AbortController();
		// In slices, so that no timer long outlives an aborted pause.
		const slept = sleepUntil(Math.min(left, 30_000), cut.signal).catch(() => undefined);
		await unlessAborted(signal, slept);
		if (signal.aborted) cut.abort(ABORTED);
	}
}

export const realClock: Clock = { now, sleep: pause };

/** Does the work in pieces of 15 ms, so that it does not block n8n's event loop. */
export async function inPieces<T>(work: Work<T> | AsyncGenerator<undefined, T>): Promise<T> {
	let [since, isLong] = [now(), false];
	let step = await work.next();
	while (step.done !== true) {
		if (now() - since >= 15) {
			await pause(0);
			[since, isLong] = [now(), true];
		}
		step = await work.next();
	}
	// Give what follows long work a turn of its own.
	if (isLong) await pause(0);
	return step.value;
}
