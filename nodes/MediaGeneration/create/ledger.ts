/**
 * What this execution has paid for already. n8n's Retry On Fail calls execute() again in the same execution; the ledger,
 * kept in the node's context, survives between the tries, so that a task is taken up again instead of being created again.
 *
 * - Within one execution, what counts is the item, not the text of its request: a text with `$now` or a random number differs
 *   in each try, and what was paid for in the first one is still what the item asked for.
 * - n8n's Retry of a failed execution is another execution with the same context. There the request has to be the same, as
 *   the workflow may have been changed in between.
 * - As a tool of an agent every try gets another run index, like every call of the tool. There a task belongs to its request
 *   until it was handed out: a try takes up what an earlier one left behind, and the next call makes a task of its own.
 * - A task that ended in `error` is forgotten (and so made again); an `unknown` creation is never sent again in the same
 *   execution; a loop that runs the node again has another run index and creates again.
 */
import { createHash } from 'crypto';
import type { CreationRequest } from '../operations/operation';
import type { Failure } from '../service/failures';
import { asText, isObject, type JsonObject } from '../service/json';
import type { Created } from './submit';

/** The node's context: plain data that n8n saves with the execution. */
export type LedgerStore = Record<string, unknown>;

const FIELD = 'createdTasks';
const TEXTS_FIELD = 'longTexts';

export interface NodeRun {
	executionId: string;
	runIndex: number;
	/** Whether the node runs as a tool of an agent. */
	asTool?: boolean;
}

/** What a ledger is about: a run, and the service that it pays. */
export interface RunIdentity extends NodeRun {
	baseUrl: string;
}

/** One task of a run: which item it is for, and which part of its text (0 where there is only one). */
export interface Slot {
	item: number;
	part: number;
}

/** What an earlier try left for a slot. */
export type Earlier =
	| { kind: 'created'; created: Created; receiveUrl: string | undefined }
	| { kind: 'unknown'; failure: Failure }
	| { kind: 'nothing' };

const NOTHING: Earlier = { kind: 'nothing' };

/** Entries that a run of this process is working on: another call of the same tool at the same moment leaves them alone. */
const inUse = new WeakSet<object>();

export class Ledger {
	private readonly hashes = new WeakMap<CreationRequest, string>();
	/** As a tool: the entry that a slot of this run has made or taken up. */
	private readonly mine = new Map<string, JsonObject>();

	constructor(
		private readonly store: LedgerStore,
		private readonly run: RunIdentity,
	) {}

	private entries(): JsonObject {
		const present = this.store[FIELD];
		if (isObject(present)) return present;
		const fresh: JsonObject = {};
		this.store[FIELD] = fresh;
		return fresh;
	}

	private hashOf(request: CreationRequest): string {
		const known = this.hashes.get(request);
		if (known !== undefined) return known;
		// The resume URL's token differs between executions, not between tries; it is not part of what was asked for.
		const { receive_url: _ignored, ...body } = request.body;
		const hash = createHash('sha256')
			.update(JSON.stringify([this.run.baseUrl, request.path, request.qs ?? null, body]))
			.digest('hex')
			.slice(0, 32);
		this.hashes.set(request, hash);
		return hash;
	}

	private keyOf({ item, part }: Slot): string {
		return `${this.run.runIndex}:${item}:${part}`;
	}

	private entryFor(slot: Slot, request: CreationRequest): JsonObject | undefined {
		const entry = this.entries()[this.keyOf(slot)];
		if (this.run.asTool === true)
			return this.mine.get(this.keyOf(slot)) ?? this.takeUp(slot, request, entry);
		if (!isObject(entry)) return undefined;
		const sameExecution = entry.execution === this.run.executionId;
		return sameExecution || entry.hash === this.hashOf(request) ? entry : undefined;
	}

	/**
	 * As a tool: what an earlier try of the call has made. Otherwise what another call has made for the same request and could not
	 * hand out; a task before what may have become one.
	 */
	private takeUp(slot: Slot, request: CreationRequest, own: unknown): JsonObject | undefined {
		const entries = this.entries();
		const hash = this.hashOf(request);
		const free = Object.entries(entries).filter((each): each is [string, JsonObject] =>
			this.isFree(each[1]),
		);
		const same = free.filter(([, entry]) => entry.hash === hash);
		const found =
			free.find(([, entry]) => entry === own) ??
			same.find(([, { taskId }]) => taskId !== undefined) ??
			same[0];
		if (found === undefined) return undefined;
		const [key, entry] = found;
		delete entries[key];
		entries[this.keyOf(slot)] = entry;
		this.take(slot, entry);
		return entry;
	}

