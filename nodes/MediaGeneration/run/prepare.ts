/** Makes items of plans: checks whatever can be checked for free, and sets the URLs that the service calls when tasks end. */
import type { ItemSettings } from '../actions/waiting';
import {
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
import { requestHash } from '../task/identity';
import {
	createdParts,
	failedResult,
	leftOf,
	type Item,
	type Part,
	type Plan,
	type Planned,
} from './item';
import { readFiles } from './readFiles';
import type { Run } from './run';

interface Prepared {
	ready: Planned<Item>;
	/** How the execution can be woken, or why it can't be; undefined if nothing suspends. */
	waking: Attempt<Waking> | undefined;
}

export async function prepareItems(run: Run, planned: Planned<Plan>): Promise<Prepared> {
	const { context, client, stop: signal } = run;
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
	const created = sleeping.flatMap(({ wanted }) => wanted.filter(({ kind }) => kind === 'creates'));
	const withCallback = new Set(created.filter((_, index) => isCalledBack(index, created.length)));
	const checks = { waking, balance, here, withCallback };
	return { ready: await inPieces(prepareEach(run, planned, checks)), waking };
}

async function* prepareEach(
	run: Run,
	planned: Planned<Plan>,
	checks: Checks,
): AsyncGenerator<undefined, Planned<Item>> {
	const ready: Array<Planned<Item>[number]> = [];
	for (const each of planned) {
		yield;
		if (each.kind !== 'item') {
			ready.push(each);
			continue;
		}
		const made = await attemptAsync(async () => await prepareItem(run, each, checks));
		ready.push(made.ok ? made.value : failedResult(each.index, made.failure));
	}
	return ready;
}

const sleeps = ({ settings }: Plan) => settings.waiting.kind === 'suspend';

interface Checks extends Pick<Prepared, 'waking'> {
	/** Read if Minimum Credits needs it. */
	balance: Attempt<number> | undefined;
	/** Origin of this n8n. */
	here: string | undefined;
	/** Parts whose callbacks wake the execution. */
	withCallback: ReadonlySet<Plan['wanted'][number] | undefined>;
}

/** Throws an `invalid` failure if the item may not run. */
async function prepareItem(run: Run, plan: Plan, checks: Checks): Promise<Item> {
	const { context, client, ledger } = run;
	const { index, settings, wanted, assembly } = plan;
	const files = await readFiles(context, plan.files);
	const parts = wanted.map((each, part): Part => {
		const slot = { item: index, part };
		if (each.kind === 'awaits') return { ...each, slot };
		const request = { ...each.request, ...(files.length > 0 && { files }) };
		return { ...each, slot, request, hash: requestHash(client.credentials.baseUrl, request) };
	});
	const refusal = creditsRefusal(settings, checks.balance);
	const item: Item = { kind: 'item', index, settings, parts, assembly, refusal };
	for (const part of createdParts(item)) ledger.takeUp(part);
	const waking = sleeps(plan) && checks.waking ? valueOf(checks.waking) : undefined;
	for (const { slot, request } of createdParts(item)) {
		const wakesUp = waking?.callable === true && checks.withCallback.has(wanted[slot.part]);
		const receive_url = wakesUp ? waking.resumeUrl : ownReceiveUrl(run, settings, checks.here);
		if (receive_url !== undefined) request.body = { ...request.body, receive_url };
	}
	// What earlier tries may have left is searched for, whatever the balance is.
	if (refusal !== undefined && leftOf(run, item).includes('nothing'))
		throw new FailureError(refusal);
	return item;
}

function ownReceiveUrl(
	{ client }: Run,
	{ waiting, callbackReference: reference }: ItemSettings,
	here: string | undefined,
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
			"Run again later, or remove the option 'Minimum Credits'.",
		).failure;
	if (balance.value >= minimum) return undefined;
	return invalid(
		`The account has ${balance.value} credits, fewer than the ${minimum} that 'Minimum Credits' asks for`,
		"Add credits at the service or lower the option 'Minimum Credits'. Nothing was created for this item.",
	).failure;
}
