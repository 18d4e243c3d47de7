/**
 * The line of an account, shared by all runs of this process: first come, first served, at most ten creations under way. Whoever is refused
 * goes to the end of the line. `closedAccount` decides who may be sent then, and when.
 */
import type { Account } from '../transport/account';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { ABORTED, onAbort } from '../base/abort';
import { OncePerMinute, type Clock } from '../base/clock';
import type { Creation, Refusal } from '../answers/creation';
import type { CreationRequest } from '../answers/request';
import { ClosedAccount, closes } from './closedAccount';

/** How long a creation may wait, over all its tries. */
export interface CreationLimits {
	/** Epoch ms until which refusals that created nothing are retried. */
	deadline: number;
	/** Whether the deadline also bounds the wait for a full account; else that wait does not count. */
	boundsFull: boolean;
}

/** A creation, over all its tries. */
export interface Place extends Readonly<CreationLimits> {
	/** Names its kind, voice and model: each can be full by itself. */
	readonly queue: string;
	/** How long it waited for a full account. */
	fullMs: number;
	/** What it waited for last. */
	refusal?: Refusal | undefined;
	/** Aborts when it must check again whether it may be sent. Missing until it waits. */
	woken?: AbortController;
}

/** @param request whose kind, voice and model name its queue */
export function placeOf(request: CreationRequest, limits: CreationLimits): Place {
	const { kind, pathFields, body } = request;
	const queue = JSON.stringify([kind, pathFields?.voice_id ?? body.voice_id, body.model_id]);
	return { ...limits, queue, fullMs: 0 };
}

/** Returns when its Timeout ends, in epoch ms. */
export const deadlineOf = ({ deadline, boundsFull, fullMs }: Place): number =>
	boundsFull ? deadline : deadline + fullMs;

const MAX_UNDER_WAY = 10;
/** How long a full account is waited for if the Timeout does not bound that. */
const LONGEST_MS = 3_600_000;

export class CreationLine {
	private readonly waiting: Place[] = [];
	private readonly underWay = new Set<Place>();
	/** The one that was sent although the account is closed to it. */
	private asking: Place | undefined;
	/** Undefined while nobody waits because of a refusal. */
	private closed: ClosedAccount | undefined;
	private readonly report = new OncePerMinute();

	constructor(private readonly account: Account) {}

	/** Waits until the creation may be sent; false if its time runs out or the signal aborts. */
	async turn(place: Place, clock: Clock, signal: AbortSignal): Promise<boolean> {
		const { now } = clock;
		const pausedMs = () => Math.max(0, this.account.pausedUntil('create') - now());
		this.waiting.push(place);
		let isSent = false;
		while (!isSent && !signal.aborted && this.msLeft(place, now()) > pausedMs()) {
			if (this.opensAt(place) > now()) await this.change(place, clock, signal);
			else isSent = true;
		}
		place.refusal = this.closed?.refusal ?? place.refusal;
		if (isSent && !this.isOpen(place)) this.asking = place;
		if (isSent) this.underWay.add(place);
		this.waiting.splice(this.waiting.indexOf(place), 1);
		this.wakeNext();
		return isSent;
	}

	/** Waits until something changes, or its time runs out. */
	private async change(place: Place, { now, sleep }: Clock, signal: AbortSignal): Promise<void> {
		const [since, { isFull }] = [now(), this];
		const opensAt = this.opensAt(place);
		const woken = new AbortController();
		place.woken = woken;
		const wake = () => woken.abort(ABORTED);
		// `AbortSignal.any` would take longer than the rest of a turn.
		const unheard = [onAbort(signal, wake)];
		if (opensAt < Infinity) unheard.push(onAbort(this.account.made.nextEnd, wake));
		await sleep(Math.min(opensAt - since, this.msLeft(place, since)), woken.signal);
		for (const stop of unheard) stop();
		if (isFull) place.fullMs += now() - since;
	}

	private get isFull(): boolean {
		return this.closed?.refusal.kind === 'full';
	}

	/** A full account is waited for apart from the Timeout. */
	private msLeft(place: Place, nowMs: number): number {
		const isApart = this.isFull && !place.boundsFull;
		return isApart ? LONGEST_MS - place.fullMs : deadlineOf(place) - nowMs;
	}

	private readonly isOpen = ({ queue }: Place): boolean => this.closed?.isOpenTo(queue) ?? true;

	private get nextToAsk(): Place | undefined {
		return this.closed?.nextOf(this.waiting.filter((place) => !this.isOpen(place)));
	}

	/** Epoch ms from which one may be sent; Infinity until something changes. */
	private opensAt(place: Place): number {
		const pausedUntil = this.account.pausedUntil('create');
		if (this.isOpen(place)) {
			const isNext = this.waiting.find(this.isOpen) === place;
			return isNext && this.underWay.size < MAX_UNDER_WAY ? pausedUntil : Infinity;
		}
		const asksNext = this.asking === undefined && this.nextToAsk === place;
		return asksNext ? Math.max(this.closed?.asksAt ?? 0, pausedUntil) : Infinity;
	}

	private wakeNext(): void {
		this.waiting.find(this.isOpen)?.woken?.abort(ABORTED);
		this.nextToAsk?.woken?.abort(ABORTED);
	}

	/** Ends a turn according to the service's answer. */
	answered(place: Place, creation: Creation, nowMs: number): void {
		const before = this.closed?.refusal.kind;
		if (closes(creation)) this.closed ??= new ClosedAccount(this.account, creation);
		// Nobody has asked an account that was open again when the refusal came.
		const hasAsked = before !== undefined && this.asking === place;
		this.closed?.answered(creation, place.queue, { hasAsked, nowMs });
		// How long each of them may wait depends on the kind.
		if (this.closed?.refusal.kind !== before)
			for (const { woken } of this.waiting) woken?.abort(ABORTED);
		this.end(place);
	}

	private end(place: Place): void {
		this.underWay.delete(place);
		if (this.asking === place) this.asking = undefined;
		this.wakeNext();
	}

	/** Whoever got a turn leaves in the end, whatever became of it. */
	leave(place: Place): void {
		for (const queue of this.closed?.full ?? [])
			if (!this.waiting.some((each) => each.queue === queue)) this.closed?.full.delete(queue);
		if (this.waiting.length === 0) this.closed = undefined;
		this.end(place);
	}

	/** Returns the log line that is due once a minute while creations are refused. */
	logLine(nowMs: number): string | undefined {
		if (!this.report.isDue(nowMs)) return undefined;
		const why = this.isFull ? 'the account is full' : 'the service limits requests';
		return `${why}; creations that wait: ${this.waiting.length + 1}`;
	}
}

const lines = new BoundedMap<Account, CreationLine>();

export const lineOf = (account: Account): CreationLine =>
	getOrCreate(lines, account, () => new CreationLine(account));
