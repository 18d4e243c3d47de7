/**
 * What earlier tries, and executions that were killed, have left. A request that was sent, or may have been, is sent again only if the user
 * asked for that, or if it has no note and a readable list shows nothing that could be its task.
 */
import type { ItemSettings } from '../actions/waiting';
import type { Work } from '../base/work';
import type { Failure } from '../base/outcomes';
import { UNCLEAR_ADVICE } from '../answers/creation';
import { asFailed, type Failed } from '../answers/verdict';
import type { Asked, Created } from '../task/identity';
import type { Ledger } from '../task/ledger';
import { expectTask, findLost, withCandidates, type SearchDeps } from '../task/lost';
import type { Spending } from '../task/spending';
import { partsToCreate, type Item } from './item';

export interface EarlierDeps extends SearchDeps {
	ledger: Ledger;
	spending: Spending;
}

/**
 * Counts the tasks of earlier tries, and expects those that may exist, before anything is created.
 * @returns a function to call at the end: until then a listed task may be that of any request that is searched for
 */
export function* expectEarlier(
	{ client, ledger, spending }: Pick<EarlierDeps, 'client' | 'ledger' | 'spending'>,
	items: readonly Item[],
): Work<() => void> {
	const ends: Array<() => void> = [];
	for (const part of items.flatMap(partsToCreate)) {
		yield;
		const earlier = ledger.earlierOf(part);
		if (earlier.kind === 'unrecorded') ends.push(expectTask(client.account, part.request));
		if (earlier.kind === 'unclear') ends.push(expectTask(client.account, earlier.request));
		if (earlier.kind !== 'created') continue;
		client.account.made.add(earlier.taskId);
		spending.addCost(earlier);
	}
	return () => ends.forEach((end) => end());
}

/** What may be done about a request, according to what is known of it. */
export type Settled =
	/** Its task exists. */
	| Created
	/** Its task may exist, so that nothing may be sent. */
	| Failed
	/** It may be sent. `doubt`: its task may exist nevertheless, and the user accepts to pay twice. */
	| { kind: 'sendable'; doubt: Failed | undefined };

/** Finds out whether an earlier try or a killed execution has made the task of a request, and whether it may be sent. */
export async function settleEarlier(
	deps: EarlierDeps,
	asked: Asked,
	{ sendUnclearAgain }: Pick<ItemSettings, 'sendUnclearAgain'>,
): Promise<Settled> {
	const earlier = deps.ledger.earlierOf(asked);
	if (earlier.kind === 'created') return earlier;
	if (earlier.kind === 'nothing') return { kind: 'sendable', doubt: undefined };
	// A task whose ID is known can be fetched.
	const isNamed = earlier.kind === 'unclear' && earlier.failure.taskId !== undefined;
	if (isNamed || earlier.kind === 'unread') return asFailed(earlier.failure);
	// The workflow may have changed since: what was sent counts, if that was noted.
	const { request } = earlier.kind === 'unclear' ? earlier : asked;
	const found = await findLost(deps, { ...earlier, request, isEarlier: true });
	if (found.kind === 'created') {
		deps.ledger.created(asked, found);
		// A killed execution has paid for it.
		deps.spending.addCost({ ...found, isTakenUp: earlier.kind === 'unrecorded' });
		return found;
	}
	const { candidates, unread } = found;
	const isUnsent = earlier.kind === 'unrecorded' && unread === undefined;
	if (isUnsent && candidates.length === 0) return { kind: 'sendable', doubt: undefined };
	const failure = earlier.kind === 'unclear' ? earlier.failure : unrecorded(unread);
	const doubt = asFailed(withCandidates(failure, candidates));
	const isShown = doubt.failure.candidates !== undefined;
	return sendUnclearAgain && !isShown ? { kind: 'sendable', doubt } : doubt;
}

/** Returns what became of a request that was sent although an earlier one may have made its task. */
export function sentInDoubt({ failure }: Failed, again: Created | Failed): Created | Failed {
	if (again.kind === 'created' || again.failure.outcome === 'unknown') return again;
	// Nothing was created now, but the first task may still be paid for.
	return asFailed({
		...failure,
		message: `${failure.message}; this try: ${again.failure.message}`,
	});
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
