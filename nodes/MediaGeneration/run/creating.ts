/** Gets the task of a part: taken up, found again, or created. The ledger knows at every moment what may have been paid for. */
import { adviceOn, missingOperation } from '../actions/refusal';
import type { Work } from '../base/clock';
import type { Failure } from '../base/outcomes';
import { asText } from '../base/json';
import { logOf } from '../n8n/clean';
import { createTask, NOT_CREATED, type Submitted } from '../task/create';
import { SENT_AGAIN, UNCLEAR_ADVICE } from '../answers/creation';
import type { Created } from '../task/identity';
import type { Asked, Earlier } from '../task/earlier';
import { expectTask, findLost, withCandidates, type Finding } from '../task/lost';
import { broken } from '../answers/failures';
import { asFailed, type Failed } from '../answers/verdict';
import { createdParts, type CreatedPart, type Item } from './item';
import type { Run } from './run';

/**
 * Counts the tasks of earlier tries, and expects those that may exist, before anything is created.
 * @returns a function to call at the end: until then a listed task may be that of any request that is searched for
 */
export function* expectEarlier(run: Run, items: readonly Item[]): Work<() => void> {
	const { client, ledger, spending } = run;
	const ends: Array<() => void> = [];
	for (const part of items.flatMap(createdParts)) {
		yield;
		const earlier = ledger.earlierOf(part);
		if (earlier.kind === 'unrecorded') ends.push(expectTask(client.account, part.request));
		if (earlier.kind === 'unclear') ends.push(expectTask(client.account, earlier.request));
		if (earlier.kind !== 'created') continue;
		client.account.created(earlier.taskId);
		spending.addCost(earlier);
	}
	return () => ends.forEach((end) => end());
}

/** Never rejects. */
export async function createdFor(
	run: Run,
	item: Item,
	asked: CreatedPart,
): Promise<Created | Failed> {
	const { ledger, paidTasks } = run;
	try {
		const made = await createOnce(run, item, asked);
		if (made.kind === 'created') paidTasks.add(made.taskId, asked.slot.item);
		return made;
	} catch (error) {
		// What was sent has a note, which prevents another try from sending it again.
		const left = ledger.earlierOf(asked);
		return asFailed(broken(error, 'sent', left.kind === 'created' ? left.taskId : undefined));
	}
}

/** Returns the task of an earlier try, or creates one if nothing can have been created. */
async function createOnce(run: Run, item: Item, asked: Asked): Promise<Created | Failed> {
	const earlier = run.ledger.earlierOf(asked);
	switch (earlier.kind) {
		case 'created':
			return earlier;
		case 'nothing':
			return await createAnew(run, item, asked);
		case 'unread':
			return asFailed(earlier.failure);
		case 'unclear':
		case 'unrecorded':
			return await settleDoubt(run, item, { asked, earlier });
	}
}

interface Doubt {
	asked: Asked;
	earlier: Extract<Earlier, { kind: 'unclear' | 'unrecorded' }>;
}

/**
 * An earlier request was sent, or may have been, and its task may exist. It is sent again only if the user asked for that, or if it has no
 * note and a readable list shows nothing that could be its task.
 */
async function settleDoubt(
	run: Run,
	item: Item,
	{ asked, earlier }: Doubt,
): Promise<Created | Failed> {
	// A task whose ID is known can be fetched.
	const isNamed = earlier.kind === 'unclear' && earlier.failure.taskId !== undefined;
	if (isNamed) return asFailed(earlier.failure);
	const found = await searchFor(run, asked, earlier);
	if (found.kind === 'created') return found;
	const { candidates, unread } = found;
	const isMissing =
		earlier.kind === 'unrecorded' && unread === undefined && candidates.length === 0;
	if (isMissing) return await createAnew(run, item, asked);
	const failure = earlier.kind === 'unclear' ? earlier.failure : unrecorded(unread);
	if (!item.settings.sendUnclearAgain) return asFailed(withCandidates(failure, candidates));
	const made = await createAnew(run, item, asked);
	if (made.kind === 'created' || made.failure.outcome === 'unknown') return made;
	// Nothing was created now, but the first task may still be paid for.
	return asFailed({ ...failure, message: `${failure.message}; this try: ${made.failure.message}` });
}

