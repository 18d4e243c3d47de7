/** Makes items that are ready to run from the credential and the drafts, and refuses what can be refused before anything is created. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { ownOrigin, prepareReceiveUrl, warnOfCallbackUrls } from '../trigger/receiveUrl';
import { requestHash, type Ledger } from '../task/ledger';
import { requestsFor } from '../actions/longText';
import type { CreationRequest } from '../actions/operation';
import type { ItemSettings } from '../actions/waiting';
import { createClient, type ServiceClient } from '../transport/client';
import { type Work } from '../base/clock';
import { inPieces } from '../n8n/clock';
import {
	attempt,
	attemptLater,
	FailureError,
	invalid,
	messageOf,
	valueOf,
	type Attempt,
} from '../base/failures';
import { readBalance } from '../transport/reading';
import { checkSuspension, warnOfWorkflowTimeout, type Waking } from '../suspend/checks';
import { isCalledBack } from '../suspend/notes';
import { failedEnd, type Item, type ItemEnd, type Part } from './item';
import type { Draft, Planned } from './plan';

/** Throws a FailureError where the credential can't be read at all: none is selected, or it was deleted. */
export async function openClient(
	context: Parameters<typeof createClient>[0],
): Promise<Attempt<ServiceClient>> {
	try {
		return { ok: true, value: await createClient(context) };
	} catch (error) {
		if (error instanceof FailureError) return { ok: false, failure: error.failure };
		throw invalid(
			`The credential could not be read: ${messageOf(error)}`,
			'Select a Media Generation API credential in this node. Nothing was sent.',
		);
	}
}

interface Prepared {
	ready: Array<Item | ItemEnd>;
	/** Says how the execution can be woken, or why it can't be; undefined where nothing suspends. */
	waking: Attempt<Waking> | undefined;
}

interface Preparing {
	client: ServiceClient;
	ledger: Ledger;
	stop: AbortSignal | undefined;
}

export async function prepareItems(
	context: IExecuteFunctions,
	planned: Planned,
	preparing: Preparing,
): Promise<Prepared> {
	const { client, stop: signal } = preparing;
	const drafts = planned.filter((each) => each.kind === 'draft');
	const waitings = drafts.map(({ settings }) => settings.waiting);
	const suspending = drafts.filter(({ settings }) => settings.waiting.kind === 'suspend');
	const { baseUrl } = client.credentials;
	const waking =
		suspending.length === 0
			? undefined
			: await attemptLater(async () => await checkSuspension(context, baseUrl));
	if (waking?.ok === true)
		warnOfWorkflowTimeout(
			context,
			suspending.reduce((most, { settings }) => Math.max(most, settings.timeoutMs), 0),
		);
	const urls = waitings.map((waiting) => (waiting.kind === 'no' ? waiting.callbackUrl : undefined));
	const here = urls.some((url) => url !== undefined) ? ownOrigin(context) : undefined;
	await warnOfCallbackUrls(context, urls, { here, ...client.credentials });
	const needed = drafts.some(({ settings }) => settings.minimumCredits !== undefined);
	const balance = needed ? await readBalance({ client, signal }) : undefined;
	const repeats = context.getNode().retryOnFail === true;
	const ready = await inPieces(readyOf(planned, { ...preparing, waking, balance, repeats, here }));
	return { ready, waking };
}

interface Checked extends Preparing, Omit<Prepared, 'ready'> {
	/** Read where Minimum Credits asks for it. */
	balance: Attempt<number> | undefined;
	/** Whether n8n may run the node again on the same items. */
	repeats: boolean;
	/** Origin of this n8n. */
	here: string | undefined;
}

/** Number of the item's first task among all that the execution sleeps on. */
interface Among {
	first: number;
	of: number;
}

