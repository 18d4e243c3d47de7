/**
 * What this execution has paid for already, kept in the node's context across its tries: a task is taken up instead of being created
 * again. A loop that runs the node again has another run index, and creates again.
 */
import { createHash } from 'crypto';
import type { CreationRequest } from '../operations/operation';
import { quietly } from '../service/clean';
import { attempt, FailureError, type Failure } from '../service/failures';
import { asText, isObject, type JsonObject } from '../service/json';
import { identityOf, withoutReceiveUrl, type Created, type Sending } from './creation';

/** The node's context: plain data that n8n saves with the execution. */
export type LedgerStore = Record<string, unknown>;

const FIELD = 'createdTasks';

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

export interface RunIdentity extends NodeRun {
	baseUrl: string;
}

/** One task of a run: which item it is for, and which part of its text (0 where there is only one). */
export interface Slot {
	item: number;
	part: number;
}

interface Entry extends JsonObject {
	hash: string;
	taskId?: string;
	createdAt?: number;
	sending?: Sending;
	failure?: Failure;
}

const UNREADABLE: Failure = {
	outcome: 'unknown',
	message: "What this node has noted in this execution can't be read; the task may exist",
	description:
		'So nothing was sent. Look for the task in the log of n8n or at the service. If there is none, run the workflow again as a new execution.',
};

export type Earlier =
	| { kind: 'created'; created: Created }
	/** A creation of which nothing is known. It is not sent again; `sending`: what it can be looked for with. */
	| { kind: 'unknown'; failure: Failure; sending: Sending | undefined }
	/** One that another execution has left. It is sent again where it can't be found. */
	| { kind: 'doubtful'; sending: Sending | undefined }
	| { kind: 'nothing' };

const prefixOf = ({ runIndex, call }: NodeRun) => `${call?.id ?? runIndex}:`;

export class Ledger {
	constructor(
		private readonly store: LedgerStore,
		private readonly run: RunIdentity,
	) {}

	private entries(): JsonObject {
		if (this.store[FIELD] === undefined) this.store[FIELD] = {};
		const present = this.store[FIELD];
		if (isObject(present)) return present;
		throw new FailureError(UNREADABLE);
	}

	/** Whether no try, of this execution or of one that it repeats, has left a creation of this run. */
	get isEmpty(): boolean {
		const prefix = prefixOf(this.run);
		const keys = attempt(() => Object.keys(this.entries()));
		return keys.ok && !keys.value.some((key) => key.startsWith(prefix) && !key.endsWith(':texts'));
	}

	private hashOf(request: CreationRequest): string {
		const identity = JSON.stringify([this.run.baseUrl, ...identityOf(request)]);
		return createHash('sha256').update(identity).digest('hex').slice(0, 32);
	}

	private keyOf({ item, part }: Slot): string {
		return `${prefixOf(this.run)}${item}:${part}`;
	}

	/**
	 * Within one execution the item counts, as a text with `$now` differs in each try. n8n's Retry is another execution, before which the
	 * workflow may have been changed: there the request counts.
	 */
	private entryFor(slot: Slot, request: CreationRequest): Entry | undefined {
		const own = this.entries()[this.keyOf(slot)];
		if (own !== undefined && !isEntry(own)) throw new FailureError(UNREADABLE);
		if (own !== undefined && (this.isOfExecution(own) || own.hash === this.hashOf(request)))
			return own;
		return this.run.call && this.takeUp(slot, request, this.run.call.agent);
	}

	private isOfExecution({ execution }: JsonObject): boolean {
		return execution === this.run.executionId;
	}

	/**
	 * What another call could not hand out, or, as n8n's Retry runs the agent again with new calls, what an equal one has made: a task
	 * before what may have become one. It belongs to this call from now on.
	 */
	private takeUp(slot: Slot, request: CreationRequest, agent: string): Entry | undefined {
		const entries = this.entries();
		const hash = this.hashOf(request);
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
		// Of a creation that is only looked for, the execution stays the one that has sent it.
		if (!this.isOfExecution(entry)) entry.takenUpBy = executionId;
		entries[this.keyOf(slot)] = entry;
		return entry;
	}

	private note(slot: Slot, request: CreationRequest, fields: JsonObject): void {
		const { executionId: execution, call } = this.run;
		const hash = this.hashOf(request);
		this.entries()[this.keyOf(slot)] = { execution, hash, agent: call?.agent, ...fields };
	}

	/** What can't be read may be paid for. */
	earlier(slot: Slot, request: CreationRequest): Earlier {
		const read = attempt(() => this.read(slot, request));
		return read.ok ? read.value : { kind: 'unknown', failure: UNREADABLE, sending: undefined };
	}

