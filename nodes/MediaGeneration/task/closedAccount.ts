/**
 * An account that has refused a creation, for as long as anybody waits because of it:
 *
 * | The service refused              | Sent without asking      | Ask, one at a time |
 * |----------------------------------|--------------------------|--------------------|
 * | one kind, voice or model as full | those of all other queues| that queue         |
 * | two of them, or any request      | nobody                   | everybody          |
 *
 * One asks for each task of this process that ends, and one after a pause, because other processes end tasks, too.
 */
import type { Creation, Refusal } from '../answers/creation';
import { MAX_RETRY_AFTER_MS } from '../base/bounds';
import type { Account } from '../transport/account';

/** The pause doubles with each refused question. */
const PAUSE_MS = { first: 2_000, longest: 15_000 };

export class ClosedAccount {
	/** Queues that were refused as full, as long as anybody waits in them. */
	readonly full = new Set<string>();
	private wasRefused = true;
	/** Finished tasks whose free slot has already been used. */
	private endsUsed: number;
	private pauseMs = PAUSE_MS.first;
	/** Epoch ms at which the pause ends, and the one that the service asked for. */
	private pauseEnd = 0;
	private askedEnd = 0;

	constructor(
		private readonly account: Account,
		/** The last one. */
		public refusal: Refusal,
	) {
		this.endsUsed = account.made.ends;
	}

	/** Returns whether creations of a queue are sent without asking. */
	isOpenTo(queue: string): boolean {
		return this.refusal.kind === 'full' && this.full.size < 2 && !this.full.has(queue);
	}

	/** After a refusal, one of a queue that was not refused. Else the first one, so that a full queue is asked about, too. */
	nextOf<Waiting extends { queue: string }>(waiting: readonly Waiting[]): Waiting | undefined {
		const other = waiting.find(({ queue }) => this.wasRefused && !this.full.has(queue));
		return other ?? waiting[0];
	}

	/** Epoch ms from which the next one may ask. */
	get asksAt(): number {
		return this.account.made.ends > this.endsUsed ? this.askedEnd : this.pauseEnd;
	}

	/** @param hasAsked whether it was sent although its queue is closed */
	answered(
		creation: Creation,
		queue: string,
		{ hasAsked, nowMs }: { hasAsked: boolean; nowMs: number },
	): void {
		// A creation rejected for another reason does not use up the free slot.
		if (hasAsked && creation.kind !== 'refused' && creation.kind !== 'retry') {
			const isByPause = this.endsUsed === this.account.made.ends;
			// Other processes end tasks, too, and may soon end the next one. The refusal that follows doubles the pause.
			if (isByPause && creation.kind === 'created') this.pauseMs = PAUSE_MS.first / 2;
			this.endsUsed = Math.min(this.endsUsed + 1, this.account.made.ends);
		}
		this.wasRefused = creation.kind === 'full' || creation.kind === 'limited';
		if (creation.kind !== 'full' && creation.kind !== 'limited') return;
		this.refusal = creation;
		if (creation.kind === 'full') this.full.add(queue);
		if (hasAsked) this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS.longest);
		// One that is far too long must not close the account for everybody, and one of 0 s must not lead to a tight loop.
		const askedMs = Math.min(creation.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
		this.askedEnd = nowMs + askedMs;
		this.pauseEnd = nowMs + (askedMs || this.pauseMs);
	}
}
