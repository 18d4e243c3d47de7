/**
 * The queue before an account, shared by all runs in this process. Only a few creations are on their way at once, so that one answer that
 * the account is full (429, active-task limit) spares all others the question. Once it is full, each task of this process that ends lets
 * one go; beyond that only the first in the queue asks, after a pause: slots may also come from other processes.
 */
import { BoundedMap, ensured } from '../base/boundedMap';
import { OncePerMinute, type Clock } from '../base/clock';
import { seconds, type Failure } from '../base/failures';

interface Waiter {
	position: number;
	/** Epoch ms. */
	since: number;
	/** Aborts when it may ask, or is first now. */
	woken: AbortController;
	mayAsk: boolean;
}

/**
 * The pause before a full account is asked without a freed slot: by how long the tasks of this process run, within these bounds in ms.
 * An empty slot costs the more the shorter tasks are, and each question that is refused costs a request.
 */
const FULL_PAUSE = { perTaskTime: 2.2, leastMs: 4_000, mostMs: 60_000 };
/** The share that the times of earlier tasks keep with each further one. */
const KEPT = 0.95;
/** While requests are limited, no task has to end: this pause grows with each such question that is refused. */
const LIMITED_PAUSE = { firstMs: 250, growth: 1.8, mostMs: 20_000 };
/** In ms. A process without tasks of its own can only guess when a slot is free. */
const MOST_WITHOUT_TASKS_MS = 5_000;
/** This many creations are under way at once, at first. */
const FIRST_WINDOW = 10;
/** The limit grows by this for each creation that is answered with a task. */
const WINDOW_GROWTH = 0.25;
/** An answer is waited for this long before another creation is sent: a slow service does not show its limit in time. */
const MAX_PATIENCE_MS = 3_000;

export interface QueueRefusal {
	failure: Failure;
	/** `full`: by tasks, which have to end first. `limited`: by requests. */
	kind: 'full' | 'limited';
	retryAfterMs?: number | undefined;
}

export class CreationQueue {
	/** Oldest first. */
	private readonly waiters: Waiter[] = [];
	private positions = 0;
	/** Maps a creation's position to when it first waited here, in epoch ms. */
	private readonly firstWaits = new BoundedMap<number, number>(1_000);
	/** Counts the questions without a freed slot that were refused one after another. */
	private missed = 0;
	/** Gives the mean time of this process's tasks: `ranMs` is their sum, counted until `countedAt` (epoch ms). */
	private tasks = { created: 0, ranMs: 0, countedAt: 0 };
	/** In epoch ms, when the first in the queue may ask without a freed slot. */
	private askAt = 0;
	/** Tasks of this process that ended since the last refusal left these slots, which no creation has taken yet. */
	private freeSlots = 0;
	/** Tasks that this process has created, and has not seen end. */
	private running = 0;
	/** True if the last question came without a freed slot, or because such a question found one. */
	private guessed = false;
	/** True from a refusal on, until a task is created with nobody waiting. */
	private isFull = false;
	private unanswered = 0;
	private refusals = 0;
	private readonly report = new OncePerMinute();
	private window = FIRST_WINDOW;
	refusal: QueueRefusal | undefined;

	get full(): boolean {
		return this.waiters.length > 0;
	}

	/** Tells whether a new creation may be sent at once. */
	get open(): boolean {
		return !this.full && this.unanswered < this.window;
	}

	/** A creation was sent. @returns to be called with its answer, before what it says is reported */
	sent(): () => void {
		this.unanswered += 1;
		return () => (this.unanswered -= 1);
	}

	/** One creation keeps its position for all its tries. */
	newPosition(): number {
		return (this.positions += 1);
	}

	/** A creation was refused because the account is full, or limited. */
	refused(nowMs: number, refusal: QueueRefusal): void {
		const { retryAfterMs } = refusal;
		this.refusal = refusal;
		this.refusals += 1;
		this.isFull = true;
		this.window = FIRST_WINDOW;
		this.freeSlots = 0;
		this.count(nowMs);
		if (this.guessed) this.missed += 1;
		this.guessed = false;
		// "Come back in 0 s" does not allow asking in a tight loop.
		this.askAt = nowMs + Math.max(retryAfterMs || this.pauseMs, LIMITED_PAUSE.firstMs);
	}

