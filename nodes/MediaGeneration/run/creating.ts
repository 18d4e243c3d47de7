/** Gets the task of a part: taken up, found again, or created. The ledger knows at every moment what may have been paid for. */
import { adviceOn, missingOperation } from '../actions/refusal';
import type { ItemSettings } from '../actions/waiting';
import type { Failure } from '../base/outcomes';
import { asText } from '../base/json';
import { logOf } from '../n8n/clean';
import { createTask, type Submitted } from '../task/create';
import { SENT_AGAIN, UNCLEAR_ADVICE } from '../answers/creation';
import type { Created } from '../task/identity';
import type { Asked, Earlier } from '../task/ledger';
import { expectTask, findLost, withCandidates, type Finding } from '../task/lost';
import { broken } from '../answers/failures';
import { asFailed, type Failed } from '../answers/verdict';
import { askedFor, type CreatedPart, type Item } from './item';
import type { Run } from './run';

/**
 * Counts and claims the tasks of earlier tries before anything is created.
 * @returns a function to call at the end: until then a listed task may be that of any request that is searched for
 */
export function takeUpEarlier(run: Run, items: readonly Item[]): () => void {
	const { client, ledger, spending } = run;
	const ends: Array<() => void> = [];
	for (const part of items.flatMap(({ parts }) => parts)) {
		if (part.kind !== 'creates') continue;
		const earlier = ledger.earlier(askedFor(client, part));
		if (earlier.kind === 'unrecorded') ends.push(expectTask(client.account, part.request));
		if (earlier.kind === 'unclear') ends.push(expectTask(client.account, earlier.request));
		if (earlier.kind !== 'created') continue;
		client.account.created(earlier.taskId);
		spending.note(earlier);
	}
	return () => ends.forEach((end) => end());
}

/** Never rejects. */
export async function createdFor(
	run: Run,
	item: Item,
	part: CreatedPart,
): Promise<Created | Failed> {
	const { client, ledger, paidTasks } = run;
	const asked = askedFor(client, part);
	try {
		const earlier = await findEarlier(run, item.settings, asked);
		const made = earlier ?? keepUnclear(run, asked, await createWithinCredits(run, item, asked));
		if (made.kind === 'created') paidTasks.add(made.taskId, part.slot.item);
		return made;
	} catch (error) {
		// The ledger's note of a creation that was sent prevents a resend.
		const left = ledger.earlier(asked);
		const taskId = left.kind === 'created' ? left.taskId : undefined;
		return asFailed(broken(error, 'sent', taskId));
	}
}

/** Keeps the first, unclear result if nothing was created instead: it may still be paid for. */
function keepUnclear({ ledger }: Run, asked: Asked, made: Created | Failed): Created | Failed {
	if (made.kind !== 'failed' || made.failure.outcome === 'unknown') return made;
	const left = ledger.earlier(asked);
	if (left.kind !== 'unclear') return made;
	const message = `${left.failure.message}; this try: ${made.failure.message}`;
	return asFailed({ ...left.failure, message });
}

/** Finds what became of a request before: its task, or why nothing may be created. Undefined if it is to be created. */
async function findEarlier(
	run: Run,
	{ sendUnclearAgain }: ItemSettings,
	asked: Asked,
): Promise<Created | Failed | undefined> {
	const earlier = run.ledger.earlier(asked);
	if (earlier.kind === 'nothing') return undefined;
	if (earlier.kind === 'created') return earlier;
	if (earlier.kind === 'unread') return asFailed(earlier.failure);
	// A task whose ID is known can be fetched.
	if (earlier.kind === 'unclear' && earlier.failure.taskId !== undefined)
		return asFailed(earlier.failure);
	const finding = await findAgain(run, asked, earlier);
	if (finding.kind === 'created') {
		run.ledger.created(asked, finding);
		run.spending.note({ ...finding, isTakenUp: earlier.kind === 'unrecorded' });
		return finding;
	}
	if (sendUnclearAgain) return undefined;
	const { candidates, unread } = finding;
	if (earlier.kind === 'unclear') return asFailed(withCandidates(earlier.failure, candidates));
	return mayCreate(finding) ? undefined : asFailed(withCandidates(unrecorded(unread), candidates));
}

async function findAgain(
	run: Run,
	{ request }: Asked,
	earlier: Extract<Earlier, { kind: 'unclear' | 'unrecorded' }>,
): Promise<Finding> {
	const { client } = run;
	const sought = { request, ...earlier, isEarlier: true };
	const known = expectTask(client.account, sought.request);
	try {
		return await findLost(run, sought);
	} finally {
		known();
	}
}

const mayCreate = (finding: Finding) =>
	finding.kind === 'unfound' && !finding.unread && finding.candidates.length === 0;

function unrecorded(unread: Failure | undefined): Failure {
	const why = unread === undefined ? '' : `, and it is not known whether it did: ${unread.message}`;
	return {
		outcome: 'unknown',
		message: `n8n ended in an earlier execution that may have created this task${why}`,
		description: UNCLEAR_ADVICE,
	};
}

async function createWithinCredits(
	run: Run,
	{ settings, refusal: ofItem }: Item,
	asked: Asked,
): Promise<Created | Failed> {
	const { context, ledger, spending } = run;
	const endTurn = await spending.turn();
	try {
		const refusal = ofItem ?? (await spending.refusal());
		if (refusal !== undefined) return asFailed(refusal);
		const submitted = await createOrFind(run, asked, settings.timeoutMs);
		spending.sent(submitted);
		if (submitted.kind === 'created') return submitted;
		const { failure } = submitted;
		const { slot, request } = asked;
		if (failure.taskId !== undefined)
			logOf(context).warn(
				`task ${failure.taskId} for item ${slot.item} of execution ${ledger.run.executionId} may exist`,
			);
		const advice = adviceOn(failure.message, request, settings);
		// A task whose ID is known can be fetched.
		const isSentAgain =
			settings.sendUnclearAgain && submitted.kind === 'unclear' && failure.taskId === undefined;
		const said = isSentAgain ? SENT_AGAIN : failure.description;
		const message = missingOperation(failure, request) ?? failure.message;
		return asFailed({ ...failure, message, description: `${said}${advice}` });
	} finally {
		endTurn();
	}
}

/** Searches for a creation without a clear answer: if it is found, it counts as created. */
async function createOrFind(run: Run, asked: Asked, timeoutMs: number): Promise<Submitted> {
	const { request, slot } = asked;
	const { client, ledger, now } = run;
	try {
		ledger.sending(asked, now());
	} catch (error) {
		return { kind: 'failed', failure: broken(error, 'nothing') };
	}
	const known = expectTask(client.account, request);
	try {
		// An agent waits for its tool no longer than the Timeout.
		const limits = { deadline: now() + timeoutMs, boundsFull: ledger.run.call !== undefined };
		const submitted = await createTask(run, request, limits);
		if (submitted.kind === 'created') ledger.created(asked, submitted);
		if (submitted.kind === 'failed') ledger.forget(slot);
		if (submitted.kind !== 'unclear') return submitted;
		// The note comes before the search, because the execution may be stopped meanwhile.
		ledger.unclear(asked, submitted);
		if (submitted.failure.taskId !== undefined) return submitted;
		const { sentAt } = submitted;
		const finding = await findLost(run, { request, sentAt, isEarlier: false });
		if (finding.kind === 'unfound')
			return { ...submitted, failure: withCandidates(submitted.failure, finding.candidates) };
		const created = { ...finding, receiveUrl: asText(request.body.receive_url) };
		ledger.created(asked, created);
		return created;
	} finally {
		known();
	}
}
