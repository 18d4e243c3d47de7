/**
 * What this run has paid for already. n8n's Retry On Fail calls execute() again in the same execution; the ledger, kept
 * in the node's context, survives between the tries, so that a task is taken up again instead of being created anew.
 * Rules: a task that ended in `error` is forgotten (and so made anew); an `unknown` creation is never sent again in the
 * same execution; a loop that runs the node again has another run index and creates again.
 */
import { createHash } from 'crypto';
import type { CreationRequest } from '../operations/operation';
import type { Failure } from '../service/failures';
import { type JsonObject, asText, isObject } from '../service/json';
import type { Created } from './submit';

/** The node's context: plain data that n8n saves with the execution. */
export type LedgerStore = Record<string, unknown>;

const FIELD = 'createdTasks';

export interface RunIdentity {
	executionId: string;
	runIndex: number;
	baseUrl: string;
}

export class Ledger {
	private readonly hashes = new WeakMap<CreationRequest, string>();

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

	private keyOf(itemIndex: number, request: CreationRequest): string {
		let hash = this.hashes.get(request);
		if (hash === undefined) {
			hash = this.hashOf(request);
			this.hashes.set(request, hash);
		}
		return `${this.run.runIndex}:${itemIndex}:${hash}`;
	}

	private hashOf(request: CreationRequest): string {
		// The resume URL's token differs between executions, not between tries; it is no part of what was asked for.
		const { receive_url: _ignored, ...body } = request.body;
		return createHash('sha256')
			.update(JSON.stringify([this.run.baseUrl, request.path, request.qs ?? null, body]))
			.digest('hex')
			.slice(0, 32);
	}

	/** The task that an earlier try created for this item and request. */
	created(itemIndex: number, request: CreationRequest): Created | undefined {
		const entry = this.entries()[this.keyOf(itemIndex, request)];
		if (!isObject(entry)) return undefined;
		const taskId = asText(entry.taskId);
		if (taskId === undefined || typeof entry.createdAt !== 'number') return undefined;
		return {
			taskId,
			createdAt: entry.createdAt,
			answer: isObject(entry.answer) ? entry.answer : { task_id: taskId },
		};
	}

	/** The unclear end of an earlier try in this execution. */
	unknown(itemIndex: number, request: CreationRequest): Failure | undefined {
		const entry = this.entries()[this.keyOf(itemIndex, request)];
		if (!isObject(entry) || entry.unknownIn !== this.run.executionId || !isObject(entry.failure))
			return undefined;
		return entry.failure as unknown as Failure;
	}

	noteCreated(
		itemIndex: number,
		request: CreationRequest,
		{ taskId, createdAt, answer }: Created,
	): void {
		this.entries()[this.keyOf(itemIndex, request)] = { taskId, createdAt, answer };
	}

	noteUnknown(itemIndex: number, request: CreationRequest, failure: Failure): void {
		this.entries()[this.keyOf(itemIndex, request)] = {
			unknownIn: this.run.executionId,
			failure: { ...failure },
		};
	}

	forget(itemIndex: number, request: CreationRequest): void {
		delete this.entries()[this.keyOf(itemIndex, request)];
	}
}
