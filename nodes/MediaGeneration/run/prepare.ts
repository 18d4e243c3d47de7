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
import { isCalledBack } from '../suspend/resumeUrl';
import { readBalance } from '../transport/reading';
import { ownAddress, prepareReceiveUrl, warnOfCallbackUrls } from '../trigger/receiveUrl';
import { requestHash } from '../task/identity';
import {
	earlierKinds,
	failedResult,
	partsToCreate,
	suspends,
	type Item,
	type ItemResult,
	type Part,
	type Plan,
} from './item';
import { readFiles } from './readFiles';
import type { Run } from './run';

type PrepareDeps = Pick<Run, 'context' | 'client' | 'ledger' | 'stop'>;

interface Prepared {
	ready: Array<Item | ItemResult>;
	/** How the execution can be woken, or why it can't be; undefined if nothing suspends. */
	waking: Attempt<Waking> | undefined;
}

export async function prepareItems(
	deps: PrepareDeps,
	planned: ReadonlyArray<Plan | ItemResult>,
): Promise<Prepared> {
	const plans = planned.filter((each) => each.kind === 'plan');
	const checks = await checkRun(deps, plans);
	const preparing = prepareEach(deps, planned, checks);
	return { ready: await inPieces(preparing), waking: checks.waking };
}

/** What is found out once for all items. */
interface RunChecks extends Pick<Prepared, 'waking'> {
	/** Read if Minimum Credits needs it. */
	balance: Attempt<number> | undefined;
	/** Address of this n8n. */
	here: string | undefined;
	/** Parts whose callbacks wake the execution. */
	withCallback: ReadonlySet<Plan['wanted'][number] | undefined>;
}

async function checkRun(
	{ context, client, stop: signal }: PrepareDeps,
	plans: readonly Plan[],
): Promise<RunChecks> {
	const { credentials } = client;
	const sleeping = plans.filter(suspends);
	const check = async () => await checkSuspension(context, credentials.baseUrl);
	const waking = sleeping.length > 0 ? await attemptAsync(check) : undefined;
	const longest = sleeping.reduce((most, { settings }) => Math.max(most, settings.timeoutMs), 0);
	if (waking?.ok === true) warnOfWorkflowTimeout(context, longest);
	const urls = plans.map(({ settings }) => settings.waiting.callbackUrl);
	const here = urls.some((url) => url !== undefined) ? ownAddress(context) : undefined;
	await warnOfCallbackUrls(context, urls, { here, ...credentials });
	const needsBalance = plans.some(({ settings }) => settings.minimumCredits !== undefined);
	const balance = needsBalance ? await readBalance({ client, signal }) : undefined;
	const created = sleeping.flatMap(({ wanted }) => wanted.filter(({ kind }) => kind === 'creates'));
	const withCallback = new Set(created.filter((_, index) => isCalledBack(index, created.length)));
	return { waking, balance, here, withCallback };
}

async function* prepareEach(
	deps: PrepareDeps,
	planned: ReadonlyArray<Plan | ItemResult>,
	checks: RunChecks,
): AsyncGenerator<undefined, Prepared['ready']> {
	const ready: Prepared['ready'] = [];
	for (const each of planned) {
		yield;
		if (each.kind === 'plan') {
			const made = await attemptAsync(async () => await prepareItem(deps, each, checks));
			ready.push(made.ok ? made.value : failedResult(each.index, made.failure));
		} else ready.push(each);
	}
	return ready;
}

/** Throws an `invalid` failure if the item may not run. */
async function prepareItem(deps: PrepareDeps, plan: Plan, checks: RunChecks): Promise<Item> {
	const { context, client, ledger } = deps;
	const { index, settings, assembly } = plan;
	const files = await readFiles(context, plan.files);
	const parts = plan.wanted.map((each, part): Part => {
		const slot = { item: index, part };
		if (each.kind === 'awaits') return { ...each, slot };
		const request = { ...each.request, ...(files.length > 0 && { files }) };
		return { ...each, slot, request, hash: requestHash(client.credentials.baseUrl, request) };
	});
	const refusal = creditsRefusal(settings, checks.balance);
	const item: Item = { kind: 'item', index, settings, parts, assembly, refusal };
	for (const part of partsToCreate(item)) ledger.takeUp(part);
	setReceiveUrls(client, { plan, item }, checks);
	// What earlier tries may have left is searched for, whatever the balance is.
	if (refusal !== undefined && earlierKinds(ledger, item).includes('nothing'))
		throw new FailureError(refusal);
	return item;
}

/** Throws an `invalid` failure if the execution can't sleep, or a Callback URL can't be used. */
function setReceiveUrls(
	{ credentials }: PrepareDeps['client'],
	{ plan, item }: { plan: Plan; item: Item },
	{ here, withCallback, ...checks }: RunChecks,
): void {
	const { waiting, callbackReference: reference } = item.settings;
	const waking = suspends(plan) && checks.waking ? valueOf(checks.waking) : undefined;
	for (const { slot, request } of partsToCreate(item)) {
		const isCalled = waking?.callable === true && withCallback.has(plan.wanted[slot.part]);
		const own = { reference, here, now: Date.now() };
		const receive_url = isCalled
			? waking.resumeUrl
			: waiting.callbackUrl && prepareReceiveUrl(waiting.callbackUrl, credentials, own);
		if (receive_url !== undefined) request.body = { ...request.body, receive_url };
	}
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
