/**
 * The line before an account that accepts no more tasks at the moment (429, active-task limit), shared by all runs in this
 * process. Only the first in line asks again by time; the others wait until a task of this process ends or somebody found
 * room. So a full account is asked in vain about once for every place that gets free, however many creations wait.
 */
import type { Failure } from './errors';

/** Why somebody asks: its pause is over, a task of this process ended, or another one found room and there may be more. */
export type Turn = 'time' | 'ended' | 'room';

interface Waiter {
	/** Order of arrival: who was refused again gets its old place back. */
	place: number;
	/** Aborts when something changed: its turn has come, or it is the first now. */
	woken: AbortController;
	turn: Turn;
}

export interface RoomDeps {
	now: () => number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** Aborts when the execution is stopped. */
	signal?: AbortSignal;
}

/** Whoever is first in line asks after a quarter of the time since there was room last, within these bounds, in ms. */
const SHARE_OF_WAIT = 0.25;
const MIN_PAUSE_MS = 400;
const MAX_PAUSE_MS = 5_000;

export class Room {
	/** Oldest first. */
	private readonly line: Waiter[] = [];
	private places = 0;
	/** Epoch ms: when a task was created last, or the line began. */
	private roomAt: number | undefined;
	/** Why the service refused last. */
	refusal: Failure | undefined;

	/** Whether somebody waits already: who comes now waits behind them instead of asking in vain. */
	get full(): boolean {
		return this.line.length > 0;
	}

	/** A place in line, to be kept for all tries of one creation. */
	newPlace(): number {
		return (this.places += 1);
	}

	/** A task was created: there was room. */
	noteRoom(nowMs: number): void {
		this.roomAt = nowMs;
	}

	/** Often while places get free often, as with short tasks, and seldom while they don't. */
	private pauseMs(nowMs: number): number {
		this.roomAt ??= nowMs;
		return Math.min(Math.max((nowMs - this.roomAt) * SHARE_OF_WAIT, MIN_PAUSE_MS), MAX_PAUSE_MS);
	}

	/**
	 * Waits for a turn to ask. Resolves some time after it became the first in line (`ms` if the service named it), at once when
	 * there may be room, at the deadline (epoch ms), and when the signal aborts. Never rejects.
	 *
	 * @returns why it may ask, to be handed to {@link pass} if the place is not taken after all
	 */
	async wait(
		place: number,
		{ now, sleep, signal }: RoomDeps,
		{ ms, deadline }: { ms?: number | undefined; deadline: number },
	): Promise<Turn> {
		const me: Waiter = { place, woken: new AbortController(), turn: 'time' };
		const later = this.line.findIndex((other) => other.place > place);
		this.line.splice(later < 0 ? this.line.length : later, 0, me);
		let asksAt = Infinity;
		while (me.turn === 'time' && signal?.aborted !== true) {
			const first = this.line[0] === me;
			if (!first) asksAt = Infinity;
			else if (asksAt === Infinity) asksAt = now() + (ms ?? this.pauseMs(now()));
			const until = Math.min(asksAt, deadline);
			if (now() >= until) break;
			me.woken = new AbortController();
			const { signal: woken } = me.woken;
			const either = signal === undefined ? woken : AbortSignal.any([signal, woken]);
			await sleep(until - now(), either);
		}
		this.leave(me);
		// Who may ask but won't lets the next one ask.
		if (me.turn !== 'time' && (signal?.aborted === true || now() >= deadline)) this.pass(me.turn);
		return me.turn;
	}

	/** There may be room now: the oldest that was not told yet may ask. */
	pass(turn: 'ended' | 'room'): void {
		const next = this.line.find((waiter) => waiter.turn === 'time');
		if (next === undefined) return;
		next.turn = turn;
		next.woken.abort('turn');
	}

	private leave(waiter: Waiter): void {
		const wasFirst = this.line[0] === waiter;
		const at = this.line.indexOf(waiter);
		if (at >= 0) this.line.splice(at, 1);
		if (wasFirst) this.line[0]?.woken.abort('first');
	}
}
