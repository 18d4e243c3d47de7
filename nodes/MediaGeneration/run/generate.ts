/**
 * Creates tasks, or waits for earlier ones, and makes one output: plan, prepare, run all items at once, output. An exception on an item's
 * way becomes its result, with every ID that it has.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import type { ItemFields } from '../actions/fields';
import type { Operation } from '../actions/operation';
import { attemptAsync } from '../base/outcomes';
import { noteExecution, outcomesIn, worstOf, type RunOutcome } from '../items/executionSummary';
import { cleanerOf } from '../n8n/clean';
import { inPieces } from '../n8n/realClock';
import { runOf, storeOf } from '../n8n/execution';
import { unrecordedRun } from '../n8n/retry';
import { Ledger } from '../task/ledger';
import type { ServiceClient } from '../transport/client';
import { hintAtEarlierTests, rememberTests } from './earlierTests';
import { hintAtFiles, hintAtItems } from './hints';
import { goToSleep } from './asleep';
import { failedResult, type ItemResult, type Plan } from './item';
import { runItems } from './items';
import { Report, type Executing } from './output';
import { planItems, runSettings } from './plan';
import { prepareItems } from './prepare';
import { openOne, startRun, type Run } from './run';

export async function generate(
	executing: Executing,
	operation: Operation,
	inputs: readonly ItemFields[],
): Promise<INodeExecutionData[]> {
	const { context } = executing;
	const clean = <T>(value: T) => cleanerOf(context).value(value);
	const killed = unrecordedRun(context);
	const ledger = new Ledger(storeOf(context), runOf(context), { killed, clean });
	const report = new Report(executing, ledger, inputs);
	try {
		const earlier = context.getNode().retryOnFail === true ? ledger : undefined;
		const planned = await inPieces(planItems(operation, inputs, earlier));
		report.update(planned);
		const results = planned.filter((each) => each.kind !== 'plan');
		if (results.length === planned.length) return report.output(results);
		const opened = await attemptAsync(async () => await openOne(context));
		if (opened.ok) return await runPlanned(report, opened.value, planned);
		const { failure } = opened;
		return report.output(
			planned.map((each) => (each.kind === 'plan' ? failedResult(each.index, failure) : each)),
		);
	} finally {
		report.close();
	}
}

async function runPlanned(
	report: Report,
	client: ServiceClient,
	planned: ReadonlyArray<Plan | ItemResult>,
): Promise<INodeExecutionData[]> {
	const { context, ledger, continueOnFail } = report;
	const settings = runSettings(report.inputs);
	const run = startRun(context, client, { ledger, continueOnFail, ...settings });
	try {
		const { ready, waking } = await prepareItems(run, planned);
		report.update(ready);
		const items = ready.filter((each) => each.kind === 'item');
		hintAtEarlierTests(run, items);
		hintAtItems(run, items);
		const results = await runItems(run, ready);
		noteRun(run, results);
		rememberTests(run, results);
		await hintAtFiles(run, results);
		const isAsleep = results.some(({ kind }) => kind === 'asleep') && !report.isStopped;
		return isAsleep && waking?.ok === true
			? await goToSleep(run, report, { results, waking: waking.value })
			: report.output(results, run.spending);
	} finally {
		run.paidTasks.write();
	}
}

/** Makes a run findable in the list of executions. */
function noteRun({ context, ledger, spending }: Run, results: readonly ItemResult[]): void {
	const { tasks, unnamed, credits } = spending.spent;
	const ends = results.flatMap((result): RunOutcome[] => {
		if (result.kind === 'failed') return [result.failure.outcome];
		if (result.kind === 'asleep') return ['asleep'];
		return result.kind === 'items' ? outcomesIn(result.items) : [];
	});
	noteExecution(context, `${context.getNode().name}:${ledger.run.runIndex}`, {
		taskIds: results.flatMap(({ taskIds }) => taskIds),
		credits: tasks > unnamed ? credits : undefined,
		outcome: worstOf(ends),
	});
}
