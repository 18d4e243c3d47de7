/**
 * Notes in the node's context what this execution paid for, or may have paid for: further tries and n8n's Retry take it up instead of
 * creating it again. A loop runs the node with another run index, so it creates again.
 */
import { quietly } from '../n8n/log';
import { attempt, FailureError, type Failure } from '../base/outcomes';
import { getOrCreate } from '../base/boundedMap';
import type { UnrecordedRun } from '../n8n/retry';
import { withoutReceiveUrl, type Asked, type Created, type NodeRun, type Slot } from './identity';
import { readerOf, Unclaimed } from './unclaimed';
import {
	earlierIn,
	NOT_READ,
	openNotes,
	sentNow,
	soughtFor,
	toNote,
	UNANSWERED,
	type Earlier,
	type Entry,
	type LedgerNotes,
	type LedgerStore,
} from './entries';

interface LedgerOptions {
	/** The execution that this one repeats, if n8n may have been killed while it ran this node. */
	killed?: UnrecordedRun | undefined;
	/** Removes secrets from the notes, because workflows can read them. */
	clean?: <T>(value: T) => T;
}

export class Ledger {
	private readonly prefix: string;
	/** Undefined if any of it can't be read, because that part may stand for any task. */
	private opened: LedgerNotes | undefined;
	private readonly clean: <T>(value: T) => T;
	/** This run's own entries by slot. A slot has several if the user had an unclear creation sent again: the last one counts. */
	private readonly own = new Map<string, Entry[]>();
	private readonly unclaimed: Unclaimed;

	constructor(
		readonly store: LedgerStore,
		readonly run: NodeRun,
		{ killed, clean = (value) => value }: LedgerOptions = {},
	) {
		this.prefix = `${run.call?.id ?? run.runIndex}:`;
		this.clean = clean;
		const opened = attempt(() => openNotes(store, run, killed));
		this.opened = opened.ok ? opened.value : undefined;
		const { entries = [] } = this.opened ?? {};
		const isOwn = ({ execution, slot }: Entry) =>
			execution === run.executionId && slot.startsWith(this.prefix);
		for (const entry of entries.filter(isOwn)) this.ofSlot(entry.slot).push(entry);
		this.unclaimed = new Unclaimed(
			run,
			entries.filter((entry) => !isOwn(entry)),
		);
	}

	private get notes(): LedgerNotes {
		if (this.opened === undefined) throw new FailureError(NOT_READ);
		return this.opened;
	}

	private keyOf({ item, part }: Slot): string {
		return `${this.prefix}${item}:${part}`;
	}

	private ofSlot(key: string): Entry[] {
		return getOrCreate(this.own, key, () => []);
	}

	private newestOf(slot: Slot): Entry | undefined {
		return this.own.get(this.keyOf(slot))?.at(-1);
	}

	/**
	 * Takes over what others left, once and before anything is created. Within one execution the slot decides, because a text with `$now`
	 * differs in each try. n8n's Retry, before which the workflow may have changed, and a further call of an agent's tool take what an
	 * equal request left.
	 */
	takeUp({ slot, hash }: Asked): void {
		const taken = attempt(() => {
			const entry = this.newestOf(slot) === undefined ? this.unclaimed.take(hash) : undefined;
			if (entry === undefined) return;
			const { executionId: execution, call } = this.run;
			if (entry.execution !== execution) entry.isTakenUp = true;
			Object.assign(entry, { slot: this.keyOf(slot), usedBy: call?.id, execution });
			delete entry.handedOut;
			this.ofSlot(entry.slot).push(entry);
		});
		// One that could not be taken may stand for this request: nothing is created.
		if (!taken.ok) this.opened = undefined;
	}

	/** What is known of a request before it is sent. */
	earlierOf({ slot, request }: Asked): Earlier {
		try {
			const { unrecorded } = this.notes;
			const entry = this.newestOf(slot);
			if (entry !== undefined) return earlierIn(entry, request);
			return unrecorded === null ? { kind: 'nothing' } : soughtFor(unrecorded);
		} catch {
			return { kind: 'unread', failure: NOT_READ };
		}
	}

