/**
 * The line of an account, shared by all runs of this process: first come, first served, at most ten creations under way. Once the account
 * is full, one asks at a time: one for each task of this process that ends, and one after a pause, because other processes end tasks, too.
 * Whoever is refused goes to the end of the line.
 */
import type { Account } from '../transport/account';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { MAX_RETRY_AFTER_MS } from '../base/bounds';
import { ABORTED, OncePerMinute, type Clock } from '../base/clock';
import { seconds } from '../base/words';
import type { Creation, Refusal } from '../answers/creation';
import type { CreationRequest } from '../answers/request';

/** How long a creation may wait, over all its tries. */
export interface CreationLimits {
	/** Epoch ms until which refusals that created nothing are retried. */
	deadline: number;
	/** Whether the deadline also bounds the wait for a full account; else that wait does not count. */
	boundsFull: boolean;
}

/** A creation, over all its tries. */
export interface Place extends CreationLimits {
	/** Names its kind, voice and model: each can be full by itself. */
	readonly queue: string;
	/** Epoch ms. */
	readonly since: number;
	/** How long it waited for a full account. */
	fullMs: number;
	/** What it waited for last. */
	refusal?: Refusal | undefined;
	/** Aborts when it must check again whether it may be sent. */
	woken: AbortController;
}

/** @param request whose kind, voice and model name its queue */
export function placeOf(request: CreationRequest, limits: CreationLimits, since: number): Place {
	const { kind, pathFields, body } = request;
	const queue = JSON.stringify([kind, pathFields?.voice_id ?? body.voice_id, body.model_id]);
	return { ...limits, queue, since, fullMs: 0, woken: new AbortController() };
}

/** The pause doubles with each refused question. */
const PAUSE_MS = { first: 2_000, longest: 15_000 };
const MOST_UNDER_WAY = 10;
/** How long a full account is waited for, where the Timeout does not bound that. */
const LONGEST_MS = 3_600_000;

export class FullAccount {
	private readonly line: Place[] = [];
	private readonly underWay = new Set<Place>();
	/** Sent to what is full. */
	private asking: Place | undefined;
	/** The last refusal, while anyone waits because of it. */
	private refusal: Refusal | undefined;
	/** Queues that were refused. One that is full holds up no other. Once two are, the account is. */
	private readonly full = new Set<string>();
	private wasRefused = false;
	/** Finished tasks whose free slot has already been used. */
	private endsUsed = 0;
	private pauseMs = 0;
	/** Epoch ms at which the pause ends, and the one that the service asked for. */
	private pauseEnd = 0;
	private askedEnd = 0;
	private readonly report = new OncePerMinute();

	constructor(private readonly account: Account) {}

	/** Waits until the creation may be sent; false if its time runs out or the signal aborts. */
	async turn(place: Place, clock: Clock, signal: AbortSignal): Promise<boolean> {
		this.line.push(place);
		let isSent: boolean | undefined;
		while (isSent === undefined)
			isSent = signal.aborted ? false : await this.step(place, clock, signal);
		if (isSent && !this.isOpen(place)) this.asking = place;
		if (isSent) this.underWay.add(place);
		this.line.splice(this.line.indexOf(place), 1);
		this.wakeNext();
		return isSent;
	}

	/** Waits until something changes. @returns whether the creation may be sent, once that is decided */
	private async step(
		place: Place,
		{ now, sleep }: Clock,
		signal: AbortSignal,
	): Promise<boolean | undefined> {
		const since = now();
		place.refusal = this.refusal ?? place.refusal;
		const isFull = this.refusal?.kind === 'full';
		const isApart = isFull && !place.boundsFull;
		const end = isApart ? since + LONGEST_MS - place.fullMs : place.deadline;
		if (Math.max(since, this.account.pausedUntil('create')) >= end) return false;
		const opensAt = this.opensAt(place);
		if (opensAt <= since) return true;
		place.woken = new AbortController();
		const wakers = [signal, place.woken.signal];
		if (opensAt < Infinity) wakers.push(this.account.nextEnd.signal);
		await sleep(Math.min(opensAt, end) - since, AbortSignal.any(wakers));
		const waitedMs = now() - since;
		if (isFull) place.fullMs += waitedMs;
		if (isApart) place.deadline += waitedMs;
		return undefined;
	}

