/**
 * The gate to an account, shared by all runs of this process. At most ten creations are under way at once. Once one is refused because the
 * account is full, first come is first served: one asks for each task of this process that ends, and one when a pause is over, as other
 * processes end tasks, too; the rest wait.
 */
import type { Account } from '../transport/account';
import { BoundedMap, ensured } from '../base/boundedMap';
import { OncePerMinute, type Clock } from '../base/clock';
import { seconds } from '../base/failures';
import type { Creation, Refusal } from './creation';

/** What a creation may wait for, over all its tries. */
export interface CreationLimits {
	/** Epoch ms until which refusals that created nothing are answered with another try. */
	deadline: number;
	/** Whether it bounds the wait for a full account, too; else that wait is apart from it. */
	boundsFull: boolean;
}

/** A creation's place in the line, kept for all its tries. */
export interface Place extends CreationLimits {
	readonly number: number;
	/** Epoch ms. */
	readonly since: number;
	/** How long it waited for a full account. */
	fullMs: number;
	/** Why the gate was closed when its time ran out. */
	refusal: Refusal | undefined;
	/** Aborts when it has to look again whether it may go. */
	woken: AbortController;
}

/** Why a creation may go: nothing was refused, a task of this process has ended, or the pause is over. */
type Turn = 'open' | 'slot' | 'probe';

const MOST_UNDER_WAY = 10;
/** A full account is waited for this long. */
const MAX_FULL_MS = 3_600_000;
/** The pause before a probe doubles with each one that is refused. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 15_000;

export class FullAccount {
	/** First come first. */
	private readonly line: Place[] = [];
	private places = 0;
	private underWay = 0;
	/** The last refusal, as long as somebody waits because of it. */
	refusal: Refusal | undefined;
	/** How many of the account's ended tasks have let a creation go, or count no more. */
	private slotsUsed = 0;
	private isProbing = false;
	private pauseMs = FIRST_PAUSE_MS;
	/** Epoch ms of the next probe. */
	private probeAt = 0;
	private refusals = 0;
	private readonly report = new OncePerMinute();

	constructor(private readonly account: Account) {}

	newPlace(limits: CreationLimits, since: number): Place {
		this.places += 1;
		const woken = new AbortController();
		return { ...limits, number: this.places, since, fullMs: 0, refusal: undefined, woken };
	}

	/** Waits for a turn, which ends with {@link answered}. Undefined where the time of the place has run out, or the signal aborts. */
	async turn(place: Place, clock: Clock, signal: AbortSignal): Promise<Turn | undefined> {
		const later = this.line.findIndex(({ number }) => number > place.number);
		this.line.splice(later < 0 ? this.line.length : later, 0, place);
		const turn = await this.waited(place, clock, signal);
		this.line.splice(this.line.indexOf(place), 1);
		if (turn === undefined && this.line.length + this.underWay === 0) this.refusal = undefined;
		this.wakeFirst();
		return turn;
	}

	private async waited(place: Place, { now, sleep }: Clock, signal: AbortSignal) {
		while (!signal.aborted) {
			const since = now();
			const isFull = this.refusal?.kind === 'full';
			const isApart = isFull && !place.boundsFull;
			const end = isApart ? since + MAX_FULL_MS - place.fullMs : place.deadline;
			if (Math.max(since, this.account.pausedUntil('create')) >= end) {
				place.refusal = this.refusal;
				return undefined;
			}
			const isFirst = this.line[0] === place;
			const opensAt = isFirst ? this.opensAt : Infinity;
			if (opensAt <= since) return this.take();
			place.woken = new AbortController();
			const wakers = [
				signal,
				place.woken.signal,
				...(isFirst ? [this.account.nextEnd.signal] : []),
			];
			await sleep(Math.min(opensAt, end) - since, AbortSignal.any(wakers));
			const waitedMs = now() - since;
			if (isFull) place.fullMs += waitedMs;
			if (isApart) place.deadline += waitedMs;
		}
		return undefined;
	}

	private get freeSlots(): number {
		return this.account.ends - this.slotsUsed;
	}

	/** Epoch ms from which the first in the line may go; Infinity until something happens. */
	private get opensAt(): number {
		if (this.underWay >= MOST_UNDER_WAY) return Infinity;
		const pausedUntil = this.account.pausedUntil('create');
		if (this.refusal === undefined || this.freeSlots > 0) return pausedUntil;
		return this.isProbing ? Infinity : Math.max(this.probeAt, pausedUntil);
	}

	private take(): Turn {
		this.underWay += 1;
		if (this.refusal === undefined) return 'open';
		if (this.freeSlots > 0) {
			this.slotsUsed += 1;
			return 'slot';
		}
		this.isProbing = true;
		return 'probe';
	}

	private wakeFirst(): void {
		this.line[0]?.woken.abort();
	}

	/** Ends a turn by what the service said; undefined where it broke. After a probe that found a slot the next one probes at once. */
	answered(turn: Turn, creation: Creation | undefined, nowMs: number): void {
		this.underWay -= 1;
		if (turn === 'probe') this.isProbing = false;
		if (creation?.kind === 'full' || creation?.kind === 'limited')
			this.close(turn, creation, nowMs);
		else {
			// What was refused for another reason leaves its slot to the next one.
			const isUnused = creation?.kind === 'failed' || creation?.kind === 'retry';
			if (turn === 'slot' && isUnused) this.slotsUsed -= 1;
			if (this.line.length === 0) this.refusal = undefined;
		}
		this.wakeFirst();
	}

	private close(turn: Turn, refusal: Refusal, nowMs: number): void {
		const before = this.refusal;
		if (before === undefined) [this.slotsUsed, this.pauseMs] = [this.account.ends, FIRST_PAUSE_MS];
		if (turn === 'probe') this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
		// "Come back in 0 s" does not allow asking in a tight loop.
		this.probeAt = nowMs + (refusal.retryAfterMs || this.pauseMs);
		this.refusal = refusal;
		this.refusals += 1;
		// How long each one may wait depends on the kind.
		if (before?.kind !== refusal.kind) for (const { woken } of this.line) woken.abort();
	}

	/** Writes the line that the log gets once a minute while the account is full. */
	news(nowMs: number): string | undefined {
		if (this.refusals === 0 || !this.report.isDue(nowMs)) return undefined;
		const { refusals, line } = this;
		this.refusals = 0;
		const since = line[0] && `, the oldest for ${seconds(nowMs - line[0].since)}`;
		return `the account is full; since the last line, requests refused: ${refusals}; creations that wait: ${line.length}${since ?? ''}`;
	}
}

const gates = new BoundedMap<Account, FullAccount>();

export const fullAccountOf = (account: Account): FullAccount =>
	ensured(gates, account, () => new FullAccount(account));