/** @param unread why the list of tasks could not be read */
function unrecorded(unread: Failure | undefined): Failure {
	const why = unread === undefined ? '' : `, and it is not known whether it did: ${unread.message}`;
	return {
		outcome: 'unknown',
		message: `n8n ended in an earlier execution that may have created this task${why}`,
		description: UNCLEAR_ADVICE,
	};
}

/** Searches for the task of an earlier try. It is expected already, see {@link expectEarlier}. */
async function searchFor(run: Run, asked: Asked, earlier: Doubt['earlier']): Promise<Finding> {
	const found = await findLost(run, { request: asked.request, ...earlier, isEarlier: true });
	if (found.kind !== 'created') return found;
	run.ledger.created(asked, found);
	// A killed execution has paid for it.
	run.spending.addCost({ ...found, isTakenUp: earlier.kind === 'unrecorded' });
	return found;
}

async function createAnew(run: Run, item: Item, asked: Asked): Promise<Created | Failed> {
	const { runEnded, spending } = run;
	const endTurn = await spending.turn();
	try {
		const refusal = item.refusal ?? (runEnded.aborted ? NOT_CREATED : await spending.refusal());
		if (refusal !== undefined) return asFailed(refusal);
		const submitted = await submit(run, asked, item.settings.timeoutMs);
		spending.onCreation(submitted);
		return submitted.kind === 'created' ? submitted : explained(run, item, { asked, submitted });
	} finally {
		endTurn();
	}
}

/** Sends a creation with a note of it, and searches for its task if no clear answer comes: what is found counts as created. */
async function submit(run: Run, asked: Asked, timeoutMs: number): Promise<Submitted> {
	const { request, slot } = asked;
	const { client, ledger, now } = run;
	try {
		ledger.sending(asked, now());
	} catch (error) {
		return { kind: 'failed', failure: broken(error, 'nothing') };
	}
	const stopExpecting = expectTask(client.account, request);
	try {
		// An agent waits for its tool no longer than the Timeout.
		const limits = { deadline: now() + timeoutMs, boundsFull: ledger.run.call !== undefined };
		const submitted = await createTask(run, request, limits);
		if (submitted.kind === 'created') ledger.created(asked, submitted);
		if (submitted.kind === 'failed') ledger.forget(slot);
		if (submitted.kind !== 'unclear') return submitted;
		// The note comes before the search, because the execution may be stopped meanwhile.
		ledger.unclear(asked, submitted);
		const { failure, sentAt } = submitted;
		if (failure.taskId !== undefined) return submitted;
		const found = await findLost(run, { request, sentAt, isEarlier: false });
		if (found.kind === 'unfound')
			return { ...submitted, failure: withCandidates(failure, found.candidates) };
		const created = { ...found, receiveUrl: asText(request.body.receive_url) };
		ledger.created(asked, created);
		return created;
	} finally {
		stopExpecting();
	}
}

/** Says what to do next, and names in the log a task that may exist. */
function explained(
	{ context, ledger }: Run,
	{ settings }: Item,
	{ asked, submitted }: { asked: Asked; submitted: Exclude<Submitted, Created> },
): Failed {
	const { failure, kind } = submitted;
	const { taskId } = failure;
	if (taskId !== undefined)
		logOf(context).warn(
			`task ${taskId} for item ${asked.slot.item} of execution ${ledger.run.executionId} may exist`,
		);
	// A task whose ID is known can be fetched.
	const isSentAgain = settings.sendUnclearAgain && kind === 'unclear' && taskId === undefined;
	const next = isSentAgain ? SENT_AGAIN : failure.description;
	const advice = adviceOn(failure.message, asked.request, settings);
	const message = missingOperation(failure, asked.request) ?? failure.message;
	return asFailed({ ...failure, message, description: `${next}${advice}` });
}
