/** From the credential and the drafts to items that are ready to run: what can still be refused before anything is created. */
import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { warnOfTestUrls, warnOfUnpublished } from '../callback/receiveUrl';
import type { AgentCall, Ledger, NodeRun } from '../create/ledger';
import { ensured } from '../service/boundedMap';
import { createClient, type ServiceClient } from '../service/client';
import {
	attempt,
	attemptLater,
	FailureError,
	invalid,
	type Attempt,
	type Failure,
} from '../service/failures';
import { checkSuspension, isToolRun, type Waking } from '../sleep/checks';
import { failedEnd, type Item, type ItemEnd } from './item';
import { itemOf, type Draft } from './plan';
import { BALANCE_TIMEOUT_MS, readBalance, type Spending, type SpendingDeps } from './spending';

/** The execution, the run of the node and, as a tool, the agent's call that it is for. */
export function runOf(context: IExecuteFunctions): NodeRun {
	const evaluated = context.evaluateExpression('{{ $runIndex }}', 0);
	const runIndex = typeof evaluated === 'number' ? evaluated : 0;
	const run = { executionId: context.getExecutionId(), runIndex };
	return isToolRun(context) ? { ...run, call: callOf(context, runIndex) } : run;
}

/** The calls of agents, by their arguments. */
const callIds = new WeakMap<object, string>();

function callOf(context: IExecuteFunctions, runIndex: number): AgentCall {
	const [source] = context.getExecuteData().source?.main ?? [];
	const agent = `${source?.previousNode ?? ''}:${source?.previousNodeRun ?? 0}`;
	const [input] = context.getInputData();
	if (input === undefined) return { id: `run ${runIndex}`, agent };
	const { toolCallId } = input.json;
	// The engine runs a tool with the model's ID of the call; all tries are one run. A model can give several calls the same ID.
	if (typeof toolCallId === 'string')
		return { id: `${runIndex} ${toolCallId.replaceAll(':', ' ')}`, agent };
	// The agent itself runs it with the arguments only: each try is a run of its own, and gets the same object.
	return { id: ensured(callIds, input.json, randomUUID), agent };
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

/** Throws a FailureError where the credential can't be read at all: none is selected, or it was deleted. */
export async function openClient(
	context: Parameters<typeof createClient>[0],
): Promise<Attempt<ServiceClient>> {
	try {
		return { ok: true, value: await createClient(context) };
	} catch (error) {
		if (error instanceof FailureError) return { ok: false, failure: error.failure };
		const reason = error instanceof Error ? error.message : 'unknown reason';
		throw invalid(
			`The credential could not be read: ${reason}`,
			'Select a Media Generation API credential in this node. Nothing was sent.',
		);
	}
}

type Planned = ReadonlyArray<Draft | ItemEnd>;
/** An item that is ready to run, or over already. */
export type Ready = Item | ItemEnd;

export function draftsIn(planned: Planned): Draft[] {
	return planned.filter((each) => each.kind === 'draft');
}

/** How the execution can be woken, or why it can't be; undefined where nothing suspends. */
export async function prepareSuspension(
	context: IExecuteFunctions,
	client: ServiceClient,
	planned: Planned,
): Promise<Attempt<Waking> | undefined> {
	const waitings = draftsIn(planned).map(({ settings }) => settings.waiting);
	const suspending = waitings.filter((waiting) => waiting.kind === 'suspend');
	if (suspending.length === 0) return undefined;
	const watched = suspending.every((waiting) => waiting.watched);
	const { baseUrl } = client.credentials;
	return await attemptLater(async () => await checkSuspension(context, baseUrl, watched));
}

interface MakingMeans {
	client: ServiceClient;
	ledger: Ledger;
	waking: Attempt<Waking> | undefined;
}

/** Warns of callback URLs that can't work. */
export async function warnOfUrls(context: IExecuteFunctions, planned: Planned): Promise<void> {
	const urls = draftsIn(planned).map(({ settings: { waiting } }) =>
		waiting.kind === 'no' ? waiting.callbackUrl : undefined,
	);
	warnOfTestUrls(context, urls);
	await warnOfUnpublished(context, urls);
}

export function makeItems(
	context: IExecuteFunctions,
	planned: Planned,
	{ client, ledger, waking }: MakingMeans,
): Ready[] {
	const making = {
		credentials: client.credentials,
		ledger,
		waking: waking?.ok === true ? waking.value : undefined,
		repeats: context.getNode().retryOnFail === true,
	};
	return planned.map((each) => {
		if (each.kind !== 'draft') return each;
		const { index, settings } = each;
		if (settings.waiting.kind === 'suspend' && waking?.ok === false)
			return failedEnd(index, waking.failure);
		const made = attempt(() => itemOf(each, making));
		return made.ok ? made.value : failedEnd(index, made.failure);
	});
}

/** Whether nothing is left to be paid for an item: what may have been created is not sent again. */
function isPaidFor({ parts }: Item): boolean {
	return parts.every(
		(part) =>
			part.kind === 'awaits' || part.earlier.kind === 'created' || part.earlier.kind === 'unknown',
	);
}

/** The balance before anything is created, where an item or the run has to know it. Without Min Credits one try has to do. */
export async function balanceFor(
	client: ServiceClient,
	ready: readonly Ready[],
	{ maximum, signal }: Pick<SpendingDeps, 'maximum' | 'signal'>,
): Promise<Attempt<number> | undefined> {
	if (ready.some((each) => each.kind === 'item' && minimumOf(each) !== undefined))
		return await readBalance({ client, signal });
	if (maximum === undefined) return undefined;
	return await readBalance({ client, signal, tries: 1, timeoutMs: BALANCE_TIMEOUT_MS });
}

/** The Min Credits of an item that is still to be paid for. */
function minimumOf(item: Item): number | undefined {
	return isPaidFor(item) ? undefined : item.settings.minimumCredits;
}

export function withEnoughCredits(
	ready: readonly Ready[],
	balance: Attempt<number> | undefined,
): Ready[] {
	return ready.map((each) => {
		const minimum = each.kind === 'item' ? minimumOf(each) : undefined;
		if (minimum === undefined || balance === undefined) return each;
		const failure = shortage(balance, minimum);
		return failure === undefined ? each : failedEnd(each.index, failure);
	});
}

function shortage(balance: Attempt<number>, minimum: number): Failure | undefined {
	if (!balance.ok)
		return invalid(
			`The credit balance could not be read, so nothing was created: ${balance.failure.message}`,
			'Run again later, or remove the option Min Credits.',
		).failure;
	if (balance.value >= minimum) return undefined;
	return invalid(
		`The account has ${balance.value} credits, fewer than the ${minimum} that Min Credits asks for`,
		'Add credits at the service or lower the option Min Credits. Nothing was created for this item.',
	).failure;
}

/** What earlier tries have created counts as well, and is nobody else's. */
export function countEarlier(
	client: ServiceClient,
	items: readonly Item[],
	spending: Spending,
): void {
	for (const { parts, settings } of items)
		for (const part of parts) {
			if (part.kind !== 'creates' || part.earlier.kind !== 'created') continue;
			const { created } = part.earlier;
			client.account.known.set(created.taskId, true);
			spending.takeUp(created, { kind: part.request.kind, route: settings.pollRoute });
		}
}