	private readonly isOpen = ({ queue }: Place): boolean =>
		this.refusal === undefined ||
		(this.refusal.kind === 'full' && this.full.size < 2 && !this.full.has(queue));

	/** After a refusal, one of a queue that was not refused. Else the first one, so that a full queue is asked about, too. */
	private get nextToAsk(): Place | undefined {
		const closed = this.line.filter((place) => !this.isOpen(place));
		const other = closed.find(({ queue }) => this.wasRefused && !this.full.has(queue));
		return other ?? closed[0];
	}

	/** Epoch ms from which one may be sent; Infinity until something changes. */
	private opensAt(place: Place): number {
		const pausedUntil = this.account.pausedUntil('create');
		if (this.isOpen(place)) {
			const isNext = this.line.find(this.isOpen) === place;
			return isNext && this.underWay.size < MOST_UNDER_WAY ? pausedUntil : Infinity;
		}
		if (this.asking !== undefined || this.nextToAsk !== place) return Infinity;
		const hasRoom = this.account.ends > this.endsUsed;
		return Math.max(hasRoom ? this.askedEnd : this.pauseEnd, pausedUntil);
	}

	private wakeNext(): void {
		this.line.find(this.isOpen)?.woken.abort(ABORTED);
		this.nextToAsk?.woken.abort(ABORTED);
	}

	/** Ends a turn according to the service's answer. */
	answered(place: Place, creation: Creation, nowMs: number): void {
		const hasAsked = this.asking === place;
		// A creation rejected for another reason does not use up the free slot.
		if (hasAsked && creation.kind !== 'failed' && creation.kind !== 'retry') {
			const isByPause = this.endsUsed === this.account.ends;
			// Other processes end tasks, too, and may soon end the next one. The refusal that follows doubles the pause.
			if (isByPause && creation.kind === 'created') this.pauseMs = PAUSE_MS.first / 2;
			this.endsUsed = Math.min(this.endsUsed + 1, this.account.ends);
		}
		this.wasRefused = creation.kind === 'full' || creation.kind === 'limited';
		if (creation.kind === 'full' || creation.kind === 'limited') {
			if (hasAsked) this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS.longest);
			this.close(creation, place.queue, nowMs);
		}
		this.end(place);
	}

	private close(refusal: Refusal, queue: string, nowMs: number): void {
		const before = this.refusal;
		if (before === undefined) [this.endsUsed, this.pauseMs] = [this.account.ends, PAUSE_MS.first];
		// One that is far too long must not close the account for everybody, and one of 0 s must not lead to a tight loop.
		const askedMs = Math.min(refusal.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
		this.askedEnd = nowMs + askedMs;
		this.pauseEnd = nowMs + (askedMs || this.pauseMs);
		this.refusal = refusal;
		if (refusal.kind === 'full') this.full.add(queue);
		// How long each of them may wait depends on the kind.
		if (before?.kind !== refusal.kind) for (const { woken } of this.line) woken.abort(ABORTED);
	}

	private end(place: Place): void {
		this.underWay.delete(place);
		if (this.asking === place) this.asking = undefined;
		this.wakeNext();
	}

	/** Whoever got a turn leaves in the end, whatever became of it. */
	leave(place: Place): void {
		for (const queue of this.full)
			if (!this.line.some((waiting) => waiting.queue === queue)) this.full.delete(queue);
		if (this.line.length === 0) this.refusal = undefined;
		this.end(place);
	}

	/** Returns the log line that is due once a minute while the account is full. @param place that was refused */
	logLine(place: Place, nowMs: number): string | undefined {
		if (!this.report.isDue(nowMs)) return undefined;
		const first = this.line.reduce((least, { since }) => Math.min(least, since), place.since);
		const many = this.line.length + 1;
		const why =
			this.refusal?.kind === 'limited' ? 'the service limits requests' : 'the account is full';
		return `${why}; creations that wait: ${many}, the oldest for ${seconds(nowMs - first)}`;
	}
}

const lines = new BoundedMap<Account, FullAccount>();

export const fullAccountOf = (account: Account): FullAccount =>
	getOrCreate(lines, account, () => new FullAccount(account));
