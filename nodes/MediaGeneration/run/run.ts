/**
 * The operations that create tasks or wait for them, from the fields of a workflow to one output: plan, check, create, wait, deliver,
 * conclude. Each step takes what the one before has made; an item that is over keeps its end.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Ledger, leftByEarlierTries } from '../create/ledger';
import { Delivery } from '../delivery/item';
import type { Operation } from '../operations/operation';
import type { RunSettings } from '../operations/waiting';
import { logOf } from '../service/clean';
import { createClient } from '../service/client';
import { inPieces, realClock } from '../service/clock';
import { FailureError } from '../service/failures';
import type { Waking } from '../sleep/checks';
import type { SleepingTask } from '../sleep/notes';
import { lookOnceMore, sleepingInput, suspend, type Sleeper } from '../sleep/suspend';
import { Balance, runOf, unreadableCredential } from './checks';
import { brokenEnd, conclude } from './conclude';
import { failedEnd, type ItemEnd, type PartEnd } from './item';
import { runItems, type RunMeans } from './items';
import { itemsOf, Report } from './output';
import { planItems, type Draft } from './plan';
import {
	beganAt,
	countEarlier,
	draftsIn,
	makeItems,
	prepareSpending,
	prepareSuspension,
	withEnoughCredits,
	type Tools,
} from './prepare';
import type { Spending } from './spending';

const isAsleep = ({ kind }: ItemEnd) => kind === 'asleep';

/** Runs an operation that creates tasks or waits for them. */
export async function generate(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const asleep = sleepingInput(context);
	if (asleep !== undefined) return asleep;
	const store = context.getContext('node');
	const report = new Report(context, () => leftByEarlierTries(store, () => runOf(context)));
	const planned = await inPieces(planItems(context, operation));
	report.throwFirstFailure(planned);
	const [first] = draftsIn(planned);
	if (first === undefined) return report.output(planned as ItemEnd[]);
	const client = await clientFor(context, report);
	if (!client.ok)
		return report.output(
			planned.map((each) => (each.kind === 'draft' ? failedEnd(each.index, client.failure) : each)),
		);
	const run = { ...runOf(context), baseUrl: client.value.credentials.baseUrl };
	const ledger = new Ledger(store, run);
	const signal = context.getExecutionCancelSignal();
	const began = beganAt(context, ledger);
	const tools = { context, report, client: client.value, ledger, run, beganAt: began, signal };
	return await runPlanned(tools, planned, first.run);
}

/** The client, or why the credential is wrong. Without one the run fails, whatever On Error says. */
async function clientFor(context: IExecuteFunctions, report: Report) {
	try {
		return { ok: true as const, value: await createClient(context) };
	} catch (error) {
		if (error instanceof FailureError) return { ok: false as const, failure: error.failure };
		throw report.errorOf(failedEnd(0, unreadableCredential(error)), []);
	}
}

async function runPlanned(
	tools: Tools,
	planned: ReadonlyArray<Draft | ItemEnd>,
	settings: RunSettings,
): Promise<INodeExecutionData[]> {
	const { context, report, ledger, signal } = tools;
	let ends: readonly ItemEnd[] = [];
	let spending: Spending | undefined;
	let handedOut = new Set<number>();
	try {
		const waking = await prepareSuspension(tools, planned);
		const balance = new Balance(tools.client, signal);
		const ready = await withEnoughCredits(balance, makeItems(tools, planned, waking));
		report.throwFirstFailure(ready);
		const items = ready.flatMap((each) => (each.kind === 'item' ? [each.item] : []));
		report.warnOfRepeats(items);
		spending = await prepareSpending(tools, balance, settings);
		countEarlier(tools, items, spending);
		report.showLongTexts(items);
		const { maxActiveTasks } = settings;
		const means = meansOf(tools, spending);
		const options = { maxActiveTasks, haltOnFailure: !context.continueOnFail() };
		const over = (await runItems(items, means, options)).values();
		await spending.settled();
		ends = ready.map((each) => (each.kind === 'item' ? (over.next().value as ItemEnd) : each));
		ends = await lookBeforeSleep(tools, means, ends);
		const sleeps = waking?.ok === true && signal?.aborted !== true && ends.some(isAsleep);
		const output = sleeps
			? await goToSleep(tools, { ends, spending }, waking.value)
			: report.output(ends, spending);
		handedOut = new Set(ends.flatMap(({ kind, index }) => (kind === 'items' ? [index] : [])));
		return output;
	} finally {
		// Whatever the stop has cut short: creations, waiting, downloads, or the last look before the sleep.
		if (signal?.aborted === true) report.logStop(ends);
		report.note(tools.run, ends, spending);
		ledger.close((index) => handedOut.has(index));
	}
}

