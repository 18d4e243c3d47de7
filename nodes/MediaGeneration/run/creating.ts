/** Gets the task of a part. The ledger knows at every moment what may have been paid for. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { adviceOn, missingOperation } from '../actions/refusal';
import { asText } from '../base/json';
import { logOf } from '../n8n/log';
import { createTask, NOT_CREATED, type CreateDeps, type Submitted } from '../task/create';
import { SENT_AGAIN } from '../answers/creation';
import type { Asked, Created } from '../task/identity';
import type { Ledger } from '../task/ledger';
import { expectTask, findLost, withCandidates } from '../task/lost';
import type { Spending } from '../task/spending';
import { broken } from '../answers/failures';
import { asFailed, type Failed } from '../answers/verdict';
import { sentInDoubt, settleEarlier } from './earlierTries';
import type { Item } from './item';

export interface CreatingDeps extends CreateDeps {
	context: IExecuteFunctions;
	ledger: Ledger;
	spending: Spending;
}

/** Returns the task of an earlier try, or creates one if nothing can have been created. */
export async function createOnce(
	run: CreatingDeps,
	item: Item,
	asked: Asked,
): Promise<Created | Failed> {
	const settled = await settleEarlier(run, asked, item.settings);
	if (settled.kind !== 'sendable') return settled;
	const made = await createAnew(run, item, asked);
	return settled.doubt === undefined ? made : sentInDoubt(settled.doubt, made);
}

async function createAnew(run: CreatingDeps, item: Item, asked: Asked): Promise<Created | Failed> {
	const { runEnded, spending } = run;
	const endTurn = await spending.turn();
	try {
		const refusal = item.refusal ?? (runEnded.aborted ? NOT_CREATED : await spending.refusal());
		if (refusal !== undefined) return asFailed(refusal);
		const submitted = await submit(run, asked, item.settings.timeoutMs);
		spending.onCreation(submitted);
		return submitted.kind === 'created' ? submitted : explained(submitted, item, asked);
	} finally {
		endTurn();
	}
}

/** Notes a creation, sends it, and searches for its task if the answer is unclear. */
async function submit(run: CreatingDeps, asked: Asked, timeoutMs: number): Promise<Submitted> {
	const { request, slot } = asked;
	const { client, ledger, now } = run;
	try {
		ledger.sending(asked, now());
	} catch (error) {
		return { kind: 'refused', failure: broken(error, 'nothing') };
	}
	const stopExpecting = expectTask(client.account, request);
	try {
		// An agent waits for its tool no longer than the Timeout.
		const limits = { deadline: now() + timeoutMs, boundsFull: ledger.run.call !== undefined };
		const submitted = await createTask(run, request, limits);
		if (submitted.kind === 'created') ledger.created(asked, submitted);
		if (submitted.kind === 'refused') ledger.forget(slot);
		return submitted.kind === 'unclear' ? await searched(run, asked, submitted) : submitted;
	} finally {
		stopExpecting();
	}
}

/** Searches for the task of a creation without a clear answer: what is found counts as created. */
async function searched(
	run: CreatingDeps,
	asked: Asked,
	unclear: Extract<Submitted, { kind: 'unclear' }>,
): Promise<Submitted> {
	const { ledger } = run;
	const { request } = asked;
	const { failure, sentAt } = unclear;
	// The note comes before the search, because the execution may be stopped meanwhile.
	ledger.unclear(asked, unclear);
	if (failure.taskId !== undefined) {
		const where = `item ${asked.slot.item} of execution ${ledger.run.executionId}`;
		logOf(run.context).warn(`task ${failure.taskId} for ${where} may exist`);
		return unclear;
	}
	const found = await findLost(run, { request, sentAt, isEarlier: false });
	if (found.kind === 'unfound')
		return { ...unclear, failure: withCandidates(failure, found.candidates) };
	const created = { ...found, receiveUrl: asText(request.body.receive_url) };
	ledger.created(asked, created);
	return created;
}

/** Says what to do next. */
function explained(
	{ failure, kind }: Exclude<Submitted, Created>,
	{ settings }: Item,
	{ request }: Asked,
): Failed {
	// A task whose ID is known can be fetched.
	const isNamed = failure.taskId !== undefined;
	const isSentAgain = settings.sendUnclearAgain && kind === 'unclear' && !isNamed;
	const next = isSentAgain ? SENT_AGAIN : failure.description;
	const advice = adviceOn(failure.message, request, settings);
	const message = missingOperation(failure, request) ?? failure.message;
	return asFailed({ ...failure, message, description: `${next}${advice}` });
}
