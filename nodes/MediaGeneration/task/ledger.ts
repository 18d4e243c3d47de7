/**
 * Keeps what this execution has paid for already in the node's context, across its tries: a task is taken up instead of being created
 * again. A loop that runs the node again has another run index, and creates again.
 */
import { createHash } from 'crypto';
import type { CreationRequest } from '../actions/operation';
import { quietly } from '../n8n/clean';
import { attempt, type Failure } from '../base/failures';
import { asNumber, asText, isObject, type JsonObject } from '../base/json';
import { identityOf, withoutReceiveUrl, type Created, type Sending } from './creation';
import {
	entriesIn,
	isEntry,
	newestFirst,
	NOT_READ,
	notedOf,
	type Entry,
	type LedgerStore,
} from './entries';

export interface AgentCall {
	/** Is the same for all tries of the call, and has no colon. */
	id: string;
	/** Identifies the agent and its run, which n8n's Retry repeats. */
	agent: string;
}

export interface NodeRun {
	executionId: string;
	runIndex: number;
	call?: AgentCall;
}

/** Tells which item a task of a run is for, and which part of its text (0 where there is only one). */
export interface Slot {
	item: number;
	part: number;
}

export interface Asked {
	slot: Slot;
	request: CreationRequest;
	/** Covers the request and the service. */
	hash: string;
}

export type Earlier =
	| { kind: 'created'; created: Created }
	/** Nothing is known of this creation, and it is not sent again. `sending` is what a search needs. */
	| { kind: 'unknown'; failure: Failure; sending: Sending | undefined }
	/** Another execution left this creation. It is sent again where the service's list does not have it. */
	| { kind: 'doubtful'; sending: Sending | undefined }
	/** Another execution may have sent this one, but was killed before its notes were saved. */
	| { kind: 'unsaid'; sending: Sending }
	| { kind: 'nothing' };

export function requestHash(baseUrl: string, request: CreationRequest): string {
	const identity = JSON.stringify([baseUrl, ...identityOf(request)]);
	return createHash('sha256').update(identity).digest('hex').slice(0, 32);
}

export class Ledger {
	private readonly prefix: string;
	/** Since then (epoch ms) an earlier execution may have sent what it did not note; undefined: it noted everything. */
	private unsaidSince: number | undefined;

	/** @param clean takes secrets out of what is noted, as workflows can read it */
	constructor(
		readonly store: LedgerStore,
		readonly run: NodeRun,
		private readonly clean: <T>(value: T) => T = (value) => value,
	) {
		this.prefix = `${run.call?.id ?? run.runIndex}:`;
	}

	private entries(): JsonObject {
		return entriesIn(this.store);
	}

	/** A try begins. @param since when the execution began that this one repeats, if n8n may have been killed while it ran this node */
	begin(since: number | undefined): void {
		this.unsaidSince = since;
		if (this.run.call !== undefined) return;
		quietly(() => {
			const entries = this.entries();
			const key = `${this.prefix}begun`;
			const { [key]: begun } = entries;
			// Every later execution has left notes. Items that none of them reached are still looked for.
			if (isObject(begun)) this.unsaidSince = asNumber(begun.unsaidSince);
			else entries[key] = { unsaidSince: since ?? null };
		});
	}

	private keyOf({ item, part }: Slot): string {
		return `${this.prefix}${item}:${part}`;
	}

	/**
	 * Within one execution the item counts, as a text with `$now` differs in each try. n8n's Retry is another execution, before which the
	 * workflow may have been changed: there the request counts.
	 */
	private entryFor(asked: Asked): Entry | undefined {
		const entries = this.entries();
		const key = this.keyOf(asked.slot);
		const own = entries[key];
		if (isObject(own) && own.over === true) return undefined;
		const isMeant = (entry: Entry) => this.isOfExecution(entry) || entry.hash === asked.hash;
		const meant = newestFirst(own, isMeant);
		if (meant !== undefined) return (entries[key] = meant);
		return this.run.call && this.adopt(asked, this.run.call.agent);
	}

	private isOfExecution({ execution }: JsonObject): boolean {
		return execution === this.run.executionId;
	}

	/**
	 * Takes over what another call could not hand out, or, as n8n's Retry runs the agent again with new calls, what an equal one has made: a
	 * task before what may have become one. It belongs to this call from now on.
	 */
	private adopt({ slot, hash }: Asked, agent: string): Entry | undefined {
		const entries = this.entries();
		const { executionId } = this.run;
		const isFree = (entry: Entry) =>
			this.isOfExecution(entry)
				? entry.delivered === false
				: entry.takenUpBy !== executionId && (entry.delivered !== true || entry.agent === agent);
		const free = Object.entries(entries).flatMap(([key, entry]) =>
			isEntry(entry) && entry.hash === hash && isFree(entry) ? [{ key, entry }] : [],
		);
		const taken = free.find(({ entry }) => entry.taskId !== undefined) ?? free[0];
		if (taken === undefined) return undefined;
		const { key, entry } = taken;
		delete entries[key];
		delete entry.delivered;
		// A creation that is only looked for stays with the execution that sent it.
		if (!this.isOfExecution(entry)) entry.takenUpBy = executionId;
		entries[this.keyOf(slot)] = entry;
		return entry;
	}

