/** Gets a part its task: taken up, found again, or created. The ledger knows at each moment what may have been paid for. */
import type { Created } from '../task/creation';
import { Creations, withCandidates, type Unfound } from '../task/find';
import { createTask, type Submitted } from '../task/create';
import { adviceOn } from '../actions/refusal';
import { logOf, quietly } from '../n8n/clean';
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
	client.account.known.set(created.taskId, true);
	spending.note(created);
}

export async function taskOf(
	deps: RunningDeps,
	{ settings }: Item,
	part: CreatedPart,
): Promise<KnownTask | Failed> {
	const { context, ledger, paidTasks } = deps;
	const { request, earlier, slot } = part;
	const known = (created: Created, old: boolean): KnownTask => {
		paidTasks.add(created.taskId, slot.item);
		return { kind: 'task', ...created, created, old };
	};
	const found = await findEarlier(deps, part);
	if (found?.kind === 'found') return known(found.created, true);
	if (earlier.kind === 'unknown') return asFailed(earlier.failure);
	if (found !== undefined) {
		const doubt = doubtAbout(found);
		if (doubt !== undefined) return asFailed(doubt);
	}
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

/** Looks for the task that an earlier try, or the execution that n8n's Retry repeats, may have made without a note. Undefined where there can be none. */
async function findEarlier(deps: RunningDeps, part: CreatedPart) {
	const { client, ledger } = deps;
	const { earlier } = part;
	if (earlier.kind === 'created') return { kind: 'found', created: earlier.created } as const;
	if (earlier.kind === 'nothing' || earlier.sending === undefined) return undefined;
	const fewer = earlier.kind === 'unsaid';
	const search = { ...deps, ...earlier.sending, isOld: true, fewer };
	const finding = await client.account.state(Creations).find(search);
	if (finding.kind !== 'found') return finding;
	ledger.noteCreated(part, finding.created);
	countEarlier(deps, finding.created);
	return finding;
}

/** Says why a creation that an earlier execution may have sent is not sent again: only a list without it proves that nothing was created. */
function doubtAbout({ unread, isLikely, candidates }: Unfound): Failure | undefined {
	if (unread === undefined && !isLikely) return undefined;
	const why = unread === undefined ? '' : `, and it is not known whether it did: ${unread.message}`;
	const failure: Failure = {
		outcome: 'unknown',
		message: `An earlier execution may have created this task${why}`,
		description:
			'So it was not sent again. Look at the tasks and credits of the account at the service. If the task is there, fetch it with "Task: Wait" and its ID; if not, start a new execution for this item. Retry looks for it again.',
	};
	return withCandidates(failure, candidates);
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
	const { request, slot } = part;
	const { client, ledger, now } = deps;
	try {
		ledger.noteSending(part, { sentAt: now() });
	} catch (error) {
		return { kind: 'failed', failure: broken(error, 'nothing') };
	}
	// An agent waits for its tool, and for no longer than the Timeout.
	const limits = { deadline: now() + timeoutMs, boundsFull: ledger.run.call !== undefined };
	const submitted = await createTask(deps, request, limits);
	if (submitted.kind === 'created') ledger.noteCreated(part, submitted.created);
	if (submitted.kind === 'failed') ledger.forget(slot);
	if (submitted.kind !== 'unclear') return submitted;
	// The note comes before the search, as the execution may be stopped meanwhile.
	quietly(() => ledger.noteSending(part, submitted));
	if (submitted.failure.taskId !== undefined) return submitted;
	const { sentAt } = submitted;
	const search = { ...deps, request, sentAt, isOld: false, fewer: false };
	const finding = await client.account.state(Creations).find(search);
	if (finding.kind === 'found') {
		const created = { ...finding.created, receiveUrl: asText(request.body.receive_url) };
		ledger.noteCreated(part, created);
		return { kind: 'created', created };
	}
	const failure = withCandidates(submitted.failure, finding.candidates);
	quietly(() => ledger.noteSending(part, { sentAt, failure }));
	return { ...submitted, failure };
}
