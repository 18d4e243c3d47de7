/** What a run leaves behind: tasks that are or may be paid for, of this try and those before. Its log and its error name them. */
import { itemsInWords } from '../base/words';
import type { Ledger } from '../task/ledger';
import type { FailedResult, ItemState } from './item';

export interface Leftovers {
	/** Tasks that are paid for and can still be fetched. */
	taskIds: readonly string[];
	/** The tasks of these items may exist: the answer to their creation never came. */
	unclearItems: readonly number[];
	/** An unclear answer named these tasks. */
	namedTaskIds: readonly string[];
	/** Whether this run creates tasks, and would again. */
	creates: boolean;
}

export const failuresIn = (items: readonly ItemState[]) =>
	items.filter((each) => each.kind === 'failed');

const tasksOf = (each: ItemState) =>
	each.kind === 'plan' || each.kind === 'item' ? [] : each.taskIds;

export function leftoversOf(ledger: Ledger, items: readonly ItemState[]): Leftovers {
	const { made, unclear: before } = ledger.left;
	const failures = failuresIn(items);
	const madeIds = new Set<string | undefined>(made.map(({ taskId }) => taskId));
	const known = new Set([...made.map(({ taskId }) => taskId), ...items.flatMap(tasksOf)]);
	const now = failures.map(({ index: item, failure }) => ({ item, failure }));
	const unclear = [...before, ...now.filter(({ failure }) => failure.outcome === 'unknown')];
	const named = unclear
		.flatMap(({ failure: { taskId, parts } }) => [taskId ?? [], parts?.taskIds ?? []].flat())
		.filter((taskId) => !known.has(taskId));
	// An ID that the user entered and the service does not know is no paid task.
	const useless = new Set(
		failures.map(({ failure: { outcome, taskId, httpStatus } }) =>
			outcome === 'failed' || (httpStatus === 404 && !madeIds.has(taskId)) ? taskId : undefined,
		),
	);
	return {
		taskIds: [...known].filter((taskId) => !useless.has(taskId)),
		unclearItems: [...new Set(unclear.map(({ item }) => item))].sort((a, b) => a - b),
		namedTaskIds: [...new Set(named)],
		creates: made.length > 0,
	};
}

/** Names what may be paid for, in the log of an execution that continues. */
export function wordsForUnclear({ unclearItems, namedTaskIds }: Leftovers): string {
	if (unclearItems.length === 0) return '';
	const named = namedTaskIds.length > 0 ? ` It named: ${namedTaskIds.join(', ')}.` : '';
	return ` Tasks of ${itemsInWords(unclearItems)} may exist and be paid for, because the answer to their creation never came: check at the service.${named}`;
}

/** Names all of it, in the log of an execution that ends. */
export function wordsForAll(leftovers: Leftovers): string {
	const { taskIds } = leftovers;
	const tasks =
		taskIds.length === 0
			? ''
			: ` Paid tasks of this run that you can still fetch with "Task: Wait", or end with "Task: Delete" while they run: ${taskIds.join(', ')}.`;
	return `${wordsForUnclear(leftovers)}${tasks}`;
}

/** An error begins with what costs nothing. n8n offers it for an execution that failed. */
export const RETRY = 'Press Retry on this execution: it keeps what is paid. ';

/** Says in the error of the first failure what became of the rest, and what a new execution would cost. */
export function adviceAfter(
	first: FailedResult,
	items: readonly ItemState[],
	leftovers: Leftovers,
): string {
	const { taskIds, creates } = leftovers;
	const before = `${othersInWords(items.filter((each) => each !== first))}${wordsForUnclear(leftovers)}`;
	// The failure itself names its own task.
	if (taskIds.every((each) => each === first.failure.taskId)) return before;
	const list = taskIds.join(', ');
	if (!creates) return `${before} "Task: Wait" can still fetch the paid tasks: ${list}.`;
	return `${before} A new execution creates a new task for every item, also for those paid for, which "Task: Wait" can fetch: ${list}. To output finished items next time, set 'On Error' to Continue, or turn on 'Retry On Fail'.`;
}

function othersInWords(others: readonly ItemState[]): string {
	const paid = others.filter((each) => each.kind !== 'failed' && tasksOf(each).length > 0);
	const failures = failuresIn(others);
	const words = [
		paid.length > 0 ? [`${paid.length} with a paid task, held back by this error`] : [],
		failures.length > 0 ? [`${failures.length} failed`] : [],
	].flat();
	return words.length === 0 ? '' : ` Other items: ${words.join('; ')}.`;
}
