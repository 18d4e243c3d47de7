/** One execution of the action node, from its fields to one output: plan, check, create, wait, deliver, conclude. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Ledger } from '../create/ledger';
import { nodeError } from '../delivery/failure';
import { Delivery } from '../delivery/item';
import { operationOf } from '../operations';
import { ItemFields } from '../operations/fields';
import type { Operation, Job } from '../operations/operation';
import { refusedQuestion } from '../operations/refusal';
import { cleanerOf, cleanly } from '../base/clean';
import type { SpeechRoute } from '../service/account';
import type { ServiceClient } from '../service/client';
import { inPieces, realClock } from '../base/clock';
import { asFailure, attemptLater, FailureError, valueOf } from '../base/failures';
import type { Waking } from '../sleep/checks';
import { sleepingInput, suspend, type Sleeper, type SleepingTask } from '../sleep/suspend';
import { readInputFiles } from './inputFiles';
import { brokenEnd, failedEnd, type ItemEnd, type RunDeps } from './item';
import { runItems } from './items';
import { joinItems } from './joinItems';
import { failedItem, includedInput, Report } from './output';
import { warnOfPaidInput, warnOfSubworkflow } from './paidInput';
import { planItems, runSettings, type Planned } from './plan';
import * as prepare from './prepare';
import { Spending } from './spending';

export async function runOperation(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	return await new Execution(context).output();
}

class Execution {
	private readonly items: readonly ItemFields[];

	constructor(private readonly context: IExecuteFunctions) {
		this.items = context.getInputData().map((_, index) => new ItemFields(context, index));
	}

	async output(): Promise<INodeExecutionData[]> {
		return await cleanly(this.context, async () => await this.carryOut());
	}

	private async carryOut(): Promise<INodeExecutionData[]> {
		const { context } = this;
		try {
			const operation = operationOf(
				context.getNodeParameter('resource', 0),
				context.getNodeParameter('operation', 0),
			);
			switch (operation.work.kind) {
				case 'creates':
				case 'awaits':
					return sleepingInput(context) ?? (await this.generate(operation));
				case 'joins':
					return await joinItems(context, this.items);
				case 'reads':
					return await this.readItems(operation.work);
			}
		} catch (error) {
			throw error instanceof FailureError
				? nodeError(context.getNode(), { failure: error.failure, index: 0 })
				: error;
		}
	}

	private async readItems(work: Extract<Job, { kind: 'reads' }>): Promise<INodeExecutionData[]> {
		const { context } = this;
		const output: INodeExecutionData[] = [];
		const signal = context.getExecutionCancelSignal();
		const opened = await attemptLater(async () => valueOf(await prepare.openClient(context)));
		for (const fields of this.items) {
			const { itemIndex: item } = fields;
			const items = await attemptLater(
				async () => await work.read({ client: valueOf(opened), signal }, fields),
			);
			if (items.ok) {
				for (const json of items.value as IDataObject[])
					output.push({ json, pairedItem: { item } });
			} else output.push(failedItem(context, refusedQuestion(items.failure), item));
		}
		return output;
	}

	private async generate(operation: Operation): Promise<INodeExecutionData[]> {
		const { context } = this;
		const clean = <T>(value: T) => cleanerOf(context).value(value);
		const ledger = new Ledger(context.getContext('node'), prepare.runOf(context), clean);
		ledger.begin(prepare.killedSince(context));
		const report = new Report(context, ledger, this.items);
		const drafts = await inPieces(planItems(operation, this.items));
		const planned = await readInputFiles(context, drafts);
		report.throwFirstFailure(planned);
		if (planned.every((each) => each.kind !== 'draft')) return report.output(planned);
		// Without a credential the run fails, whatever On Error says.
		const opened = await prepare.openClient(context).catch((error: unknown) => {
			throw report.errorOf(failedEnd(0, asFailure(error)), []);
		});
		if (opened.ok) return await this.runPlanned(report, opened.value, planned);
		const { failure } = opened;
		return report.output(
			planned.map((each) => (each.kind === 'draft' ? failedEnd(each.index, failure) : each)),
		);
	}

	private async runPlanned(
		report: Report,
		client: ServiceClient,
		planned: Planned,
	): Promise<INodeExecutionData[]> {
		const { context } = this;
		const { ledger } = report;
		const { baseUrl } = client.credentials;
		const { maxActiveTasks, maximumCredits: maximum } = runSettings(this.items, planned);
		const stop = context.getExecutionCancelSignal();
		let ends: readonly ItemEnd[] = [];
		let isOut = false;
		try {
			const account = { client, ledger, maximum, stop };
			const { ready, waking, balance } = await prepare.prepareItems(context, planned, account);
			report.throwFirstFailure(ready);
			const items = ready.filter((each) => each.kind === 'item');
			report.warnOfRepeats(items);
			warnOfPaidInput(context, items);
			report.showLongTexts(items);
			const limits = { maximum, balance, signal: stop };
			const { store, run } = ledger;
			const spending = new Spending({ ...realClock, client, store, run, ...limits });
			const delivery = new Delivery(context, { signal: stop, baseUrl });
			const speechRoutes = new Set<SpeechRoute>();
			const shared = { context, client, ledger, spending, delivery, stop, speechRoutes };
			const deps: RunDeps = { ...realClock, random: Math.random, ...shared };
			const haltOnFailure = !context.continueOnFail();
			const over = (await runItems(items, deps, { maxActiveTasks, haltOnFailure })).values();
			await spending.settled();
			ends = ready.map((each) =>
				each.kind === 'item' ? (over.next().value as ItemEnd) : report.withEarlierTasks(each),
			);
			report.note(ends, spending);
			report.showFiles(ready, ends);
			report.showSpeechRoute(speechRoutes);
			const isAsleep = ends.some(({ kind }) => kind === 'asleep') && stop?.aborted !== true;
			const output =
				isAsleep && waking?.ok === true
					? await this.goToSleep(deps, report, { ends, waking: waking.value })
					: report.output(ends, spending);
			isOut = true;
			return output;
		} finally {
			// A stop can cut short creations, waiting, downloads, or the last look before the sleep.
			if (stop?.aborted === true) report.log('the execution was stopped', report.left(ends));
			ledger.close(
				(item) => isOut && ends.some(({ kind, index }) => kind === 'items' && index === item),
			);
		}
	}

	private async goToSleep(
		{ client, spending }: RunDeps,
		report: Report,
		{ ends, waking }: { ends: readonly ItemEnd[]; waking: Waking },
	): Promise<INodeExecutionData[]> {
		const { context } = this;
		report.throwFirstFailure(ends);
		report.showCosts(spending);
		report.logUnclear('the execution went to sleep', ends);
		warnOfSubworkflow(context);
		const sleepers = this.items.map((fields): Sleeper => {
			const { itemIndex: index } = fields;
			const own = ends.filter((end) => end.index === index);
			const asleep = own.find((end) => end.kind === 'asleep');
			if (asleep === undefined)
				return { kind: 'complete', items: own.flatMap((end) => report.itemsOf(end)) };
			const { assembly, settings } = asleep.item;
			const { files } = settings;
			const tasks = asleep.parts.flatMap((part): SleepingTask[] => {
				if (part.kind !== 'done') return part.kind === 'open' ? [part] : [];
				// The fetched files would stay in memory.
				const { delivered: _dropped, ...done } = part;
				return [done];
			});
			return { kind: 'open', tasks, assembly, files, input: includedInput(fields) };
		});
		try {
			return await suspend(context, client, { sleepers, waking });
		} catch (error) {
			return report.output(
				ends.map((end) => (end.kind === 'asleep' ? brokenEnd(error, end.item, end.parts) : end)),
			);
		}
	}
}
