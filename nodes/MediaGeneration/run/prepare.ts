/** Refuses what can be refused before anything is created, and sets the URLs that the service calls when tasks end. */
import type { ItemSettings } from '../actions/waiting';
import type { Work } from '../base/clock';
import {
	attempt,
	attemptAsync,
	FailureError,
	invalid,
	valueOf,
	type Attempt,
	type Failure,
} from '../base/outcomes';
import { inPieces } from '../n8n/realClock';
import { checkSuspension, warnOfWorkflowTimeout, type Waking } from '../suspend/checks';
import { isCalledBack } from '../suspend/notes';
import { readBalance } from '../transport/reading';
import { ownAddress, prepareReceiveUrl, warnOfCallbackUrls } from '../trigger/receiveUrl';
import { askedFor, failedResult, type Item, type Part } from './item';
import type { Planned } from './plan';
import type { Run } from './run';

interface Prepared {
	ready: Planned;
	/** How the execution can be woken, or why it can't be; undefined if nothing suspends. */
	waking: Attempt<Waking> | undefined;
}

export async function prepareItems(run: Run, planned: Planned): Promise<Prepared> {
	const { context, client, ledger, stop: signal } = run;
	const { credentials } = client;
	const items = planned.filter((each) => each.kind === 'item');
	const sleeping = items.filter(sleeps);
	const suspends = async () => await checkSuspension(context, credentials.baseUrl);
	const waking = sleeping.length > 0 ? await attemptAsync(suspends) : undefined;
	const longest = sleeping.reduce((most, { settings }) => Math.max(most, settings.timeoutMs), 0);
	if (waking?.ok === true) warnOfWorkflowTimeout(context, longest);
	const urls = items.map(({ settings }) => settings.waiting.callbackUrl);
	const here = urls.some((url) => url !== undefined) ? ownAddress(context) : undefined;
	await warnOfCallbackUrls(context, urls, { here, ...credentials });
	const needed = items.some(({ settings }) => settings.minimumCredits !== undefined);
	const balance = needed ? await readBalance({ client, signal }) : undefined;
	const created = sleeping.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'creates'));
	const called = new Set(created.filter((_, index) => isCalledBack(index, created.length)));
	const checked = { client, ledger, waking, balance, here, called };
	return { ready: await inPieces(checkedItems(planned, checked)), waking };
}

const sleeps = ({ settings }: Item) => settings.waiting.kind === 'suspend';

interface Checked extends Pick<Run, 'client' | 'ledger'>, Pick<Prepared, 'waking'> {
	/** Read if Minimum Credits needs it. */
	balance: Attempt<number> | undefined;
	/** Origin of this n8n. */
	here: string | undefined;
	/** Parts whose callbacks wake the execution. */
	called: ReadonlySet<Part>;
}

function* checkedItems(planned: Planned, checked: Checked): Work<Planned> {
	const ready: Array<Planned[number]> = [];
	for (const each of planned) {
		const made = attempt(() => (each.kind === 'item' ? checkedItem(each, checked) : each));
		ready.push(made.ok ? made.value : failedResult(each.index, made.failure));
		yield;
	}
	return ready;
}

/** Throws an `invalid` failure if the item may not run. */
function checkedItem(item: Item, checked: Checked): Item {
	for (const part of item.parts)
		if (part.kind === 'creates') checked.ledger.takeUp(askedFor(checked.client, part));
	const wakes = sleeps(item) ? checked.waking : undefined;
	const waking = wakes && valueOf(wakes);
	const refusal = creditsRefusal(item.settings, checked.balance);
	if (refusal !== undefined && isNew(item, checked)) throw new FailureError(refusal);
	const parts = item.parts.map((part): Part => {
		if (part.kind === 'awaits') return part;
		const { request } = part;
		const wakesUp = waking?.callable === true && checked.called.has(part);
		const receive_url = wakesUp ? waking.resumeUrl : ownReceiveUrl(item.settings, checked);
		if (receive_url === undefined) return part;
		return { ...part, request: { ...request, body: { ...request.body, receive_url } } };
	});
	return { ...item, parts, refusal };
}

/** Tells whether earlier tries left nothing of a part. What they may have left is searched for, whatever the balance is. */
function isNew({ parts }: Item, { client, ledger }: Checked): boolean {
	return parts.some(
		(part) =>
			part.kind === 'creates' && ledger.earlierOf(askedFor(client, part)).kind === 'nothing',
	);
}

function ownReceiveUrl(
	{ waiting, callbackReference: reference }: ItemSettings,
	{ client, here }: Checked,
): string | undefined {
	const url = waiting.callbackUrl;
	return url && prepareReceiveUrl(url, client.credentials, { reference, here, now: Date.now() });
}

/** Explains why Minimum Credits lets nothing be created. */
function creditsRefusal(
	{ minimumCredits: minimum }: ItemSettings,
	balance: Attempt<number> | undefined,
): Failure | undefined {
	if (minimum === undefined || balance === undefined) return undefined;
	if (!balance.ok)
		return invalid(
			`The credit balance could not be read, so nothing was created: ${balance.failure.message}`,
			'Run again later, or remove the option Minimum Credits.',
		).failure;
	if (balance.value >= minimum) return undefined;
	return invalid(
		`The account has ${balance.value} credits, fewer than the ${minimum} that Minimum Credits asks for`,
		'Add credits at the service or lower the option Minimum Credits. Nothing was created for this item.',
	).failure;
}
