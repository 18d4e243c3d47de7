/** What the ledger's entries say of a request before it is sent. */
import type { CreationRequest } from '../answers/request';
import type { Failure } from '../base/outcomes';
import { clockAheadMs, now } from '../base/clock';
import type { UnrecordedRun } from '../n8n/retry';
import type { Created } from './identity';
import { UNANSWERED, type Entry } from './entries';

export interface AgentCall {
	/** The same for all tries of the call. Has no colon. */
	id: string;
	/** The agent and its run, which n8n's Retry repeats. */
	agent: string;
}

export interface NodeRun {
	executionId: string;
	runIndex: number;
	call?: AgentCall;
}

/** The item that a task is for, and the part of its text (0 if there is only one). */
export interface Slot {
	item: number;
	part: number;
}

export interface Asked {
	slot: Slot;
	request: CreationRequest;
	/** Identifies the request and the service. */
	hash: string;
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