	private isFree(entry: unknown): boolean {
		return (
			isObject(entry) &&
			entry.execution === this.run.executionId &&
			entry.delivered !== true &&
			!inUse.has(entry)
		);
	}

	private take(slot: Slot, entry: JsonObject): void {
		this.mine.set(this.keyOf(slot), entry);
		inUse.add(entry);
	}

	private note(slot: Slot, request: CreationRequest, fields: JsonObject): void {
		const entry = { execution: this.run.executionId, hash: this.hashOf(request), ...fields };
		this.entries()[this.keyOf(slot)] = entry;
		if (this.run.asTool === true) this.take(slot, entry);
	}

	/** What an earlier try left for this slot. */
	earlier(slot: Slot, request: CreationRequest): Earlier {
		const entry = this.entryFor(slot, request);
		if (entry === undefined) return NOTHING;
		if (isObject(entry.failure)) {
			return entry.execution === this.run.executionId
				? { kind: 'unknown', failure: entry.failure as unknown as Failure }
				: NOTHING;
		}
		const taskId = asText(entry.taskId);
		if (taskId === undefined || typeof entry.createdAt !== 'number') return NOTHING;
		// Taken up from a failed execution, it belongs to this one: what counts in its further tries is the item, too.
		entry.execution = this.run.executionId;
		const answer = isObject(entry.answer) ? entry.answer : { task_id: taskId };
		return {
			kind: 'created',
			created: { taskId, createdAt: entry.createdAt, answer },
			receiveUrl: asText(entry.receiveUrl),
		};
	}

	noteCreated(slot: Slot, request: CreationRequest, { taskId, createdAt, answer }: Created): void {
		const receiveUrl = asText(request.body.receive_url);
		this.note(slot, request, {
			taskId,
			createdAt,
			answer,
			...(receiveUrl === undefined ? {} : { receiveUrl: endpointOf(receiveUrl) }),
		});
	}

	noteUnknown(slot: Slot, request: CreationRequest, failure: Failure): void {
		this.note(slot, request, { failure: { ...failure } });
	}

	/**
	 * The texts that an item's long text was split into by its first try: a text with `$now` would be cut elsewhere by each
	 * try, and parts of different cuts don't fit together.
	 */
	firstTexts(item: number, texts: string[]): string[] {
		const present = this.store[TEXTS_FIELD];
		const all: JsonObject = isObject(present) ? present : {};
		const key = `${this.run.runIndex}:${item}`;
		const earlier = all[key];
		if (
			isObject(earlier) &&
			earlier.execution === this.run.executionId &&
			Array.isArray(earlier.texts)
		)
			return earlier.texts.map(String);
		this.store[TEXTS_FIELD] = { ...all, [key]: { execution: this.run.executionId, texts } };
		return texts;
	}

	/** A task that failed is of no further use: the next try makes a new one. */
	forget(slot: Slot): void {
		const key = this.keyOf(slot);
		delete this.entries()[key];
		this.mine.delete(key);
	}

	/** The run is over. As a tool: what was handed out is not for a later call, and the rest is free for the next try. */
	close(handedOut: (item: number) => boolean): void {
		for (const [key, entry] of this.mine) {
			if (handedOut(Number(key.split(':')[1]))) entry.delivered = true;
			inUse.delete(entry);
		}
	}
}

/** What earlier tries of a run leave to a later one, whatever its items ask for by now. */
export interface LeftBefore {
	/** Tasks that they have made and that did not fail. */
	taskIds: string[];
	/** Creations of which nothing is known, by item. */
	unclear: Array<{ item: number; failure: Failure }>;
}

/** @param runOf the run; read only where there is anything */
export function leftByEarlierTries(store: LedgerStore, runOf: () => NodeRun): LeftBefore {
	const left: LeftBefore = { taskIds: [], unclear: [] };
	const entries = store[FIELD];
	if (!isObject(entries) || Object.keys(entries).length === 0) return left;
	const { executionId, runIndex } = runOf();
	for (const [key, entry] of Object.entries(entries)) {
		if (!isObject(entry) || entry.execution !== executionId || !key.startsWith(`${runIndex}:`))
			continue;
		const taskId = asText(entry.taskId);
		if (taskId !== undefined) left.taskIds.push(taskId);
		if (isObject(entry.failure)) {
			const failure = entry.failure as unknown as Failure;
			left.unclear.push({ item: Number(key.split(':')[1]), failure });
		}
	}
	return left;
}

/** A receive URL without its query: enough to recognize it, and without any token. */
export function endpointOf(url: string): string {
	return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url;
}