	private note({ slot, hash }: Asked, fields: JsonObject): void {
		const { executionId: execution, call } = this.run;
		const key = this.keyOf(slot);
		const { [key]: present } = this.entries();
		const isOwn = isObject(present) && this.isOfExecution(present);
		// The entry of another execution returns where this creation is refused, be its request the same or not.
		const before = isOwn ? present.before : present;
		this.entries()[key] = { execution, hash, agent: call?.agent, before, ...this.clean(fields) };
	}

	/** What can't be read may be paid for. */
	earlier(asked: Asked): Earlier {
		try {
			const entry = this.entryFor(asked);
			if (entry === undefined) return this.unsaid(asked);
			const { taskId, createdAt = 0, failure = NOT_READ, sending } = entry;
			if (taskId === undefined) {
				if (this.isOfExecution(entry)) return { kind: 'unknown', failure, sending };
				const isSettled = entry.lookedForBy === this.run.executionId;
				return isSettled ? { kind: 'nothing' } : { kind: 'doubtful', sending };
			}
			// The task now belongs to this execution, so that the item counts in its further tries as well.
			entry.execution = this.run.executionId;
			const answer = isObject(entry.answer) ? entry.answer : { task_id: taskId };
			const receiveUrl = asText(entry.receiveUrl);
			return { kind: 'created', created: { taskId, createdAt, answer, receiveUrl } };
		} catch {
			return { kind: 'unknown', failure: NOT_READ, sending: undefined };
		}
	}

	private unsaid({ slot, request }: Asked): Earlier {
		if (this.unsaidSince === undefined || this.entries()[this.keyOf(slot)] !== undefined)
			return { kind: 'nothing' };
		return { kind: 'unsaid', sending: { request, sentAt: this.unsaidSince } };
	}

	/** Never throws. Where the note is refused, the one from before the sending stands for the task. */
	noteCreated(asked: Asked, created: Created): void {
		quietly(() => this.note(asked, notedOf(created)));
	}

	/** Comes before the sending: should n8n end before the answer, this is all that is known. Where it throws, nothing may be sent. */
	noteSending(asked: Asked, { sentAt, failure }: { sentAt: number; failure?: Failure }): void {
		const sending = { request: withoutReceiveUrl(asked.request), sentAt };
		this.note(asked, { sending, failure: failure && { ...failure } });
	}

	/** Returns the texts of the first try: each try would cut a text with `$now` elsewhere, and parts of different cuts don't fit together. */
	firstTexts(item: number, texts: string[]): string[] {
		const key = `${this.prefix}${item}:texts`;
		const first = attempt(() => {
			const earlier = this.entries()[key];
			if (isObject(earlier) && this.isOfExecution(earlier) && Array.isArray(earlier.texts))
				return earlier.texts.map(String);
			this.entries()[key] = { execution: this.run.executionId, texts };
			return texts;
		});
		return first.ok ? first.value : texts;
	}

	/**
	 * A failed task is of no further use, so the next try makes a new one. The entry still shows that the item was reached. An unclear
	 * creation that this execution looked for before it sent the same request is looked for again by the next execution only.
	 */
	forget(slot: Slot): void {
		quietly(() => {
			const key = this.keyOf(slot);
			const entries = this.entries();
			const entry = entries[key];
			const { hash, before }: JsonObject = isObject(entry) ? entry : {};
			entries[key] = isObject(before) ? before : { over: true };
			if (isObject(before) && before.hash === hash) before.lookedForBy = this.run.executionId;
		});
	}

	/** Ends the run of a tool: what was handed out is not for a later call, and the rest is free for the next one. */
	close(handedOut: (item: number) => boolean): void {
		if (this.run.call === undefined) return;
		quietly(() => {
			for (const { item, entry } of this.ownEntries()) entry.delivered = handedOut(item);
		});
	}

	private ownEntries(): Array<{ item: number; entry: JsonObject }> {
		return Object.entries(this.entries()).flatMap(([key, entry]) =>
			isObject(entry) && this.isOfExecution(entry) && key.startsWith(this.prefix)
				? [{ item: parseInt(key.slice(this.prefix.length), 10), entry }]
				: [],
		);
	}

	/** Lists what the tries of this execution made, as far as it can be read: what ends a run has to name it. */
	get left() {
		const made: Array<{ item: number; taskId: string }> = [];
		const unclear: Array<{ item: number; failure: Failure }> = [];
		quietly(() => {
			for (const { item, entry } of this.ownEntries()) {
				const taskId = asText(entry.taskId);
				if (taskId !== undefined) made.push({ item, taskId });
				if (isObject(entry.failure))
					unclear.push({ item, failure: entry.failure as unknown as Failure });
			}
		});
		return { made, unclear };
	}
}
