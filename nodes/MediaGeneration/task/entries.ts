/** The ledger's format in the node's context, and what an entry says of a request before that is sent. */
import type { CreationRequest } from '../answers/request';
import type { Failure } from '../base/outcomes';
import { isObject, type JsonObject } from '../base/json';
import { UNCLEAR_ADVICE } from '../answers/creation';
import { clockAheadMs, now } from '../base/clock';
import type { UnrecordedRun } from '../n8n/retry';
import type { Created, NodeRun } from './identity';

/** The node's context: plain data that n8n saves with the execution. */
export type LedgerStore = Record<string, unknown>;

/** One creation that was sent. */
export interface Entry {
	/** The execution and the slot to which it belongs now. */
	execution: string;
	slot: string;
	hash: string;
	/** Epoch ms of the machine's clock, no later than the request. */
	sentAt: number;
	/** By how much that clock was ahead of the process's own one. */
	aheadMs?: number;
	/** The request to search for while no task is known. */
	request?: CreationRequest;
	taskId?: string;
	/** Epoch ms of the same clock. */
	createdAt?: number;
	answer?: JsonObject;
	failure?: Failure;
	/** Whether an earlier execution created it. */
	isTakenUp?: boolean;
	/** The agent's call that is using it. */
	usedBy?: string | undefined;
	/** The run whose output contained it. */
	handedOut?: string;
}

const LEDGER_FIELD = 'createdTasks';
/** Raise this with every change to {@link LedgerNotes}. */
const LEDGER_FORMAT = 1;

export interface LedgerNotes {
	format: typeof LEDGER_FORMAT;
	/** The last run of the node that n8n has saved: `<execution>:<run index>`. */
	openedIn: string;
	entries: Entry[];
	/** What a killed execution may have sent without a note; null if there was none. */
	unrecorded: UnrecordedRun | null;
	/** Parts of long texts, by run and item. */
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
	const isSince = isObject(unrecorded) && typeof unrecorded.endedBefore === 'number';
	return (unrecorded === null || isSince) && isObject(texts) && entries.every(isEntry);
}

/** Returns whether the notes are those of an earlier Retry or loop round: n8n was killed before it saved those of the repeated run. */
function lacksRepeated(
	{ openedIn }: LedgerNotes,
	{ executionId, runIndex }: NodeRun,
	{ repeated }: UnrecordedRun,
): boolean {
	const before = openedIn.replace(/:.*/, '');
	return before !== executionId && openedIn !== `${repeated ?? before}:${runIndex}`;
}

/** Opens the notes for a run, and begins them if there are none. Undefined if any of them can't be read. */
export function openNotes(
	store: LedgerStore,
	run: NodeRun,
	killed: UnrecordedRun | undefined,
): LedgerNotes | undefined {
	const unrecorded = killed ?? null;
	const openedIn = `${run.executionId}:${run.runIndex}`;
	if (store[LEDGER_FIELD] === undefined)
		store[LEDGER_FIELD] = { format: LEDGER_FORMAT, openedIn, entries: [], unrecorded, texts: {} };
	const present = store[LEDGER_FIELD];
	if (!isNotes(present)) return undefined;
	if (killed !== undefined && lacksRepeated(present, run, killed)) present.unrecorded = killed;
	present.openedIn = openedIn;
	return present;
}

/** Notes have times of the machine's clock, because another process may read them. Ours does not jump, and stands still while the machine sleeps. */
export const toNote = (ms: number) => ms + clockAheadMs();
const fromNote = (ms: number) => Math.min(ms - clockAheadMs(), now());
export const sentNow = (sentAt: number) => ({ sentAt: toNote(sentAt), aheadMs: clockAheadMs() });

/**
 * Undefined if the machine has slept since, or somebody has set its clock: nobody knows which, so that no task is surely this request's.
 * @param aheadMs by how much the machine's clock was ahead then
 */
function sentIn(sentAt: number, aheadMs = 0): number | undefined {
	return Math.abs(aheadMs - clockAheadMs()) < 1_000 ? fromNote(sentAt) : undefined;
}

export type Earlier =
	| Created
	/** Its task may exist. It is searched for, and sent again only if the user asked for that. */
	| { kind: 'unclear'; failure: Failure; request: CreationRequest; sentAt: number | undefined }
	/** n8n was killed before it saved notes: the request may have been sent. */
	| {
			kind: 'unrecorded';
			/** Epoch ms; undefined if n8n doesn't tell when the killed execution began. */
			sentAt: number | undefined;
			endedBefore: number;
	  }
	/** The notes can't be read, so it may be paid for. */
	| { kind: 'unread'; failure: Failure }
	| { kind: 'nothing' };

export function earlierIn(entry: Entry, current: CreationRequest): Earlier {
	const { taskId, createdAt = 0, request = current, failure = UNANSWERED } = entry;
	if (taskId === undefined)
		return { kind: 'unclear', failure, request, sentAt: sentIn(entry.sentAt, entry.aheadMs) };
	const { answer, isTakenUp } = entry;
	const known = { taskId, createdAt: fromNote(createdAt), answer: answer ?? { task_id: taskId } };
	return { kind: 'created', ...known, isTakenUp };
}

export function soughtFor({ beganAt, endedBefore }: UnrecordedRun): Earlier {
	const sentAt = beganAt === undefined ? undefined : sentIn(beganAt);
	return { kind: 'unrecorded', sentAt, endedBefore: fromNote(endedBefore) };
}
