/**
 * What this execution has paid for already, kept in the node's context across its tries: a task is taken up instead of being created
 * again. A loop that runs the node again has another run index, and creates again.
 */
import { createHash } from 'crypto';
import type { CreationRequest } from '../operations/operation';
import { quietly } from '../base/clean';
import { attempt, FailureError, type Failure } from '../base/failures';
import { asNumber, asText, isObject, type JsonObject } from '../base/json';
import { identityOf, withoutReceiveUrl, type Created, type Sending } from './creation';
import {
	entriesIn,
	isEntry,
	UNREADABLE_LEDGER,
	type LedgerEntry,
	type LedgerStore,
} from './entries';

export type { LedgerStore };

export interface AgentCall {
	/** The same for all tries of the call; without a colon. */
	id: string;
	/** Which agent in which of its runs: n8n's Retry repeats that run. */
	agent: string;
}

export interface NodeRun {
	executionId: string;
	runIndex: number;
	call?: AgentCall;
}

/** One task of a run: which item it is for, and which part of its text (0 where there is only one). */
export interface Slot {
	item: number;
	part: number;
}

export interface LedgerQuestion {
	slot: Slot;
	request: CreationRequest;
	/** Of the request and the service. */
	hash: string;
}

export type Earlier =
	| { kind: 'created'; created: Created }
	/** A creation of which nothing is known. It is not sent again; `sending`: what it can be looked for with. */
	| { kind: 'unknown'; failure: Failure; sending: Sending | undefined }
	/** One that another execution has left. It is sent again where the service's list does not have it. */
	| { kind: 'doubtful'; sending: Sending | undefined }
	/** The same of one that another execution may have sent, which n8n has not let say so. */
	| { kind: 'unsaid'; sending: Sending }
	| { kind: 'nothing' };

export function requestHash(baseUrl: string, request: CreationRequest): string {
	const identity = JSON.stringify([baseUrl, ...identityOf(request)]);
	return createHash('sha256').update(identity).digest('hex').slice(0, 32);
}

export class Ledger {
	private readonly prefix: string;
	/** Epoch ms since which an earlier execution may have sent what it has not noted; undefined: it has noted everything. */
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
			// Since then every execution has left its notes. What the killed one has sent is looked for until each item was come to.
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
	private entryFor(asked: LedgerQuestion): LedgerEntry | undefined {
		const own = this.entries()[this.keyOf(asked.slot)];
		if (isObject(own) && own.over === true) return undefined;
		if (own !== undefined && !isEntry(own)) throw new FailureError(UNREADABLE_LEDGER);
		if (own !== undefined && (this.isOfExecution(own) || own.hash === asked.hash)) return own;
		return this.run.call && this.takeUp(asked, this.run.call.agent);
	}

	private isOfExecution({ execution }: JsonObject): boolean {
		return execution === this.run.executionId;
	}

	/**
	 * What another call could not hand out, or, as n8n's Retry runs the agent again with new calls, what an equal one has made: a task
	 * before what may have become one. It belongs to this call from now on.
	 */
	private takeUp({ slot, hash }: LedgerQuestion, agent: string): LedgerEntry | undefined {
		const entries = this.entries();
		const { executionId } = this.run;
		const isFree = (entry: LedgerEntry) =>
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
		// Of a creation that is only looked for, the execution stays the one that has sent it.
		if (!this.isOfExecution(entry)) entry.takenUpBy = executionId;
		entries[this.keyOf(slot)] = entry;
		return entry;
	}

	private note({ slot, hash }: LedgerQuestion, fields: JsonObject): void {
		const { executionId: execution, call } = this.run;
		const key = this.keyOf(slot);
		const { [key]: present } = this.entries();
		const isSame = isObject(present) && (present.hash === hash || this.isOfExecution(present));
		// What another execution has asked for comes back where this creation is refused.
		const before = isSame ? present.before : present;
		this.entries()[key] = { execution, hash, agent: call?.agent, before, ...this.clean(fields) };
	}

	/** What can't be read may be paid for. */
	earlier(asked: LedgerQuestion): Earlier {
		try {
			const entry = this.entryFor(asked);
			if (entry === undefined) return this.unsaid(asked);
			const { taskId, createdAt = 0, failure = UNREADABLE_LEDGER, sending } = entry;
			if (taskId === undefined)
				return this.isOfExecution(entry)
					? { kind: 'unknown', failure, sending }
					: { kind: 'doubtful', sending };
			// Taken up from a failed execution, it belongs to this one: what counts in its further tries is the item, too.
			entry.execution = this.run.executionId;
			const answer = isObject(entry.answer) ? entry.answer : { task_id: taskId };
			const receiveUrl = asText(entry.receiveUrl);
			return { kind: 'created', created: { taskId, createdAt, answer, receiveUrl } };
		} catch {
			return { kind: 'unknown', failure: UNREADABLE_LEDGER, sending: undefined };
		}
	}

	private unsaid({ slot, request }: LedgerQuestion): Earlier {
		if (this.unsaidSince === undefined || this.entries()[this.keyOf(slot)] !== undefined)
			return { kind: 'nothing' };
		return { kind: 'unsaid', sending: { request, sentAt: this.unsaidSince } };
	}

	/** Never throws, as what follows a creation: what was noted before it was sent stands for a task whose note is refused. */
	noteCreated(asked: LedgerQuestion, { receiveUrl, ...created }: Created): void {
		const fields = { ...created, receiveUrl: receiveUrl && endpointOf(receiveUrl) };
		quietly(() => this.note(asked, fields));
	}

	/** Before a creation is sent: should n8n end before the answer comes, this is all that is known. Where it throws, nothing may be sent. */
	noteSending(
		asked: LedgerQuestion,
		{ sentAt, failure }: { sentAt: number; failure?: Failure },
	): void {
		const sending = { request: withoutReceiveUrl(asked.request), sentAt };
		this.note(asked, { sending, failure: failure && { ...failure } });
	}

	/** Those of the first try: a text with `$now` would be cut elsewhere by each try, and parts of different cuts don't fit together. */
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

	/** A task that failed is of no further use: the next try makes a new one. That the item was come to stays. */
	forget(slot: Slot): void {
		quietly(() => {
			const key = this.keyOf(slot);
			const entries = this.entries();
			const { [key]: entry } = entries;
			const before = isObject(entry) && isObject(entry.before) ? entry.before : undefined;
			entries[key] = before ?? { over: true };
		});
	}

	/** The run is over. As a tool: what was handed out is not for a later call, and the rest is free for the next one. */
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

	/** Of the tries of this execution, whatever can't be read of them: what ends a run has to say what it has made. */
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

/** A receive URL without its query: enough to recognize it, and without any token. */
export function endpointOf(url: string): string {
	return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url;
}
