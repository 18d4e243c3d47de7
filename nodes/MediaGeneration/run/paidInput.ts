/** Hints about what is paid for a second time, or lost to others, because of where this node stands in a workflow. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { failureIn } from '../delivery/failure';
import { showHint } from '../delivery/hint';
import { logOf } from '../base/clean';
import { asText } from '../base/json';
import type { Item } from './item';

/** n8n's guidelines allow a hint 120 characters. */
export const shortHint = (hint: string) => (hint.length > 120 ? `${hint.slice(0, 117)}...` : hint);

const USABLE: readonly unknown[] = ['timed_out', 'unreachable', 'undelivered', 'cancelled'];

/** The tasks of an item that failed, or ran out of time, in a node before: those that are paid for and can still be used. */
function usableTasksOf(json: IDataObject): string[] {
	const failed = failureIn(json);
	const { task_id, task_ids, timed_out } = failed ?? json;
	const isUsable = failed === undefined ? timed_out === true : USABLE.includes(failed.outcome);
	return isUsable ? [task_ids ?? task_id].flat().flatMap((each) => asText(each) ?? []) : [];
}

/** A creation makes a new task, as it was asked to, also where its input brings a paid one along. */
export function warnOfPaidInput(context: IExecuteFunctions, items: readonly Item[]): void {
	const input = context.getInputData();
	const paid = items.flatMap(({ index, parts }) => {
		const isNew = parts.some((each) => each.kind === 'creates' && each.earlier.kind === 'nothing');
		return isNew ? usableTasksOf(input[index]?.json ?? {}) : [];
	});
	if (paid.length === 0) return;
	const which = [...new Set(paid)].join(', ');
	logOf(context).warn(
		`Media Generation: the input has paid tasks that can still be fetched with "Task: Wait": ${which}. New ones are created, as asked`,
	);
	const hint = `Paid again, though "Task: Wait" can fetch what the input has: ${which}`;
	showHint(context, 'warning', shortHint(hint));
}

/** n8n 2.41 wakes the parent when the first of several executions of a sub-workflow is over, and it goes on with that one's items. */
export function warnOfSubworkflow(context: IExecuteFunctions): void {
	if (context.getMode() !== 'integrated') return;
	const hint =
		'A parent that runs this sub-workflow "once for each item" goes on with one of its items only: use Poll';
	showHint(context, 'warning', hint);
}
