/** Ends what is under way: signals that abort, by a caller or because time is over. */
import { getOrCreate } from './boundedMap';

interface Listener {
	acts: Set<() => void>;
	stop: () => void;
}

const listening = new WeakMap<AbortSignal, Listener>();

function listenTo(signal: AbortSignal): Listener {
	const acts = new Set<() => void>();
	const actAll = () => acts.forEach((each) => each());
	signal.addEventListener('abort', actAll, { once: true });
	return { acts, stop: () => signal.removeEventListener('abort', actAll) };
}

/**
 * Acts at once if the signal has aborted already. One listener serves all callers, because Node.js warns of signals with more than ten.
 * @returns a function that stops listening
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
	if (signal.aborted) act();
	const { acts, stop } = getOrCreate(listening, signal, () => listenTo(signal));
	const mine = () => act();
	acts.add(mine);
	return () => {
		if (!acts.delete(mine) || acts.size > 0) return;
		// Node.js 20 keeps what `AbortSignal.any` made as long as anybody listens to it.
		stop();
		listening.delete(signal);
	};
}

/** Shared reason for aborts: without one, each abort makes an exception with a stack, and n8n's `sleep` does so for one that is no error. */
export const ABORTED = new Error('aborted');

export interface TimeLimit {
	signal: AbortSignal;
	timedOut(): boolean;
	abort(): void;
	/** Disarms the timer, so that from now on only the outer signal counts. */
	met(): void;
	/** Begins anew, with `ms` from now on. */
	restart(ms: number): void;
	/** Must be called: a signal that lives as long as an execution must not collect listeners. */
	end(): void;
}

/** Makes a limit whose signal aborts with the outer one, or after `ms`. */
export function timeLimit(ms: number, outer?: AbortSignal): TimeLimit {
	const controller = new AbortController();
	const abort = () => controller.abort(ABORTED);
	const timerFor = (left: number) => {
		const timer = AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(left, 2 ** 31 - 1))));
		timer.addEventListener('abort', abort, { once: true });
		return timer;
	};
	let timer = timerFor(ms);
	const forget = outer && onAbort(outer, abort);
	const met = () => timer.removeEventListener('abort', abort);
	const restart = (left: number) => {
		met();
		timer = timerFor(left);
	};
	const end = () => {
		met();
		forget?.();
	};
	return { signal: controller.signal, timedOut: () => timer.aborted, abort, met, restart, end };
}

/** Resolves to what is awaited, or to undefined if the signal aborts first. */
export async function unlessAborted<T>(
	signal: AbortSignal,
	awaited: T,
): Promise<Awaited<T> | undefined> {
	let forget = () => {};
	const aborted = new Promise<undefined>((resolve) => {
		forget = onAbort(signal, () => resolve(undefined));
	});
	try {
		return await Promise.race([awaited, aborted]);
	} finally {
		forget();
	}
}