	private get pauseMs(): number {
		if (this.refusal?.kind === 'limited') {
			const { firstMs, growth, mostMs } = LIMITED_PAUSE;
			const longestMs = this.running === 0 ? MOST_WITHOUT_TASKS_MS : mostMs;
			return Math.min(firstMs * growth ** this.missed, longestMs);
		}
		if (this.running === 0) return MOST_WITHOUT_TASKS_MS;
		const { perTaskTime, leastMs, mostMs } = FULL_PAUSE;
		const { created, ranMs } = this.tasks;
		return Math.min(Math.max(leastMs, (perTaskTime * ranMs) / created), mostMs);
	}

	/** Adds the time that tasks have run since it was last counted. */
	private count(nowMs: number): void {
		const { tasks } = this;
		tasks.ranMs += this.running * (nowMs - tasks.countedAt);
		tasks.countedAt = nowMs;
	}

	/** Writes the line that the log gets once a minute while the account is full. */
	news(nowMs: number): string | undefined {
		if (this.refusals === 0 || !this.report.isDue(nowMs)) return undefined;
		const { refusals, waiters } = this;
		this.refusals = 0;
		const oldest = waiters.reduce((since, each) => Math.min(since, each.since), nowMs);
		const since = waiters.length === 0 ? '' : `, the oldest for ${seconds(nowMs - oldest)}`;
		return `Media Generation: the account is full; since the last line, requests refused: ${refusals}; creations that wait: ${waiters.length}${since}`;
	}

	/** A task was created. Where no end had freed its slot, there may be more of them: the next ones ask until one is refused. */
	created(nowMs: number): void {
		this.count(nowMs);
		this.running += 1;
		this.tasks.ranMs *= KEPT;
		this.tasks.created = this.tasks.created * KEPT + 1;
		if (this.guessed) {
			this.missed = 0;
			this.next();
			this.guessed = true;
		}
		if (!this.full) this.isFull = false;
		if (this.isFull) return;
		this.window += WINDOW_GROWTH;
		const granted = this.waiters.filter(({ mayAsk }) => mayAsk).length;
		const fits = this.window - this.unanswered - granted;
		for (let going = 0; going < fits; going += 1) this.next();
	}

	/** The next one may ask at once: there may be capacity, or the one whose turn it was did not ask. */
	next(): void {
		const next = this.waiters.find(({ mayAsk }) => !mayAsk);
		if (next === undefined) return;
		if (this.freeSlots > 0) this.freeSlots -= 1;
		next.mayAsk = true;
		this.guessed = false;
		next.woken.abort('woken');
	}

	/** A task of this process is over. */
	ended(): void {
		this.running = Math.max(0, this.running - 1);
		this.freeSlots += 1;
		this.next();
	}

	/**
	 * Waits for a turn to ask: at the latest at the deadline (epoch ms), at once when the signal aborts. Never rejects.
	 * The caller then reports what came of it, by {@link refused}, {@link created} or {@link next}.
	 */
	async wait(
		position: number,
		{ now, sleep, signal }: Clock & { signal?: AbortSignal },
		deadline: number,
	): Promise<void> {
		const since = ensured(this.firstWaits, position, now);
		const me: Waiter = { position, since, woken: new AbortController(), mayAsk: false };
		const later = this.waiters.findIndex((other) => other.position > position);
		this.waiters.splice(later < 0 ? this.waiters.length : later, 0, me);
		if (this.isFull && this.freeSlots > 0) this.next();
		const patientUntil = now() + Math.min(MAX_PATIENCE_MS, (deadline - now()) / 2);
		while (!me.mayAsk && signal?.aborted !== true) {
			const turn = this.waiters[0] === me ? this.askAt : Infinity;
			const until = this.isFull ? Math.min(turn, deadline) : patientUntil;
			if (now() >= until) break;
			me.woken = new AbortController();
			const { signal: woken } = me.woken;
			const either = signal === undefined ? woken : AbortSignal.any([signal, woken]);
			await sleep(until - now(), either);
		}
		this.waiters.splice(this.waiters.indexOf(me), 1);
		if (signal?.aborted === true || now() >= deadline) {
			if (me.mayAsk) this.next();
		} else if (!me.mayAsk && this.isFull) {
			// One such question at a time: until its answer is there, the others pause.
			this.guessed = true;
			this.askAt = now() + this.pauseMs;
		}
		this.waiters[0]?.woken.abort('woken');
	}
}
