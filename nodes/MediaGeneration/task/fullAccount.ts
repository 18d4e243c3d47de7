/**
 * The gate to an account, shared by all runs of this process. At most ten creations are under way at once. Once one is refused because the
 * account is full, they are sent one by one, first come, first served: one for each task of this process that ends, and one after a pause,
 * because other processes end tasks, too. If that one finds room, the next is sent at once, and the pause is short again.
 */
import type { Account } from '../transport/account';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { ABORTED, OncePerMinute, type Clock } from '../base/clock';
import { seconds } from '../base/words';
import type { Creation, Refusal } from '../answers/creation';

/** How long a creation may wait, over all its tries. */
export interface CreationLimits {
	/** Epoch ms until which refusals that created nothing are retried. */
	deadline: number;
	/** Whether the deadline also bounds the wait for a full account; else that wait does not count. */
	boundsFull: boolean;
}

/** A creation's place in the line, kept for all its tries. */
export interface Place extends CreationLimits {
	/** `sending`: nothing was refused. `probing`: sent to a full account. `idle`: neither sent nor waiting. */
	state: 'waiting' | 'sending' | 'probing' | 'idle';
	/** Epoch ms. */
	readonly since: number;
	/** How long it waited for a full account. */
	fullMs: number;
	/** Aborts when it must check again whether it may be sent. */
	woken: AbortController;
}

/** The pause doubles with each probe that is refused. */
const PAUSE_MS = { first: 2_000, longest: 15_000 };

export class FullAccount {
	/** In order of arrival. */
	private readonly line: Place[] = [];
	/** The last refusal, while anyone waits because of it. */
	refusal: Refusal | undefined;
	/** How many ends of the account's tasks have admitted a creation, or no longer count. */
	private endsUsed = 0;
	private pauseMs = PAUSE_MS.first;
	/** Epoch ms at which the pause ends. */
	private pauseEnd = 0;
	private readonly report = new OncePerMinute();

	constructor(private readonly account: Account) {}

	join(limits: CreationLimits, since: number): Place {
		const woken = new AbortController();
		const place: Place = { ...limits, state: 'idle', since, fullMs: 0, woken };
		this.line.push(place);
		return place;
	}

	leave(place: Place): void {
		this.line.splice(this.line.indexOf(place), 1);
		if (this.waiting.length === 0) this.refusal = undefined;
		this.wakeFirst();
	}

	/** Waits until the creation may be sent; false if its time runs out or the signal aborts. */
	async turn(place: Place, { now, sleep }: Clock, signal: AbortSignal): Promise<boolean> {
		place.state = 'waiting';
		while (!signal.aborted) {
			const since = now();
			const isFull = this.refusal?.kind === 'full';
			const isApart = isFull && !place.boundsFull;
			// The wait for a full account lasts an hour at most.
			const end = isApart ? since + 3_600_000 - place.fullMs : place.deadline;
			if (Math.max(since, this.account.pausedUntil('create')) >= end) break;
			const isFirst = this.waiting[0] === place;
			const opensAt = isFirst ? this.opensAt : Infinity;
			if (opensAt <= since) {
				place.state = this.refusal === undefined ? 'sending' : 'probing';
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
		place.state = 'idle';
		return false;
	}

	private get waiting(): Place[] {
		return this.line.filter(({ state }) => state === 'waiting');
	}

	/** Epoch ms from which the first one that waits may be sent; Infinity until something changes. */
	private get opensAt(): number {
		const pausedUntil = this.account.pausedUntil('create');
		const underWay = this.line.filter(({ state }) => state === 'sending' || state === 'probing');
		if (this.refusal === undefined) return underWay.length < 10 ? pausedUntil : Infinity;
		if (underWay.some(({ state }) => state === 'probing')) return Infinity;
		return this.account.ends > this.endsUsed ? pausedUntil : Math.max(this.pauseEnd, pausedUntil);
	}

	private wakeFirst(): void {
		this.waiting[0]?.woken.abort(ABORTED);
	}

	/** Ends a turn according to the service's answer. */
	answered(place: Place, creation: Creation, nowMs: number): void {
		const wasProbing = place.state === 'probing';
		place.state = 'idle';
		// A creation refused for another reason leaves its room to the next one.
		if (wasProbing && creation.kind !== 'failed' && creation.kind !== 'retry') {
			const isByPause = this.endsUsed === this.account.ends;
			// Other processes end tasks, too, and may soon end the next one. The refusal that follows doubles the pause.
			if (isByPause && creation.kind === 'created') this.pauseMs = PAUSE_MS.first / 2;
			this.endsUsed = Math.min(this.endsUsed + 1, this.account.ends);
		}
		if (creation.kind === 'full' || creation.kind === 'limited') {
			if (wasProbing) this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS.longest);
			this.close(creation, nowMs);
		}
		this.wakeFirst();
	}

	private close(refusal: Refusal, nowMs: number): void {
		const before = this.refusal;
		if (before === undefined) [this.endsUsed, this.pauseMs] = [this.account.ends, PAUSE_MS.first];
		// A Retry-After of 0 s must not lead to a tight loop.
		this.pauseEnd = nowMs + (refusal.retryAfterMs || this.pauseMs);
		this.refusal = refusal;
		// How long each of them may wait depends on the kind.
		if (before?.kind !== refusal.kind) for (const { woken } of this.line) woken.abort(ABORTED);
	}

	/** Returns the log line that is due once a minute while the account is full. */
	news(nowMs: number): string | undefined {
		const [first] = this.line;
		if (first === undefined || !this.report.isDue(nowMs)) return undefined;
		const since = seconds(nowMs - first.since);
		return `the account is full; creations that wait: ${this.line.length}, the oldest for ${since}`;
	}
}

const gates = new BoundedMap<Account, FullAccount>();

export const fullAccountOf = (account: Account): FullAccount =>
	getOrCreate(gates, account, () => new FullAccount(account));
