/** Gets a part its task: taken up, found again, or created. The ledger knows at each moment what may have been paid for. */
import { UNCLEAR_ADVICE, type Created } from '../task/creation';
import { expectTask, findLost, withCandidates, type Finding } from '../task/lost';
import { createTask, type Submitted } from '../task/create';
import { adviceOn } from '../actions/refusal';
import type { ItemSettings } from '../actions/waiting';
import { logOf } from '../n8n/clean';
import type { Failure } from '../base/failures';
import { asText } from '../base/json';
import { broken } from '../transport/taskFailures';
import type { Failed } from '../transport/verdict';
import type { CreatedPart, Item, RunDeps } from './item';

export interface KnownTask {
	kind: 'task';
	taskId: string;
	createdAt: number;
	/** True if it was made before this run, so that it may be over already. */
	old: boolean;
	/** Holds the creation's answer; undefined for a task that was only named. */
	created: Created | undefined;
}

type RunningDeps = RunDeps & { over: AbortSignal };

export const asFailed = (failure: Failure): Failed => ({
	kind: 'failed',
	failure,
	task: undefined,
});

/** What an earlier try has created counts before anything is created, and is nobody else's. */
export function countEarlier({ client, spending }: RunDeps, created: Created): void {
	client.account.created(created.taskId);
	spending.note(created);
}

export async function taskOf(
	deps: RunningDeps,
	{ settings }: Item,
	part: CreatedPart,
): Promise<KnownTask | Failed> {
	const { context, ledger, paidTasks } = deps;
	const { request, slot } = part;
	const known = (created: Created, old: boolean): KnownTask => {
		paidTasks.add(created.taskId, slot.item);
		return { kind: 'task', ...created, created, old };
	};
	const earlier = await findEarlier(deps, settings, part);
	if (earlier?.kind === 'failed') return earlier;
	if (earlier !== undefined) return known(earlier.created, true);
	const submitted = await createWithinCredits(deps, part, settings.timeoutMs);
	if (submitted.kind === 'created') return known(submitted.created, false);
	const { failure } = submitted;
	if (failure.taskId !== undefined)
		logOf(context).warn(
			`Media Generation: task ${failure.taskId} for item ${slot.item} of execution ${ledger.run.executionId} may exist`,
		);
	const advice = adviceOn(failure.message, request, settings.longText);
	return asFailed({ ...failure, description: `${failure.description}${advice}` });
}

/** What became of it before: its task, or why nothing may be created. Undefined where it is to be created. */
async function findEarlier(
	deps: RunningDeps,
	{ sendUnclearAgain }: ItemSettings,
	part: CreatedPart,
): Promise<{ kind: 'found'; created: Created } | Failed | undefined> {
	const { earlier, request } = part;
	if (earlier.kind === 'nothing') return undefined;
	if (earlier.kind === 'created') return { ...earlier, kind: 'found' };
	if (earlier.kind === 'unread') return asFailed(earlier.failure);
	// A task that has an ID can be fetched by it.
	if (earlier.kind === 'unclear' && earlier.failure.taskId !== undefined)
		return asFailed(earlier.failure);
	const finding = await find(deps, part, { request, ...earlier, isOld: true });
	if (finding.kind === 'found') {
		deps.ledger.created(part, finding.created);
		countEarlier(deps, finding.created);
		return finding;
	}
	if (sendUnclearAgain) return undefined;
	const { candidates, unread } = finding;
	if (earlier.kind === 'unclear') return asFailed(withCandidates(earlier.failure, candidates));
	return unread === undefined && candidates.length === 0
		? undefined
		: asFailed(withCandidates(unrecorded(unread), candidates));
}

async function find(
	deps: RunningDeps,
	{ hash }: CreatedPart,
	lost: Pick<Parameters<typeof findLost>[0], 'request' | 'sentAt' | 'isOld'>,
): Promise<Finding> {
	const known = expectTask(deps.client.account, hash);
	return await findLost({ ...deps, ...lost, hash }).finally(known);
}

function unrecorded(unread: Failure | undefined): Failure {
	const why = unread === undefined ? '' : `, and it is not known whether it did: ${unread.message}`;
	return {
		outcome: 'unknown',
		message: `n8n ended in an earlier execution that may have created this task${why}`,
		description: UNCLEAR_ADVICE,
	};
}

async function createWithinCredits(
	deps: RunningDeps,
	part: CreatedPart,
	timeoutMs: number,
): Promise<Submitted> {
	const { spending } = deps;
	const endTurn = await spending.turn();
	try {
		const refusal = await spending.refusal();
		if (refusal !== undefined) return { kind: 'failed', failure: refusal };
		const submitted = await createOrFind(deps, part, timeoutMs);
		spending.sent(submitted);
		return submitted;
	} finally {
		endTurn();
	}
}

/** A creation without a clear answer is looked for, and counts as created where it is found. */
async function createOrFind(
	deps: RunningDeps,
	part: CreatedPart,
	timeoutMs: number,
): Promise<Submitted> {
	const { request, slot, hash } = part;
	const { client, ledger, now } = deps;
	try {
		ledger.sending(part, now());
	} catch (error) {
		return { kind: 'failed', failure: broken(error, 'nothing') };
	}
	const known = expectTask(client.account, hash);
	try {
		// An agent waits for its tool, and for no longer than the Timeout.
		const limits = { deadline: now() + timeoutMs, boundsFull: ledger.run.call !== undefined };
		const submitted = await createTask(deps, request, limits);
		if (submitted.kind === 'created') ledger.created(part, submitted.created);
		if (submitted.kind === 'failed') ledger.forget(slot);
		if (submitted.kind !== 'unclear') return submitted;
		// The note comes before the search, as the execution may be stopped meanwhile.
		ledger.unclear(part, submitted);
		if (submitted.failure.taskId !== undefined) return submitted;
		const { sentAt } = submitted;
		const finding = await findLost({ ...deps, request, sentAt, hash, isOld: false });
		if (finding.kind === 'unfound')
			return { ...submitted, failure: withCandidates(submitted.failure, finding.candidates) };
		const created = { ...finding.created, receiveUrl: asText(request.body.receive_url) };
		ledger.created(part, created);
		return { kind: 'created', created };
	} finally {
		known();
	}
}
