/**
 * From a request to its task: created, or found again where the answer to its creation never came. The ledger knows at each moment
 * what may have been paid for.
 */
import type { CreationRequest } from '../operations/operation';
import { quietly } from '../service/clean';
import { broken } from '../service/failures';
import { creationsOf, withCandidates, type Finding, type Search } from './find';
import type { Earlier, Ledger, Slot } from './ledger';
import { createTask, type Created, type SubmitDeps, type Submitted } from './submit';

export interface CreateDeps extends SubmitDeps {
	ledger: Ledger;
	/** Epoch ms at which the execution began that n8n's Retry repeats, where nothing is known of what it has sent; else undefined. */
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

async function look(
	{ client, now, sleep, signal }: CreateDeps,
	search: Pick<Search, 'request' | 'sentAt' | 'readAfterMs' | 'fewer'>,
): Promise<Finding> {
	const clock = { now, sleep };
	return await creationsOf(client.account).find({ ...search, client, clock, signal });
}

/** The task that an earlier try, or the execution that n8n's Retry repeats, has made without a word of it. One reading of the list has to do. */
export async function findEarlier(deps: CreateDeps, wanted: Wanted): Promise<Created | undefined> {
	const { slot, request, earlier, finds } = wanted;
	const { beganAt, ledger } = deps;
	if (!finds || earlier.kind === 'created') return undefined;
	const unsaid = beganAt === undefined ? undefined : { request, sentAt: beganAt };
	const sending = earlier.kind === 'nothing' ? unsaid : earlier.sending;
	if (sending === undefined) return undefined;
	const fewer = earlier.kind === 'nothing';
	const finding = await look(deps, { ...sending, readAfterMs: [0], fewer });
	if (finding.kind !== 'found') return undefined;
	// A task of another execution calls that one when it is over.
	const { receive_url: _ignored, ...body } = request.body;
	const made = earlier.kind === 'unknown' ? request : { ...request, body };
	ledger.noteCreated(slot, made, finding.created);
	return finding.created;
}

/** Creates a task. Where nothing is known of it afterwards it is looked for, and counts as created where it is found. */
export async function createOrFind(
	deps: CreateDeps,
	{ slot, request, deadline, finds }: Wanted,
): Promise<Submitted> {
	const { ledger } = deps;
	try {
		ledger.noteSending(slot, { request, sentAt: deps.now() });
	} catch (error) {
		return { kind: 'failed', failure: broken(error, { kind: 'nothing' }) };
	}
	const submitted = await createTask(deps, request, deadline);
	if (submitted.kind === 'created') ledger.noteCreated(slot, request, submitted.created);
	if (submitted.kind === 'failed') ledger.forget(slot);
	if (submitted.kind !== 'unclear') return submitted;
	// Noted before it is looked for, as the execution may be stopped meanwhile.
	quietly(() => ledger.noteSending(slot, submitted));
	ledger.noteUnknown(slot, request, submitted.failure);
	if (!finds || submitted.failure.taskId !== undefined) return submitted;
	const finding = await look(deps, submitted);
	if (finding.kind === 'found') {
		ledger.noteCreated(slot, request, finding.created);
		return { kind: 'created', created: finding.created };
	}
	const failure = withCandidates(submitted.failure, finding.candidates);
	ledger.noteUnknown(slot, request, failure);
	return { ...submitted, failure };
}