	/** Call this before sending: if n8n ends before the answer, this note is all that remains. If it throws, nothing may be sent. */
	sending({ slot, hash, request }: Asked, sentAt: number): void {
		const entry: Entry = {
			execution: this.run.executionId,
			slot: this.keyOf(slot),
			hash,
			...sentNow(sentAt),
			request: this.clean(withoutReceiveUrl(request)),
			usedBy: this.run.call?.id,
		};
		const { entries } = this.notes;
		entries.push(entry);
		// The store may wrap what it gets, and `forget` searches for what it gives back.
		this.ofSlot(entry.slot).push(entries.at(-1) ?? entry);
	}

	/** Never throws. If the note fails, the one from before sending stands for the task. */
	created(asked: Asked, { taskId, createdAt, answer }: Created): void {
		quietly(() => {
			// A task that was found may come from an execution that left no notes.
			if (this.newestOf(asked.slot) === undefined) this.sending(asked, createdAt);
			const entry = this.newestOf(asked.slot);
			if (entry === undefined) return;
			Object.assign(entry, { createdAt: toNote(createdAt), taskId });
			// n8n writes it whenever it saves the execution.
			if (JSON.stringify(answer).length <= 10_000) entry.answer = this.clean(answer);
			delete entry.request;
			delete entry.failure;
		});
	}

	/** Never throws. */
	unclear({ slot }: Asked, { failure, sentAt }: { failure: Failure; sentAt: number }): void {
		quietly(() => {
			const entry = this.newestOf(slot);
			if (entry === undefined) return;
			Object.assign(entry, { failure: this.clean({ ...failure }), ...sentNow(sentAt) });
		});
	}

	/** Drops the note of a creation that made nothing, or whose task failed. Never throws. */
	forget(slot: Slot): void {
		quietly(() => {
			const entry = this.own.get(this.keyOf(slot))?.pop();
			const { entries } = this.notes;
			const at = entry === undefined ? -1 : entries.lastIndexOf(entry);
			if (at >= 0) entries.splice(at, 1);
		});
	}

	/** Ends the run: the tasks of the items handed out belong to it alone, and the rest is free for a later call. */
	close(handedOut: ReadonlySet<number>): void {
		quietly(() => {
			for (const entry of [...this.own.values()].flat()) {
				delete entry.usedBy;
				if (handedOut.has(this.itemOf(entry))) entry.handedOut = readerOf(this.run);
			}
		});
	}

	private itemOf({ slot }: Entry): number {
		return parseInt(slot.slice(this.prefix.length), 10);
	}

	/** Returns the texts of the first try: each try would cut a text with `$now` differently, and parts of different cuts don't fit together. */
	firstTexts(item: number, texts: string[]): string[] {
		const { executionId: execution } = this.run;
		const first = attempt(() => {
			const { texts: all } = this.notes;
			const key = `${this.prefix}${item}`;
			if (all[key]?.execution !== execution) all[key] = { execution, texts };
			return all[key].texts.map(String);
		});
		return first.ok ? first.value : texts;
	}

	/** IDs of all tasks in the notes, also of other rounds of a loop. */
	get taskIds(): string[] {
		return this.opened?.entries.flatMap(({ taskId }) => taskId ?? []) ?? [];
	}

	/** What the tries of this execution made, as far as it can be read. Whatever ends a run has to name it. */
	get left() {
		const made: Array<{ item: number; taskId: string }> = [];
		const unclear: Array<{ item: number; failure: Failure }> = [];
		quietly(() => {
			for (const entry of [...this.own.values()].flat()) {
				const { taskId, failure = UNANSWERED } = entry;
				const item = this.itemOf(entry);
				if (taskId === undefined) unclear.push({ item, failure });
				else made.push({ item, taskId });
			}
		});
		return { made, unclear };
	}
}
