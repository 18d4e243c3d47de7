/**
 * The queue before an account that accepts no more tasks at the moment (429, active-task limit), shared by all runs in this
 * process. Only the first in the queue asks again; when it gets in, the next one may ask at once, and so on until one is
 * refused. So a full account is asked in vain at most once in each pause, however many creations wait.
 */
import type { Clock } from './clock';
import type { Failure } from './failures';

interface Waiter {
	/** Order of arrival: a creation that was refused again gets its old position back. */
	position: number;
	/** Aborts when something changed: it may ask, it is first now, or the pause is shorter. */
	woken: AbortController;
	mayAsk: boolean;
}

export interface QueueDeps extends Clock {
	/** Aborts when the execution is stopped. */
	signal?: AbortSignal;
}

/** The pause after a refusal is a quarter of the time since the last task was created, within these bounds, in ms. */
const SHARE_OF_WAIT = 0.25;
const MIN_PAUSE_MS = 400;
const MAX_PAUSE_MS = 5_000;
/** Tasks that began together end together: with the first end comes one question for all of them. */
const GATHER_MS = 20;

export class CreationQueue {
	/** Oldest first. */
	private readonly waiters: Waiter[] = [];
	private positions = 0;
	/** Epoch ms: when the last task was created, or the queue began. */
	private createdAt: number | undefined;
	/** Epoch ms when the last creation was sent. */
	private askedAt = -Infinity;
	/** Epoch ms: when the first in the queue may ask. */
	private askAt = -Infinity;
	/** Whether a task of this process has ended since the last refusal. */
	private heardOfEnd = false;
	/** Whether the last task got its slot by such an end: then the next slots are most likely heard of, too. */
	private hearsOfSlots = false;
	/** Why the service refused last. */
	refusal: Failure | undefined;

	/** Whether a creation is waiting already: the next one waits behind it instead of asking in vain. */
	get full(): boolean {
		return this.waiters.length > 0;
	}

	/** A position in the queue, to be kept for all tries of one creation. */
	newPosition(): number {
		return (this.positions += 1);
	}

	/** A creation was refused because the account is full. `retryAfterMs` is what the service said of the pause. */
	refused(nowMs: number, failure: Failure, retryAfterMs?: number): void {
		this.refusal = failure;
		this.askedAt = nowMs;
		this.heardOfEnd = false;
		const pauseMs = this.pauseMs(nowMs);
		// "Come back in 0 s" does not allow asking in a tight loop.
		this.askAt =
			nowMs + (retryAfterMs === undefined ? pauseMs : Math.max(retryAfterMs, MIN_PAUSE_MS));
	}

	/** A task was created, so there may be capacity for more. */
	created(nowMs: number): void {
		this.createdAt = nowMs;
		this.hearsOfSlots = this.heardOfEnd;
		this.next();
	}

	/** The next one may ask at once: there may be capacity, or the one whose turn it was did not ask. */
	next(): void {
		const next = this.waiters.find(({ mayAsk }) => !mayAsk);
		if (next === undefined) return;
		next.mayAsk = true;
		next.woken.abort('woken');
	}

	/** A task of this process is over. Others may have taken its slot by now, so the shortest pause still applies. */
	ended(nowMs: number): void {
		this.heardOfEnd = true;
		const soon = nowMs + (this.hearsOfSlots ? GATHER_MS : 0);
		this.askAt = Math.min(this.askAt, Math.max(soon, this.askedAt + MIN_PAUSE_MS));
		this.waiters[0]?.woken.abort('woken');
	}

	/**
	 * Waits for a turn to ask: at the latest at the deadline (epoch ms), at once when the signal aborts. Never rejects.
	 * The caller then reports what came of it, by {@link refused}, {@link created} or {@link next}.
	 */
	async wait(position: number, { now, sleep, signal }: QueueDeps, deadline: number): Promise<void> {
		const me: Waiter = { position, woken: new AbortController(), mayAsk: false };
		const later = this.waiters.findIndex((other) => other.position > position);
		this.waiters.splice(later < 0 ? this.waiters.length : later, 0, me);
		while (!me.mayAsk && signal?.aborted !== true) {
			const until = Math.min(this.waiters[0] === me ? this.askAt : Infinity, deadline);
			if (now() >= until) break;
			me.woken = new AbortController();
			const { signal: woken } = me.woken;
			const either = signal === undefined ? woken : AbortSignal.any([signal, woken]);
			await sleep(until - now(), either);
		}
		const wasFirst = this.waiters[0] === me;
		this.waiters.splice(this.waiters.indexOf(me), 1);
		if (signal?.aborted === true || now() >= deadline) {
			if (me.mayAsk) this.next();
		} else {
			// One question at a time: until its answer is there, the others pause.
			this.askedAt = now();
			this.askAt = Math.max(this.askAt, now() + this.pauseMs(now()));
		}
		if (wasFirst) this.waiters[0]?.woken.abort('woken');
	}

	/**
	 * Short while slots often become free, as with short tasks, and longer while they don't. Where the ends of this process's own
	 * tasks free the slots, {@link ended} ends the pause: asking in between is only for what other processes leave. A creation that
	 * waits alone asks often all the same, as it may be the only one of this process, and near its deadline.
	 */
	private pauseMs(nowMs: number): number {
		this.createdAt ??= nowMs;
		if (this.hearsOfSlots && this.full) return MAX_PAUSE_MS;
		return Math.min(Math.max((nowMs - this.createdAt) * SHARE_OF_WAIT, MIN_PAUSE_MS), MAX_PAUSE_MS);
	}
}
