/**
 * The gate to an account, shared by all runs of this process. At most ten creations are under way at once. Once one is refused because the
 * account is full, they go one by one, first come, first served: one for each task of this process that ends, and one when a pause is over,
 * as other processes end tasks, too. After one that found room by a pause the next one goes at once.
 */
import type { Account } from '../transport/account';
import { BoundedMap, ensured } from '../base/boundedMap';
import { ABORTED, OncePerMinute, type Clock } from '../base/clock';
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
	/** `goes`: sent while nothing was refused. `asks`: sent to a full account. `rests`: neither sent nor waiting. */
	state: 'waits' | 'goes' | 'asks' | 'rests';
	/** Epoch ms. */
	readonly since: number;
	/** How long it waited for a full account. */
	fullMs: number;
	/** Aborts when it has to look again whether it may go. */
	woken: AbortController;
}

/** The pause doubles with each one that asks and is refused. */
const PAUSE_MS = { first: 2_000, longest: 15_000 };

export class FullAccount {
	/** First come first. */
	private readonly line: Place[] = [];
	/** The last refusal, as long as somebody waits because of it. */
	refusal: Refusal | undefined;
	/** How many of the account's ended tasks have let a creation go, or count no more. */
	private endsUsed = 0;
	private pauseMs = PAUSE_MS.first;
	/** Epoch ms at which the pause is over. */
	private pauseEnd = 0;
	private readonly report = new OncePerMinute();

	constructor(private readonly account: Account) {}

	join(limits: CreationLimits, since: number): Place {
		const woken = new AbortController();
		const place: Place = { ...limits, state: 'rests', since, fullMs: 0, woken };
		this.line.push(place);
		return place;
	}

	leave(place: Place): void {
		this.line.splice(this.line.indexOf(place), 1);
		if (this.waiting.length === 0) this.refusal = undefined;
		this.wakeFirst();
	}

	/** Waits until the creation may be sent; false where its time has run out, or the signal aborts. */
	async turn(place: Place, { now, sleep }: Clock, signal: AbortSignal): Promise<boolean> {
		place.state = 'waits';
		while (!signal.aborted) {
			const since = now();
			const isFull = this.refusal?.kind === 'full';
			const isApart = isFull && !place.boundsFull;
			// A full account is waited for an hour.
			const end = isApart ? since + 3_600_000 - place.fullMs : place.deadline;
			if (Math.max(since, this.account.pausedUntil('create')) >= end) break;
			const isFirst = this.waiting[0] === place;
			const opensAt = isFirst ? this.opensAt : Infinity;
			if (opensAt <= since) {
				place.state = this.refusal === undefined ? 'goes' : 'asks';
				this.wakeFirst();
				return true;
			}
			place.woken = new AbortController();
			const wakers = [signal, place.woken.signal];
			if (isFirst) wakers.push(this.account.nextEnd.signal);
			await sleep(Math.min(opensAt, end) - since, AbortSignal.any(wakers));
			const waitedMs = now() - since;
			if (isFull) place.fullMs += waitedMs;
			if (isApart) place.deadline += waitedMs;
		}
		place.state = 'rests';
		return false;
	}

	private get waiting(): Place[] {
		return this.line.filter(({ state }) => state === 'waits');
	}

	/** Epoch ms from which the first one that waits may go; Infinity until something happens. */
	private get opensAt(): number {
		const pausedUntil = this.account.pausedUntil('create');
		const underWay = this.line.filter(({ state }) => state === 'goes' || state === 'asks');
		if (this.refusal === undefined) return underWay.length < 10 ? pausedUntil : Infinity;
		if (underWay.some(({ state }) => state === 'asks')) return Infinity;
		return this.account.ends > this.endsUsed ? pausedUntil : Math.max(this.pauseEnd, pausedUntil);
	}

	private wakeFirst(): void {
		this.waiting[0]?.woken.abort(ABORTED);
	}

	/** Ends a turn by what the service said. */
	answered(place: Place, creation: Creation, nowMs: number): void {
		const hasAsked = place.state === 'asks';
		place.state = 'rests';
		// What was refused for another reason leaves its room to the next one.
		if (hasAsked && creation.kind !== 'failed' && creation.kind !== 'retry')
			this.endsUsed = Math.min(this.endsUsed + 1, this.account.ends);
		if (creation.kind === 'full' || creation.kind === 'limited') {
			if (hasAsked) this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS.longest);
			this.close(creation, nowMs);
		}
		this.wakeFirst();
	}

	private close(refusal: Refusal, nowMs: number): void {
		const before = this.refusal;
		if (before === undefined) [this.endsUsed, this.pauseMs] = [this.account.ends, PAUSE_MS.first];
		// "Come back in 0 s" does not allow asking in a tight loop.
		this.pauseEnd = nowMs + (refusal.retryAfterMs || this.pauseMs);
		this.refusal = refusal;
		// How long each one may wait depends on the kind.
		if (before?.kind !== refusal.kind) for (const { woken } of this.line) woken.abort(ABORTED);
	}

	/** The line that the log gets once a minute while the account is full. */
	news(nowMs: number): string | undefined {
		const [first] = this.line;
		if (first === undefined || !this.report.isDue(nowMs)) return undefined;
		const since = seconds(nowMs - first.since);
		return `the account is full; creations that wait: ${this.line.length}, the oldest for ${since}`;
	}
}

const gates = new BoundedMap<Account, FullAccount>();

export const fullAccountOf = (account: Account): FullAccount =>
	ensured(gates, account, () => new FullAccount(account));
