/**
 * What earlier tries, and executions that were killed, have left. A request that was sent, or may have been, is sent again only if the user
 * asked for that, or if it has no note and a readable list shows nothing that could be its task.
 */
import type { Work } from '../base/work';
import type { Failure } from '../base/outcomes';
import { UNCLEAR_ADVICE } from '../answers/creation';
import { asFailed, type Failed } from '../answers/verdict';
import type { Created } from '../task/identity';
import type { Asked, Earlier } from '../task/earlier';
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

type Doubt = Exclude<Earlier, { kind: 'created' | 'nothing' }>;

/** Takes up the task of a request that an earlier try sent, or may have sent, or says why it is not sent again. */
export async function resumeOrRefuse(
	deps: EarlierDeps,
	{ item, asked, earlier }: { item: Item; asked: Asked; earlier: Doubt },
	create: () => Promise<Created | Failed>,
): Promise<Created | Failed> {
	// A task whose ID is known can be fetched.
	const isNamed = earlier.kind === 'unclear' && earlier.failure.taskId !== undefined;
	if (isNamed || earlier.kind === 'unread') return asFailed(earlier.failure);
	const settled = await settleDoubt(deps, asked, earlier);
	if (settled === undefined) return await create();
	if (settled.kind === 'created') return settled;
	const isShown = settled.failure.candidates !== undefined;
	if (isShown || !item.settings.sendUnclearAgain) return settled;
	const again = await create();
	if (again.kind === 'created' || again.failure.outcome === 'unknown') return again;
	// Nothing was created now, but the first task may still be paid for.
	const message = `${settled.failure.message}; this try: ${again.failure.message}`;
	return asFailed({ ...settled.failure, message });
}

/** Returns undefined if the request made no task, so that it may be sent. */
async function settleDoubt(
	deps: EarlierDeps,
	asked: Asked,
	earlier: Exclude<Doubt, { kind: 'unread' }>,
): Promise<Created | Failed | undefined> {
	const { ledger, spending } = deps;
	const sought = { request: asked.request, ...earlier, isEarlier: true };
	const found = await findLost(deps, sought);
	if (found.kind === 'created') {
		ledger.created(asked, found);
		// A killed execution has paid for it.
		spending.addCost({ ...found, isTakenUp: earlier.kind === 'unrecorded' });
		return found;
	}
	const { candidates, unread } = found;
	if (earlier.kind === 'unclear') return asFailed(withCandidates(earlier.failure, candidates));
	if (unread === undefined && candidates.length === 0) return undefined;
	return asFailed(withCandidates(unrecorded(unread), candidates));
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