	private read(slot: Slot, request: CreationRequest): Earlier {
		const entry = this.entryFor(slot, request);
		if (entry === undefined) return { kind: 'nothing' };
		const { taskId, createdAt = 0, failure = UNREADABLE, sending } = entry;
		if (taskId === undefined)
			return this.isOfExecution(entry)
				? { kind: 'unknown', failure, sending }
				: { kind: 'doubtful', sending };
		// Taken up from a failed execution, it belongs to this one: what counts in its further tries is the item, too.
		entry.execution = this.run.executionId;
		const answer = isObject(entry.answer) ? entry.answer : { task_id: taskId };
		const receiveUrl = asText(entry.receiveUrl);
		return { kind: 'created', created: { taskId, createdAt, answer, receiveUrl } };
	}

	/** Never throws, as what follows a creation: what was noted before it was sent stands for a task whose note is refused. */
	noteCreated(slot: Slot, request: CreationRequest, { receiveUrl, ...created }: Created): void {
		const fields = { ...created, receiveUrl: receiveUrl && endpointOf(receiveUrl) };
		quietly(() => this.note(slot, request, fields));
	}

	/** Before a creation is sent: should n8n end before the answer comes, this is all that is known. Where it throws, nothing may be sent. */
	noteSending(slot: Slot, { request, sentAt }: Sending): void {
		this.note(slot, request, { sending: { request: withoutReceiveUrl(request), sentAt } });
	}

	noteUnknown(slot: Slot, request: CreationRequest, failure: Failure): void {
		quietly(() => {
			const present = this.entries()[this.keyOf(slot)];
			const sending = isObject(present) ? present.sending : undefined;
			this.note(slot, request, { failure: { ...failure }, sending });
		});
	}

	/** Those of the first try: a text with `$now` would be cut elsewhere by each try, and parts of different cuts don't fit together. */
	firstTexts(item: number, texts: string[]): string[] {
		const key = `${prefixOf(this.run)}${item}:texts`;
		const first = attempt(() => {
			const earlier = this.entries()[key];
			if (isObject(earlier) && this.isOfExecution(earlier) && Array.isArray(earlier.texts))
				return earlier.texts.map(String);
			this.entries()[key] = { execution: this.run.executionId, texts };
			return texts;
		});
		return first.ok ? first.value : texts;
	}

	/** A task that failed is of no further use: the next try makes a new one. That something was noted stays, as of a run that n8n has not killed. */
	forget(slot: Slot): void {
		quietly(() => {
			const entries = this.entries();
			delete entries[this.keyOf(slot)];
			entries[`${prefixOf(this.run)}forgotten`] = {};
		});
	}

	/** The run is over. As a tool: what was handed out is not for a later call, and the rest is free for the next one. */
	close(handedOut: (item: number) => boolean): void {
		if (this.run.call === undefined) return;
		quietly(() => {
			for (const { item, entry } of entriesOf(this.store, this.run))
				entry.delivered = handedOut(item);
		});
	}
}

function isEntry(value: unknown): value is Entry {
	if (!isObject(value) || typeof value.hash !== 'string') return false;
	const { taskId, createdAt, sending, failure } = value;
	if (taskId !== undefined) return typeof taskId === 'string' && typeof createdAt === 'number';
	const isSending =
		isObject(sending) && typeof sending.sentAt === 'number' && isObject(sending.request);
	return isSending || isObject(failure);
}

function entriesOf(store: LedgerStore, run: NodeRun): Array<{ item: number; entry: JsonObject }> {
	const prefix = prefixOf(run);
	return Object.entries(isObject(store[FIELD]) ? store[FIELD] : {}).flatMap(([key, entry]) =>
		isObject(entry) && entry.execution === run.executionId && key.startsWith(prefix)
			? [{ item: parseInt(key.slice(prefix.length), 10), entry }]
			: [],
	);
}

export interface LeftBefore {
	made: Array<{ item: number; taskId: string }>;
	unclear: Array<{ item: number; failure: Failure }>;
}

export function leftByEarlierTries(store: LedgerStore, run: NodeRun): LeftBefore {
	const left: LeftBefore = { made: [], unclear: [] };
	// What ends a run has to say what this try has made, whatever can't be read of the earlier ones.
	quietly(() => {
		for (const { item, entry } of entriesOf(store, run)) {
			const taskId = asText(entry.taskId);
			if (taskId !== undefined) left.made.push({ item, taskId });
			if (isObject(entry.failure))
				left.unclear.push({ item, failure: entry.failure as unknown as Failure });
		}
	});
	return left;
}

/** A receive URL without its query: enough to recognize it, and without any token. */
export function endpointOf(url: string): string {
	return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url;
}
