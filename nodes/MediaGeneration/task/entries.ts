/** Defines how the ledger is kept in the node's context: its format, and what may be read of it. */
import { FailureError, type Failure } from '../base/failures';
import { isObject, urlOf, type JsonObject } from '../base/json';
import type { Created, Sending } from './creation';

/** This is the node's context: plain data that n8n saves with the execution. */
export type LedgerStore = Record<string, unknown>;

const LEDGER_FIELD = 'createdTasks';
/** Raise this with any change of what is kept under {@link LEDGER_FIELD}. */
const LEDGER_FORMAT = 1;

export interface Entry extends JsonObject {
	hash: string;
	taskId?: string;
	createdAt?: number;
	sending?: Sending;
	failure?: Failure;
}

export const NOT_READ: Failure = {
	outcome: 'unknown',
	message: "What this node has noted in this execution can't be read; the task may exist",
	description:
		'So nothing was sent. Look for the task in the log of n8n or at the service. If there is none, run the workflow again as a new execution.',
};

/** Throws where another version of this node wrote the entries: they can mean anything, so they count as not read. */
export function entriesIn(store: LedgerStore): JsonObject {
	if (store[LEDGER_FIELD] === undefined)
		store[LEDGER_FIELD] = { format: LEDGER_FORMAT, entries: {} };
	const present = store[LEDGER_FIELD];
	if (isObject(present) && present.format === LEDGER_FORMAT && isObject(present.entries))
		return present.entries;
	throw new FailureError(NOT_READ);
}

/** A receive URL without its query: enough to recognize it, and without any token. */
export function endpointOf(url: string): string {
	const parsed = urlOf(url);
	return parsed === undefined ? url : parsed.origin + parsed.pathname;
}

/** What is kept of a creation is cleaned at once, and is in each save of the execution: of a large answer, the task's ID is enough. */
export function notedOf({ receiveUrl, answer, ...created }: Created): JsonObject {
	const isSmall = JSON.stringify(answer).length <= 10_000;
	const noted = { ...created, receiveUrl: receiveUrl && endpointOf(receiveUrl) };
	return isSmall ? { ...noted, answer } : noted;
}

export function isEntry(value: unknown): value is Entry {
	if (!isObject(value) || typeof value.hash !== 'string') return false;
	const { taskId, createdAt, sending, failure } = value;
	if (taskId !== undefined) return typeof taskId === 'string' && typeof createdAt === 'number';
	const isSending =
		isObject(sending) && typeof sending.sentAt === 'number' && isObject(sending.request);
	return isSending || isObject(failure);
}

/**
 * Finds the newest entry that is meant, of an entry and those of earlier executions behind it, and puts all the others behind it: what
 * n8n's Retry sent with another text hides nothing of what came before.
 */
export function newestFirst(
	newest: unknown,
	isMeant: (entry: Entry) => boolean,
): Entry | undefined {
	let above: Entry | undefined;
	let entry = newest;
	while (isEntry(entry) && !isMeant(entry)) [above, entry] = [entry, entry.before];
	if (entry === undefined || (isObject(entry) && entry.over === true)) return undefined;
	if (!isEntry(entry)) throw new FailureError(NOT_READ);
	if (above !== undefined) {
		above.before = entry.before;
		entry.before = newest;
	}
	return entry;
}
