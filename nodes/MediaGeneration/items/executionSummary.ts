/** Writes values by which n8n's list of executions finds this one: its tasks, what they cost, and how it ended. */
import type { IExecuteFunctions, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { cleanerOf } from '../n8n/clean';
import { quietly } from '../n8n/log';
import { executionValues, MAX_VALUE } from '../n8n/editor';
import { isObject, sumOf } from '../base/json';
import { outcomes, type Outcome } from '../base/outcomes';
import { failureIn } from './shownItem';

/** A run ends with the worst outcome of its items. */
export type RunOutcome = Outcome | 'done' | 'asleep';

/** Other nodes may have written some of the ends, so only outcomes count. */
export function worstOf(ends: readonly unknown[]): RunOutcome {
	return ([...outcomes, 'done', 'asleep'] as const).find((end) => ends.includes(end)) ?? 'done';
}

export function outcomesIn(items: readonly INodeExecutionData[]): RunOutcome[] {
	return items.map(
		({ json }) => failureIn(json)?.outcome ?? (json.unfinished === true ? 'timed_out' : 'done'),
	);
}

/** Cuts a list that is longer than n8n keeps, between two IDs. */
function fitting(taskIds: readonly string[]): string {
	const value = [...new Set(taskIds)].filter(Boolean).join(',');
	if (value.length <= MAX_VALUE) return value;
	return value.slice(0, MAX_VALUE).replace(/(^|,)[^,]*$/, '');
}

/** Covers all runs of these nodes in the execution; a later try replaces the earlier one. Never throws, because older versions of n8n have no such values. */
export function noteExecution(
	context: IExecuteFunctions,
	run: string,
	summary: { taskIds: readonly string[]; credits: number | undefined; outcome: RunOutcome },
): void {
	quietly(() => {
		const customData = executionValues(context);
		const store = context.getContext('flow');
		const before: unknown = store.mediaGenerationRuns;
		const runs: Record<string, unknown> = isObject(before) ? before : {};
		runs[run] = { credits: summary.credits, outcome: summary.outcome };
		store.mediaGenerationRuns = runs;
		const all = Object.values(runs).filter(isObject);
		const named = (customData.getAll().media_task_ids ?? '').split(',');
		const taskIds = fitting([...named, ...summary.taskIds]);
		const costs = all.flatMap((each) => (typeof each.credits === 'number' ? [each.credits] : []));
		customData.setAll({
			...(taskIds === '' ? {} : { media_task_ids: cleanerOf(context).text(taskIds) }),
			...(costs.length === 0 ? {} : { media_credits: String(sumOf(costs)) }),
			media_outcome: worstOf(all.map((each) => each.outcome)),
		});
	});
}

/** Replaces `asleep` with what became of the items of a woken execution. Never throws. */
export function noteWaking(context: IWebhookFunctions, ends: readonly RunOutcome[]): void {
	quietly(() => {
		const customData = executionValues(context);
		const { media_outcome: before } = customData.getAll();
		customData.setAll({ media_outcome: worstOf([before, ...ends]) });
	});
}
