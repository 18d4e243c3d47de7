/** How the ledger lies in the node's context, and what may be read of it. */
import type { CreationRequest } from '../actions/operation';
import type { Failure } from '../base/failures';
import { isObject, type JsonObject } from '../base/json';
import { UNCLEAR_ADVICE } from './creation';

/** The node's context: plain data that n8n saves with the execution. */
export type LedgerStore = Record<string, unknown>;

/** One creation that was sent. */
export interface Entry {
	/** The execution and the slot that it belongs to now. */
	execution: string;
	slot: string;
	hash: string;
	/** Epoch ms by our clock; not after the request. */
	sentAt: number;
	/** What to look for, as long as no task is known. */
	request?: CreationRequest;
	taskId?: string;
	createdAt?: number;
	answer?: JsonObject;
	failure?: Failure;
	/** The agent's call that is under way with it. */
	usedBy?: string | undefined;
	/** The run whose output it was part of. */
	handedOut?: string;
}

const LEDGER_FIELD = 'createdTasks';
/** Raise this with any change of {@link LedgerNotes}. */
const LEDGER_FORMAT = 1;
export interface Unrecorded {
	/** Epoch ms. */
	sentAt: number;
	/** Whether that execution began then, or only not before. */
	isExact: boolean;
	/** Epoch ms at which it was over for sure: its Retry began. */
	overAt: number;
	/** The execution that the Retry repeats, where n8n says so and it begins with this node. */
	repeated?: string | undefined;
}

export interface LedgerNotes {
	format: typeof LEDGER_FORMAT;
	/** The last run of the node that n8n has saved: `<execution>:<run index>`. */
	openedIn: string;
	entries: Entry[];
	/** Since when an execution that n8n has killed may have sent what nobody noted; null: there was none. */
	unrecorded: Unrecorded | null;
	/** The parts of long texts, by run and item. */
	texts: Record<string, { execution: string; texts: string[] }>;
}

export const NOT_READ: Failure = {
	outcome: 'unknown',
	message: "What this node has noted in this execution can't be read; the task may exist",
	description: UNCLEAR_ADVICE,
};
export const UNANSWERED: Failure = {
	outcome: 'unknown',
	message: 'The request was sent, and n8n ended before its answer came; the task may exist',
	description: UNCLEAR_ADVICE,
};

function isEntry(value: unknown): value is Entry {
	if (!isObject(value) || typeof value.sentAt !== 'number') return false;
	const { execution, slot, hash, taskId, request } = value;
	const isOfSlot = [execution, slot, hash].every((each) => typeof each === 'string');
	return isOfSlot && (taskId === undefined ? isObject(request) : typeof taskId === 'string');
}

function isNotes(value: unknown): value is LedgerNotes {
	if (!isObject(value) || value.format !== LEDGER_FORMAT || !Array.isArray(value.entries))
		return false;
	const { unrecorded, entries, texts, openedIn } = value;
	if (typeof openedIn !== 'string') return false;
	const isSince = isObject(unrecorded) && typeof unrecorded.sentAt === 'number';
	return (unrecorded === null || isSince) && isObject(texts) && entries.every(isEntry);
}

/** Undefined where something of it can't be read. */
export function notesIn(
	store: LedgerStore,
	{ executionId, runIndex }: { executionId: string; runIndex: number },
	killed: Unrecorded | undefined,
): LedgerNotes | undefined {
	const unrecorded = killed ?? null;
	const openedIn = `${executionId}:${runIndex}`;
	if (store[LEDGER_FIELD] === undefined)
		store[LEDGER_FIELD] = { format: LEDGER_FORMAT, openedIn, entries: [], unrecorded, texts: {} };
	const present = store[LEDGER_FIELD];
	if (!isNotes(present)) return undefined;
	// n8n was killed before it saved what the run that is repeated has noted: of a further Retry, or of a further round of a loop.
	const repeated = `${killed?.repeated ?? executionId}:${runIndex}`;
	const isKilled = killed?.repeated !== undefined && present.openedIn !== repeated;
	if (isKilled && present.openedIn !== openedIn) present.unrecorded = unrecorded;
	present.openedIn = openedIn;
	return present;
}