function meansOf(tools: Tools, spending: Spending): RunMeans {
	const { context, client, ledger, signal } = tools;
	const { baseUrl } = client.credentials;
	const log = logOf(context);
	const executionId = context.getExecutionId();
	return {
		...realClock,
		random: Math.random,
		context,
		client,
		ledger,
		spending,
		stop: signal,
		beganAt: tools.beganAt,
		delivery: new Delivery(context, { signal, baseUrl }),
		log,
		executionId,
		noteLate(taskId, sure) {
			const exists = sure ? 'exists and is paid for' : 'may exist and be paid for';
			log.warn(
				`Media Generation: task ${taskId} of the stopped execution ${executionId} ${exists}`,
			);
		},
	};
}

type Asleep = Extract<ItemEnd, { kind: 'asleep' }>;

/** The last look at the tasks that are open, as a callback that came earlier will not come again. */
async function lookBeforeSleep(
	{ client, ledger, signal }: Tools,
	means: RunMeans,
	ends: readonly ItemEnd[],
): Promise<ItemEnd[]> {
	const look = async (end: Asleep): Promise<Asleep> => {
		const open = end.parts.flatMap((part) => (part.kind === 'asleep' ? [part.task.watch] : []));
		const verdicts = (await lookOnceMore(client, open, signal)).values();
		const parts = end.parts.map((part, number): PartEnd => {
			if (part.kind !== 'asleep') return part;
			const { task } = part;
			const verdict = verdicts.next().value;
			switch (verdict?.kind) {
				case 'done':
					return { kind: 'done', done: verdict, watch: task.watch, delivered: undefined };
				case 'failed':
					ledger.forget({ item: end.index, part: number });
					return verdict;
				default:
					return { kind: 'asleep', task: { ...task, task: verdict?.task ?? task.task } };
			}
		});
		return { ...end, parts };
	};
	const looked = await Promise.all(
		ends.map(async (end) => (end.kind === 'asleep' ? await look(end) : end)),
	);
	// Downloads would lengthen the gap between the look and the sleep, so they come first only if nothing is left to wait for.
	const over = looked.every(
		(end) => end.kind !== 'asleep' || !end.parts.some(({ kind }) => kind === 'asleep'),
	);
	return await Promise.all(
		looked.map(async (end) =>
			end.kind === 'asleep' && (over || end.parts.some(({ kind }) => kind === 'failed'))
				? await conclude(means, end.item, end.parts)
				: end,
		),
	);
}

/** The items that the execution sleeps on. */
async function goToSleep(
	{ context, report, client }: Tools,
	{ ends, spending }: { ends: readonly ItemEnd[]; spending: Spending },
	waking: Waking,
): Promise<INodeExecutionData[]> {
	report.throwFirstFailure(ends);
	report.showCosts(spending);
	report.logUnclear('the execution went to sleep', ends);
	const sleepers = context.getInputData().map((_, index): Sleeper => {
		const own = ends.filter((end) => end.index === index);
		const asleep = own.find((end) => end.kind === 'asleep');
		if (asleep === undefined)
			return { kind: 'complete', items: own.flatMap((end) => itemsOf(context, end)) };
		const { assembly, settings } = asleep.item;
		const { waiting, files } = settings;
		return {
			kind: 'open',
			tasks: asleep.parts.flatMap((part): SleepingTask[] =>
				part.kind === 'asleep'
					? [part.task]
					: part.kind === 'done'
						? [{ kind: 'over', watch: part.watch, done: part.done }]
						: [],
			),
			assembly,
			files,
			watched: waiting.kind === 'suspend' && waiting.watched,
		};
	});
	try {
		return await suspend(context, client, { sleepers, waking });
	} catch (error) {
		return report.output(
			ends.map((end) => (end.kind === 'asleep' ? brokenEnd(error, end.item, end.parts) : end)),
		);
	}
}
