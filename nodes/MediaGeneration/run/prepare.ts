/**
 * From drafts to items that are ready to run: everything that can still be refused before anything is created.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { warnOfTestUrls } from '../callback/receiveUrl';
import type { Ledger, RunIdentity } from '../create/ledger';
import type { RunSettings } from '../operations/waiting';
import type { ServiceClient } from '../service/client';
import { realClock } from '../service/clock';
import { attempt, attemptLater, type Attempt } from '../service/failures';
import { lookAtTask } from '../service/look';
import { checkSuspension, type Waking } from '../sleep/checks';
import { checkCredits, type Balance } from './checks';
import { failedEnd, type Item, type ItemEnd } from './item';
import type { Report } from './output';
import { itemOf, type Draft } from './plan';
import { Spending } from './spending';

/** For one look at a task for its cost. */
const COST_LOOK_MS = 5_000;

/** An item that is ready to run, or over already. */
export type Ready = { kind: 'item'; item: Item } | ItemEnd;

/** What a run works with once the credential is read. */
export interface Tools {
	context: IExecuteFunctions;
	report: Report;
	client: ServiceClient;
	ledger: Ledger;
	run: RunIdentity;
	/** See {@link beganAt}. */
	beganAt: number | undefined;
	signal: AbortSignal | undefined;
}

type Planned = ReadonlyArray<Draft | ItemEnd>;

export function draftsIn(planned: Planned): Draft[] {
	return planned.filter((each): each is Draft => each.kind === 'draft');
}

/** How the execution can be woken, or why it can't be; undefined where nothing suspends. */
export async function prepareSuspension(
	{ context, client }: Tools,
	planned: Planned,
): Promise<Attempt<Waking> | undefined> {
	const waitings = draftsIn(planned).map(({ settings }) => settings.waiting);
	const suspending = waitings.filter((waiting) => waiting.kind === 'suspend');
	if (suspending.length === 0) return undefined;
	const watched = suspending.every((waiting) => waiting.watched);
	const { baseUrl } = client.credentials;
	return await attemptLater(async () => await checkSuspension(context, baseUrl, watched));
}

/** The items, with what earlier tries have left of them. */
export function makeItems(
	{ context, client, ledger }: Tools,
	planned: Planned,
	waking: Attempt<Waking> | undefined,
): Ready[] {
	const making = {
		credentials: client.credentials,
		ledger,
		waking: waking?.ok === true ? waking.value : undefined,
		repeats: context.getNode().retryOnFail === true,
	};
	warnOfTestUrls(
		context,
		draftsIn(planned).map(({ settings: { waiting } }) =>
			waiting.kind === 'no' ? waiting.callbackUrl : undefined,
		),
	);
	return planned.map((each) => {
		if (each.kind !== 'draft') return each;
		const { index, settings } = each;
		if (settings.waiting.kind === 'suspend' && waking?.ok === false)
			return failedEnd(index, waking.failure);
		const made = attempt(() => itemOf(each, making));
		return made.ok ? { kind: 'item', item: made.value } : failedEnd(index, made.failure);
	});
}

/** Whether nothing is left to be paid for an item: what may have been created is not sent again. */
function isPaidFor({ parts }: Item): boolean {
	return parts.every(
		(part) =>
			part.kind === 'awaits' || part.earlier.kind === 'created' || part.earlier.kind === 'unknown',
	);
}

/** Fails the items that would be created although the balance does not reach their Minimum Credits. */
export async function withEnoughCredits(
	balance: Balance,
	ready: readonly Ready[],
): Promise<Ready[]> {
	const creating = ready.flatMap((each) =>
		each.kind === 'item' && !isPaidFor(each.item) ? [each.item] : [],
	);
	const poor = await checkCredits(balance, creating);
	return ready.map((each) => {
		const failure = each.kind === 'item' ? poor.get(each.item.index) : undefined;
		return each.kind === 'item' && failure !== undefined
			? failedEnd(each.item.index, failure)
			: each;
	});
}

/** Counts what the run costs; with a limit, from the balance at its start. */
export async function prepareSpending(
	{ context, client, run, signal }: Tools,
	balance: Balance,
	{ maximumCredits: maximum }: RunSettings,
): Promise<Spending> {
	return new Spending({
		...realClock,
		store: context.getContext('node'),
		run,
		maximum,
		balance: maximum === undefined ? undefined : await balance.ifKnown(),
		balanceNow: async () => await balance.now(),
		look: async (taskId, { kind, route }) =>
			await lookAtTask(client, { taskId, kind, route, timeoutMs: COST_LOOK_MS, signal }),
		pausedUntil: () => client.account.pausedUntil('look'),
		signal,
	});
}

/** What earlier tries have created counts as well, and is nobody else's. */
export function countEarlier({ client }: Tools, items: readonly Item[], spending: Spending): void {
	for (const { parts, settings } of items)
		for (const part of parts) {
			if (part.kind !== 'creates' || part.earlier.kind !== 'created') continue;
			const { created } = part.earlier;
			client.account.known.set(created.taskId, true);
			spending.takeUp(created, { kind: part.request.kind, route: settings.pollRoute });
		}
}

/**
 * When the execution began that n8n's Retry repeats, where it has left nothing: n8n was killed, and what it has sent is not known. n8n
 * keeps that time where the workflow saves its progress; else it is that of the Retry, before which nothing can be found.
 */
export function beganAt(context: IExecuteFunctions, ledger: Ledger): number | undefined {
	if (context.getMode() !== 'retry' || !ledger.isEmpty) return undefined;
	const { getExecutionContext } = context as Partial<IExecuteFunctions>;
	return getExecutionContext?.call(context)?.establishedAt;
}
