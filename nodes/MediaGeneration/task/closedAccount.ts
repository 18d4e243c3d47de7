/**
 * An account that has refused a creation, for as long as anybody waits because of it:
 *
 * | The last refusal                 | Sent without asking  | Who asks, one at a time                                            |
 * |----------------------------------|----------------------|--------------------------------------------------------------------|
 * | one kind, voice or model is full | all other queues     | the first of that queue                                            |
 * | two of them are, or any request  | nobody               | the first; right after a refusal the first whose queue is not full |
 *
 * They ask after a pause, which doubles with each refused question, and before that once for each task of this process that ends.
 *
 * For example, A, B and C have different voices:
 *
 * 1. At 0 s, A is refused as full, and is to ask at 2 s. At 1 s, B comes, and is sent without asking, because its voice is another one.
 * 2. B is refused as full too, so nobody is sent without asking now, and the pause begins anew. C comes: at 3 s it asks before A, because
 *    only its voice is not known to be full.
 * 3. C is refused as full too, and no voice is left: the pause doubles, and at 7 s A asks, who has waited longest. If it is accepted, B
 *    asks at once, then C.
 */
import type { Creation, Refusal } from '../answers/creation';
import { MAX_RETRY_AFTER_MS } from '../base/bounds';
import type { Account } from '../transport/account';

const PAUSE_MS = { first: 2_000, longest: 15_000 };

/** Returns whether an answer closes an account. */
export const closes = (creation: Creation): creation is Refusal =>
	creation.kind === 'full' || creation.kind === 'limited';

export class ClosedAccount {
	/** Queues that were refused as full, as long as anybody waits in them. */
	readonly full = new Set<string>();
	private wasRefused = true;
	/** How many ended tasks have left a slot that was asked for. */
	private endsUsed: number;
	private pauseMs = PAUSE_MS.first;
	/** Epoch ms. */
	private pauseEnd = 0;

	constructor(
		private readonly account: Account,
		/** The last one that closed it. */
		public refusal: Refusal,
	) {
		this.endsUsed = account.made.ends;
	}

	/** Returns whether creations of a queue are sent without asking. */
	isOpenTo(queue: string): boolean {
		return this.refusal.kind === 'full' && this.full.size < 2 && !this.full.has(queue);
	}

	nextOf<Waiting extends { queue: string }>(waiting: readonly Waiting[]): Waiting | undefined {
		const other = waiting.find(({ queue }) => this.wasRefused && !this.full.has(queue));
		return other ?? waiting[0];
	}

	private get hasFreeSlot(): boolean {
		return this.account.made.ends > this.endsUsed;
	}

	/** Epoch ms from which the next one may ask. */
	get asksAt(): number {
		return this.hasFreeSlot && !this.refusal.retryAfterMs ? 0 : this.pauseEnd;
	}

	/** @param hasAsked whether it was sent although its queue is closed */
	answered(
		creation: Creation,
		queue: string,
		{ hasAsked, nowMs }: { hasAsked: boolean; nowMs: number },
	): void {
		// One that is refused for itself leaves the free slot to the next.
		if (hasAsked && creation.kind !== 'refused' && creation.kind !== 'retry') {
			if (this.hasFreeSlot) this.endsUsed += 1;
			// Another process has ended a task, and may soon end the next one. The refusal that follows doubles the pause.
			else if (creation.kind === 'created') this.pauseMs = PAUSE_MS.first / 2;
		}
		this.wasRefused = closes(creation);
		if (!closes(creation)) return;
		this.refusal = creation;
		if (creation.kind === 'full') this.full.add(queue);
		if (hasAsked) this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS.longest);
		// Years must not close the account for everybody, and 0 s must not lead to a tight loop.
		const askedMs = Math.min(creation.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
		this.pauseEnd = nowMs + (askedMs || this.pauseMs);
	}
}
