/** Tells the time and waits. Callers can pass a clock, so that tests run on a virtual one. */
import { getOrCreate } from './boundedMap';

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
	return await Promise.race([awaited, aborted]).finally(forget);
}

/** The pause doubles after each failure, from the first to the longest. */
interface Backoff {
	firstMs: number;
	maxMs: number;
	retryAfterMs?: number | undefined;
}

/**
 * Returns the pause before the next try. A Retry-After only makes it longer, because one of 0 s must not lead to a tight loop.
 * @param failures how many there were in a row, from 1
 * @param random in [0, 1); spreads callers that failed together, by a quarter to either side
 */
export function backoffMs(
	failures: number,
	{ firstMs, maxMs, retryAfterMs = 0 }: Backoff,
	random?: number,
): number {
	const own = Math.min(firstMs * 2 ** (failures - 1), maxMs) * (0.75 + (random ?? 0.5) / 2);
	// Spreads callers that were asked to wait for the same time.
	return retryAfterMs < own ? own : retryAfterMs + (random ?? 0) * 500;
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

/** Long work in pieces: whenever it yields, others may run. */
export type Work<T> = Generator<undefined, T>;