/** Makes the items of all drafts, or says why they may not run. */
function* readyOf(planned: Planned, checked: Checked): Work<Array<Item | ItemEnd>> {
	const ready: Array<Item | ItemEnd> = [];
	const of = planned.reduce((sum, each) => sum + sleepingTasksOf(each), 0);
	let first = 0;
	for (const each of planned) {
		const among = { first, of };
		const made = attempt(() =>
			each.kind === 'draft' ? itemOf(each, { ...checked, among }) : each,
		);
		ready.push(made.ok ? made.value : failedEnd(each.index, made.failure));
		first += sleepingTasksOf(each);
		yield;
	}
	return ready;
}

/** The tasks that an item creates and sleeps on. */
function sleepingTasksOf(each: Planned[number]): number {
	if (each.kind !== 'draft' || each.settings.waiting.kind !== 'suspend') return 0;
	return each.work.kind === 'creates' ? Math.max(1, each.work.texts.length) : 0;
}

/** Includes what earlier tries have left. Throws an `invalid` failure where the item may not run. */
function itemOf(
	{ index, settings, work }: Draft,
	{ client, ledger, balance, repeats, here, among, ...checked }: Checked & { among: Among },
): Item {
	const { longText, waiting, minimumCredits } = settings;
	const wakes = waiting.kind === 'suspend' ? checked.waking : undefined;
	const waking = wakes && valueOf(wakes);
	const item = { kind: 'item', index, settings } as const;
	if (work.kind === 'awaits') {
		const parts = work.taskIds.map((taskId, part): Part => {
			return { kind: 'awaits', slot: { item: index, part }, taskId };
		});
		return { ...item, parts, assembly: work.assembly };
	}
	const isLong = longText.kind !== 'off';
	const texts = isLong && repeats ? ledger.firstTexts(index, work.texts) : work.texts;
	const requests = isLong ? requestsFor(work.request, texts) : [work.request];
	const parts = requests.map((each, part) => {
		const isCalled = isCalledBack(among.first + part, among.of);
		const called = { client, here, waking: isCalled ? waking : undefined };
		const request = withCallback(each, settings, called);
		const hash = requestHash(client.credentials.baseUrl, request);
		const asked = { slot: { item: index, part }, request, hash };
		return { kind: 'creates' as const, ...asked, earlier: ledger.earlier(asked) };
	});
	// What may have been created is not sent again, so nothing is left to be paid for it.
	const isPaidFor = parts.every(
		({ earlier: { kind } }) =>
			kind === 'created' || kind === 'unread' || (kind === 'unclear' && !settings.sendUnclearAgain),
	);
	if (!isPaidFor && minimumCredits !== undefined) checkCredits(minimumCredits, balance);
	return { ...item, parts, assembly: { longText, texts } };
}

/** Adds the URL that the service is to call. Resume URLs carry n8n's own token. */
function withCallback(
	request: CreationRequest,
	{ waiting, callbackReference: reference }: ItemSettings,
	{ client, waking, here }: Pick<Checked, 'client' | 'here'> & { waking: Waking | undefined },
): CreationRequest {
	const url = waiting.kind === 'no' ? waiting.callbackUrl : undefined;
	const made = { reference, here, now: Date.now() };
	const own = url && prepareReceiveUrl(url, client.credentials, made);
	const receive_url = waking?.callable ? waking.resumeUrl : own;
	return receive_url === undefined
		? request
		: { ...request, body: { ...request.body, receive_url } };
}

function checkCredits(minimum: number, balance: Attempt<number> | undefined): void {
	if (balance?.ok === false)
		throw invalid(
			`The credit balance could not be read, so nothing was created: ${balance.failure.message}`,
			'Run again later, or remove the option Minimum Credits.',
		);
	if (balance !== undefined && balance.value < minimum)
		throw invalid(
			`The account has ${balance.value} credits, fewer than the ${minimum} that Minimum Credits asks for`,
			'Add credits at the service or lower the option Minimum Credits. Nothing was created for this item.',
		);
}
