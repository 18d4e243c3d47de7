/**
 * From a request to its task: created, or found again where the answer to its creation never came.
 */
import type { CreationRequest } from '../operations/operation';
import type { Failure } from '../service/failures';
import { creationsOf, withCandidates, type Finding } from './find';
import type { Earlier, Ledger, Slot } from './ledger';
import type { Sending } from './matching';
import { createTask, type Created, type SubmitDeps } from './submit';

export interface CreateDeps extends SubmitDeps {
	ledger: Ledger;
	/**
	 * Of n8n's Retry of an execution that ended without a word, as n8n was killed: epoch ms of its beginning. What it has sent is not
	 * known.
	 */
	beganAt: number | undefined;
}

/** What is to be created. */
export interface Wanted {
	slot: Slot;
	request: CreationRequest;
	earlier: Earlier;
	/** Epoch ms until which refusals that created nothing are answered with another try. */
	deadline: number;
	/** Whether to look in the service's list. */
	finds: boolean;
}

export type Outcome =
	/** `isNew`: it was created just now. */
	| { kind: 'task'; created: Created; isNew: boolean }
	/** `isUnclear`: a task may exist. */
	| { kind: 'failed'; failure: Failure; isUnclear: boolean };

/** Before a creation that may be sent, and for one that must not be sent again, one reading has to do. */
const ONCE = { readAfterMs: [0] };

async function look(
	deps: CreateDeps,
	sending: Sending,
	more: { readAfterMs?: readonly number[]; fewer?: boolean } = {},
): Promise<Finding> {
	const { client, now, sleep, signal } = deps;
	const search = { ...sending, client, clock: { now, sleep }, signal, ...more };
	return await creationsOf(client.account).find(search);
}

/** A task that an earlier try or an earlier execution has made without knowing it. */
async function findEarlier(deps: CreateDeps, wanted: Wanted): Promise<Created | undefined> {
	const { request, earlier, finds } = wanted;
	const { beganAt } = deps;
	if (!finds || earlier.kind === 'created') return undefined;
	const left =
		earlier.kind !== 'nothing'
			? earlier.sending
			: beganAt === undefined
				? undefined
				: { request, sentAt: beganAt };
	if (left === undefined) return undefined;
	const finding = await look(deps, left, { ...ONCE, fewer: earlier.kind === 'nothing' });
	return finding.kind === 'found' ? finding.created : undefined;
}

/** Creates a task, or takes up the one that there is. The ledger has it afterwards, or that nothing is known. Never rejects. */
export async function createOrFind(deps: CreateDeps, wanted: Wanted): Promise<Outcome> {
	const { ledger } = deps;
	const { slot, request, earlier, finds } = wanted;
	const found = await findEarlier(deps, wanted);
	if (found !== undefined) return adopt(found);
	if (earlier.kind === 'unknown')
		return { kind: 'failed', failure: earlier.failure, isUnclear: true };
	ledger.noteSending(slot, { request, sentAt: deps.now() });
	const submitted = await createTask(deps, request, wanted.deadline);
	if (submitted.kind === 'created') {
		ledger.noteCreated(slot, request, submitted.created);
		return { kind: 'task', created: submitted.created, isNew: true };
	}
	if (submitted.kind === 'failed') {
		ledger.forget(slot);
		return { kind: 'failed', failure: submitted.failure, isUnclear: false };
	}
	// Noted before it is looked for, as n8n may be stopped meanwhile.
	ledger.noteSending(slot, submitted);
	ledger.noteUnknown(slot, request, submitted.failure);
	if (!finds || submitted.failure.taskId !== undefined)
		return { kind: 'failed', failure: submitted.failure, isUnclear: true };
	const finding = await look(deps, submitted);
	if (finding.kind === 'found') return adopt(finding.created);
	const failure = withCandidates(submitted.failure, finding.candidates);
	ledger.noteUnknown(slot, request, failure);
	return { kind: 'failed', failure, isUnclear: true };

	function adopt(created: Created): Outcome {
		ledger.noteCreated(slot, request, created);
		return { kind: 'task', created, isNew: false };
	}
}
