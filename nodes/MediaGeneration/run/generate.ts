/**
 * Creates tasks, or waits for earlier ones, and makes one output: plan, prepare, run all items at once, conclude. An exception on an
 * item's way becomes its result, with every ID that it has.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import type { ItemFields } from '../actions/fields';
import type { Operation } from '../actions/operation';
import { attemptAsync } from '../base/outcomes';
import { cleanerOf, inBackground } from '../n8n/clean';
import { inPieces } from '../n8n/realClock';
import { runOf, storeOf } from '../n8n/execution';
import { unrecordedRun } from '../n8n/retry';
import { timerLeftMs } from '../n8n/sleep';
import { Ledger } from '../task/ledger';
import type { ServiceClient } from '../transport/client';
import { rememberTests } from './earlierTests';
import { hintAtFiles, hintAtItems } from './hints';
import { goToSleep } from './asleep';
import { conclude, haltAfter } from './conclude';
import { expectEarlier } from './creating';
import { failedResult, type Item, type ItemResult, type Plan, type Planned } from './item';
import { wordsFor } from './left';
import { runPart } from './part';
import { Report, type Executing } from './output';
import { planItems, runSettings } from './plan';
import { prepareItems } from './prepare';
import { openOne, Run } from './run';

export async function generate(
	executing: Executing,
	operation: Operation,
	items: readonly ItemFields[],
): Promise<INodeExecutionData[]> {
	const { context } = executing;
	const clean = <T>(value: T) => cleanerOf(context).value(value);
	const killed = unrecordedRun(context);
	const ledger = new Ledger(storeOf(context), runOf(context), { killed, clean });
	const report = new Report(executing, ledger, items);
	const earlier = context.getNode().retryOnFail === true ? ledger : undefined;
	const planned = await inPieces(planItems(operation, items, earlier));
	report.throwFirstFailure(planned);
	const hasItems = planned.some(({ kind }) => kind === 'item');
	const opened = hasItems ? await attemptAsync(async () => await openOne(context)) : undefined;
	if (opened?.ok === true) return await runPlanned(report, opened.value, planned);
	const results = planned.flatMap((each) => {
		if (each.kind !== 'item') return [each];
		return opened === undefined ? [] : [failedResult(each.index, opened.failure)];
	});
	return report.output(results);
}

async function runPlanned(
	report: Report,
	client: ServiceClient,
	planned: Planned<Plan>,
): Promise<INodeExecutionData[]> {
	const { context, ledger, continueOnFail } = report;
	const options = { ...runSettings(report.items), continueOnFail };
	const run = new Run(context, client, { ledger, ...options });
	let results: readonly ItemResult[] = [];
	let handedOut: readonly ItemResult[] = [];
	try {
		const { ready, waking } = await prepareItems(run, planned);
		report.throwFirstFailure(ready);
		hintAtItems(run, ready);
		results = await runItems(run, ready);
		report.note(results, run.spending);
		rememberTests(run, results);
		await hintAtFiles(run, results);
		const isAsleep = results.some(({ kind }) => kind === 'asleep') && !run.isStopped;
		const output =
			isAsleep && waking?.ok === true
				? await goToSleep(run, report, { results, waking: waking.value })
				: report.output(results, run.spending);
		// A sleeping item is output when it wakes, and this run does not hear of that.
		handedOut = results.filter(({ kind }) => kind === 'items' || kind === 'asleep');
		return output;
	} finally {
		run.paidTasks.write();
		// A stop can cut short creations, waits, downloads, or the last poll before the sleep.
		if (run.isStopped) report.log('the execution was stopped', results, wordsFor);
		ledger.close(new Set(handedOut.map(({ index }) => index)));
	}
}

/** Returns the results in order, once no item has anything under way. Never rejects. */
async function runItems(run: Run, ready: Planned<Item>): Promise<ItemResult[]> {
	const items = ready.filter((each) => each.kind === 'item');
	run.awake.add(items.flatMap(({ parts }) => parts));
	const stopExpecting = await inPieces(expectEarlier(run, items));
	const results = Promise.all(
		ready.map(async (each) => (each.kind === 'item' ? await runItem(run, each) : each)),
	);
	const allEnded = new AbortController();
	const ended = results.then(() => {
		allEnded.abort();
		stopExpecting();
	});
	inBackground(run.context, ended);
	const graces = items.flatMap(({ settings: { waiting } }) =>
		waiting.kind === 'suspend' ? [waiting.graceMs] : [],
	);
	if (graces.length > 0) {
		const graceMs = graces.reduce((one, other) => Math.max(one, other));
		await run.awake.none;
		await run.sleep(Math.max(graceMs, timerLeftMs(run.context)), allEnded.signal);
	}
	run.fallAsleep();
	return await results;
}

async function runItem(run: Run, item: Item): Promise<ItemResult> {
	const parts = await Promise.all(item.parts.map(async (part) => await runPart(run, item, part)));
	const result = await conclude(run, item, parts);
	if (result.kind === 'failed') haltAfter(run, item, result.failure);
	return result;
}
