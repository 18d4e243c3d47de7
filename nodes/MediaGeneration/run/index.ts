/** Runs the action node once, from its fields to one output: plan, check, create, wait, deliver, conclude. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Ledger } from '../task/ledger';
import { nodeError } from '../files/failure';
import { Delivery } from '../files/item';
import { operationOf } from '../actions';
import { ItemFields } from '../actions/fields';
import type { Operation, Job } from '../actions/operation';
import { cleanerOf, cleanly } from '../n8n/clean';
import type { ServiceClient } from '../transport/client';
import { otherAccounts } from '../transport/credentials';
import { inPieces, realClock } from '../n8n/clock';
import { killedSince, runOf, storeOf } from '../n8n/execution';
import { asFailure, attemptLater, FailureError, valueOf } from '../base/failures';
import type { Waking } from '../suspend/checks';
import { sleepingInput, suspend, type Sleeper, type SleepingTask } from '../suspend/suspend';
import { hintAtFiles, hintAtItems, warnOfSubworkflow } from './hints';
import { readInputFiles } from './inputFiles';
import { brokenEnd, failedEnd, type ItemEnd, type RunDeps } from './item';
import { runItems } from './items';
import { joinItems } from './joinItems';
import { failedItem, includedInput, Report } from './output';
import { PaidTasks } from '../n8n/paidTasks';
import { planItems, runSettings, type Planned } from './plan';
import * as prepare from './prepare';
import { Spending, type SpendingDeps } from '../task/spending';

export async function runOperation(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const items = context.getInputData().map((_, index) => new ItemFields(context, index));
	return await cleanly(context, async () => await carryOut(context, items));
}

async function carryOut(
	context: IExecuteFunctions,
	items: readonly ItemFields[],
): Promise<INodeExecutionData[]> {
	try {
		const operation = operationOf(
			context.getNodeParameter('resource', 0),
			context.getNodeParameter('operation', 0),
		);
		switch (operation.work.kind) {
			case 'creates':
			case 'awaits':
				return sleepingInput(context) ?? (await generate(context, items, operation));
			case 'joins':
				return await joinItems(context, items);
			case 'reads':
				return await readItems(context, items, operation.work);
		}
	} catch (error) {
		throw error instanceof FailureError
			? nodeError(context.getNode(), { failure: error.failure, index: 0 })
			: error;
	}
}

async function readItems(
	context: IExecuteFunctions,
	items: readonly ItemFields[],
	work: Extract<Job, { kind: 'reads' }>,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	const signal = context.getExecutionCancelSignal();
	const opened = await attemptLater(async () => valueOf(await prepare.openClient(context)));
	const others = opened.ok ? await otherAccounts(context, opened.value.credentials) : undefined;
	for (const fields of items) {
		const { itemIndex: item } = fields;
		const read = await attemptLater(async () => {
			const failure = others?.get(item);
			if (failure !== undefined) throw new FailureError(failure);
			return await work.read({ client: valueOf(opened), signal }, fields);
		});
		if (read.ok) {
			for (const json of read.value as IDataObject[]) output.push({ json, pairedItem: { item } });
		} else output.push(failedItem(context, read.failure, item));
	}
	return output;
}

async function generate(
	context: IExecuteFunctions,
	items: readonly ItemFields[],
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const clean = <T>(value: T) => cleanerOf(context).value(value);
	const ledger = new Ledger(storeOf(context), runOf(context), clean);
	ledger.begin(killedSince(context));
	const report = new Report(context, ledger, items);
	const planned = await readInputFiles(context, await inPieces(planItems(operation, items)));
	report.throwFirstFailure(planned);
	if (planned.every((each) => each.kind !== 'draft')) return report.output(planned);
	// Without a credential the run fails, whatever On Error says.
	const opened = await prepare.openClient(context).catch((error: unknown) => {
		throw report.errorOf(failedEnd(0, asFailure(error)), []);
	});
	if (opened.ok) {
		const others = await otherAccounts(context, opened.value.credentials);
		const own = planned.map((each) => {
			const failure = others.get(each.index);
			return failure === undefined ? each : failedEnd(each.index, failure);
		});
		return await runPlanned(report, opened.value, own);
	}
	const { failure } = opened;
	return report.output(
		planned.map((each) => (each.kind === 'draft' ? failedEnd(each.index, failure) : each)),
	);
}

async function runPlanned(
	report: Report,
	client: ServiceClient,
	planned: Planned,
): Promise<INodeExecutionData[]> {
	const { context, ledger } = report;
	const { maxActiveTasks, maximumCredits: maximum } = runSettings(report.items, planned);
	const stop = context.getExecutionCancelSignal();
	const paidTasks = new PaidTasks(context, ledger.run.executionId, realClock.sleep);
	let ends: readonly ItemEnd[] = [];
	let output: INodeExecutionData[] | undefined;
	try {
		const account = { client, ledger, stop };
		const { ready, waking } = await prepare.prepareItems(context, planned, account);
		report.throwFirstFailure(ready);
		hintAtItems(context, ready);
		const deps = depsOf(report, client, { maximum, stop, paidTasks });
		const items = ready.map((each) =>
			each.kind === 'item' ? each : report.withEarlierTasks(each),
		);
		const haltOnFailure = !context.continueOnFail();
		ends = await runItems(items, deps, { maxActiveTasks, haltOnFailure });
		report.note(ends, deps.spending);
		hintAtFiles(context, items, ends);
		const isAsleep = ends.some(({ kind }) => kind === 'asleep') && stop?.aborted !== true;
		output =
			isAsleep && waking?.ok === true
				? await goToSleep(deps, report, { ends, waking: waking.value })
				: report.output(ends, deps.spending);
		return output;
	} finally {
		paidTasks.write();
		// A stop can cut short creations, waiting, downloads, or the last look before the sleep.
		if (stop?.aborted === true) report.log('the execution was stopped', report.left(ends));
		const isOut = output !== undefined;
		const isHandedOut = ({ kind }: ItemEnd) => kind === 'items' || kind === 'asleep';
		ledger.close((item) => isOut && ends.some((end) => end.index === item && isHandedOut(end)));
	}
}

function depsOf(
	{ context, ledger }: Report,
	client: ServiceClient,
	{ maximum, stop, paidTasks }: Pick<RunDeps, 'stop' | 'paidTasks'> & Pick<SpendingDeps, 'maximum'>,
): RunDeps {
	const { store, run } = ledger;
	const { baseUrl } = client.credentials;
	return {
		...{ ...realClock, random: Math.random, context, client, ledger, stop, paidTasks },
		spending: new Spending({ client, store, run, maximum, signal: stop }),
		delivery: new Delivery(context, { signal: stop, baseUrl }),
	};
}

async function goToSleep(
	{ context, client, spending }: RunDeps,
	report: Report,
	{ ends, waking }: { ends: readonly ItemEnd[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	report.throwFirstFailure(ends);
	report.showCosts(spending);
	report.logUnclear('the execution went to sleep', ends);
	warnOfSubworkflow(context);
	const sleepers = report.items.map((fields): Sleeper => {
		const own = ends.filter(({ index }) => index === fields.itemIndex);
		const asleep = own.find((end) => end.kind === 'asleep');
		if (asleep === undefined)
			return { kind: 'complete', items: own.flatMap((end) => report.itemsOf(end)) };
		const { assembly, settings } = asleep.item;
		const tasks = asleep.parts.flatMap((part): SleepingTask[] => {
			if (part.kind !== 'done') return part.kind === 'open' ? [part] : [];
			// The fetched files would stay in memory.
			const { delivered: _dropped, ...done } = part;
			return [done];
		});
		const input = includedInput(fields);
		return { kind: 'open', tasks, assembly, files: settings.files, input };
	});
	try {
		return await suspend(context, client, { sleepers, waking });
	} catch (error) {
		return report.output(
			ends.map((end) => (end.kind === 'asleep' ? brokenEnd(error, end.item, end.parts) : end)),
		);
	}
}
