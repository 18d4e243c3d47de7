/**
 * One execution of the action node, from the fields of a workflow to one output: plan, check, create, wait, deliver, conclude. Each
 * step takes what the one before has made; an item that is over keeps its end.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Ledger, type LedgerStore, type NodeRun } from '../create/ledger';
import { nodeError } from '../delivery/failure';
import { Delivery } from '../delivery/item';
import { operationOf } from '../operations';
import type { Operation } from '../operations/operation';
import type { RunSettings } from '../operations/waiting';
import { cleanly } from '../service/clean';
import type { ServiceClient } from '../service/client';
import { inPieces, realClock } from '../service/clock';
import { asFailure, FailureError } from '../service/failures';
import { sleepingInput } from '../sleep/suspend';
import { goToSleep, lookBeforeSleep } from './asleep';
import { failedEnd, type ItemEnd, type Means } from './item';
import { runItems } from './items';
import { joinItems } from './joinItems';
import { Report } from './output';
import { planItems, type Draft } from './plan';
import * as prepare from './prepare';
import { readItems } from './readItems';
import { Spending } from './spending';

export async function runOperation(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	return await cleanly(context, async () => await carryOut(context));
}

async function carryOut(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	try {
		const operation = operationOf(
			context.getNodeParameter('resource', 0),
			context.getNodeParameter('operation', 0),
		);
		switch (operation.work.kind) {
			case 'creates':
			case 'awaits':
				return await generate(context, operation);
			case 'joins':
				return await joinItems(context);
			case 'reads':
			case 'looks':
			case 'lists':
				return await readItems(context, operation);
		}
	} catch (error) {
		throw error instanceof FailureError ? nodeError(context.getNode(), error.failure, 0) : error;
	}
}

async function generate(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const asleep = sleepingInput(context);
	if (asleep !== undefined) return asleep;
	const run = prepare.runOf(context);
	const store = context.getContext('node');
	const report = new Report(context, run, store);
	const planned = await inPieces(planItems(context, operation));
	report.throwFirstFailure(planned);
	const [first] = prepare.draftsIn(planned);
	if (first === undefined) return report.output(planned as ItemEnd[]);
	// Without a credential the run fails, whatever On Error says.
	const opened = await prepare.openClient(context).catch((error: unknown) => {
		throw report.errorOf(failedEnd(0, asFailure(error)), []);
	});
	if (!opened.ok)
		return report.output(
			planned.map((each) => (each.kind === 'draft' ? failedEnd(each.index, opened.failure) : each)),
		);
	return await runPlanned(
		{ context, report, run, store, client: opened.value },
		planned,
		first.run,
	);
}

interface Host {
	context: IExecuteFunctions;
	report: Report;
	run: NodeRun;
	store: LedgerStore;
	client: ServiceClient;
}

async function runPlanned(
	{ context, report, run, store, client }: Host,
	planned: ReadonlyArray<Draft | ItemEnd>,
	{ maxActiveTasks, maximumCredits: maximum }: RunSettings,
): Promise<INodeExecutionData[]> {
	const { baseUrl } = client.credentials;
	const stop = context.getExecutionCancelSignal();
	const ledger = new Ledger(store, { ...run, baseUrl });
	// Before this try leaves anything.
	const beganAt = prepare.beganAt(context, ledger);
	let ends: readonly ItemEnd[] = [];
	let spending: Spending | undefined;
	let handedOut = new Set<number>();
	try {
		const waking = await prepare.prepareSuspension(context, client, planned);
		await prepare.warnOfUrls(context, planned);
		const made = prepare.makeItems(context, planned, { client, ledger, waking });
		const balance = await prepare.balanceFor(client, made, { maximum, signal: stop });
		const ready = prepare.withEnoughCredits(made, balance);
		report.throwFirstFailure(ready);
		const items = ready.filter((each) => each.kind === 'item');
		report.warnOfRepeats(items);
		const account = { client, store, run, maximum, balance, signal: stop };
		spending = new Spending({ ...realClock, ...account });
		prepare.countEarlier(client, items, spending);
		report.showLongTexts(items);
		const delivery = new Delivery(context, { signal: stop, baseUrl });
		const shared = { context, client, ledger, spending, delivery, stop, beganAt };
		const means: Means = { ...realClock, random: Math.random, ...shared };
		const options = { maxActiveTasks, haltOnFailure: !context.continueOnFail() };
		const over = (await runItems(items, means, options)).values();
		await spending.settled();
		ends = ready.map((each) =>
			each.kind === 'item' ? (over.next().value as ItemEnd) : report.withEarlier(each),
		);
		ends = await lookBeforeSleep(means, ends);
		const isAsleep = ends.some(({ kind }) => kind === 'asleep') && stop?.aborted !== true;
		const output =
			isAsleep && waking?.ok === true
				? await goToSleep(means, report, { ends, waking: waking.value })
				: report.output(ends, spending);
		handedOut = new Set(ends.flatMap(({ kind, index }) => (kind === 'items' ? [index] : [])));
		return output;
	} finally {
		// Whatever the stop has cut short: creations, waiting, downloads, or the last look before the sleep.
		if (stop?.aborted === true) report.logStop(ends);
		report.note(ends, spending);
		ledger.close((index) => handedOut.has(index));
	}
}
