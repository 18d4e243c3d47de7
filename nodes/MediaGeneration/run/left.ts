/**
 * What a run leaves behind: tasks that are or may be paid for, of this try and those before. Its log names them, the error that ends it,
 * and the items that it refuses.
 */
import { itemsInWords } from '../base/words';
import type { Ledger } from '../task/ledger';
import type { FailedResult, Planned } from './item';

export interface Left {
	/** Tasks that are paid for and can still be fetched. */
	taskIds: readonly string[];
	/** The tasks of these items may exist: the answer to their creation never came. */
	unclearItems: readonly number[];
	/** An unclear answer named these tasks. */
	namedTaskIds: readonly string[];
	/** Whether this run creates tasks, and would again. */
	creates: boolean;
}

export const failuresIn = (results: Planned) =>
	results.filter((result) => result.kind === 'failed');

const knownTasks = (each: Planned[number]) => (each.kind === 'item' ? [] : each.taskIds);

export function leftBy(ledger: Ledger, results: Planned): Left {
	const { made, unclear: before } = ledger.left;
	const failed = failuresIn(results);
	const known = new Set([
		...made.map(({ taskId }) => taskId),
		...results.flatMap((result) => knownTasks(result)),
	]);
	const now = failed.map(({ index: item, failure }) => ({ item, failure }));
	const unclear = [...before, ...now.filter(({ failure }) => failure.outcome === 'unknown')];
	const named = unclear
		.flatMap(({ failure: { taskId, whole } }) => [taskId ?? [], whole?.taskIds ?? []].flat())
		.filter((taskId) => !known.has(taskId));
	const madeIds = new Set<string | undefined>(made.map(({ taskId }) => taskId));
	// An ID that the user entered and the service does not know is no paid task.
	const useless = new Set(
		failed.map(({ failure: { outcome, taskId, httpStatus } }) =>
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

/** For the log of an execution that continues. */
export function wordsForUnclear({ unclearItems, namedTaskIds }: Left): string {
	if (unclearItems.length === 0) return '';
	const named = namedTaskIds.length > 0 ? ` It named: ${namedTaskIds.join(', ')}.` : '';
	return ` Tasks of ${itemsInWords(unclearItems)} may exist and be paid for, because the answer to their creation never came: check at the service.${named}`;
}

/** For the log of an execution that ends. */
export function wordsFor(left: Left): string {
	const { taskIds } = left;
	const tasks =
		taskIds.length === 0
			? ''
			: ` Paid tasks of this run that you can still fetch with "Task: Wait", or end with "Task: Delete" while they run: ${taskIds.join(', ')}.`;
	return `${wordsForUnclear(left)}${tasks}`;
}

/** The free way, for the beginning of an error. n8n offers it for an execution that failed. */
export const RETRY = 'Press Retry on this execution: it keeps what is paid. ';

/** Says in the error of the first failure what became of the rest, and what a new execution would cost. */
export function adviceAfter(first: FailedResult, results: Planned, left: Left): string {
	const { taskIds, creates } = left;
	const before = `${othersOf(first, results)}${wordsForUnclear(left)}`;
	// The failure itself names its own task.
	if (taskIds.every((each) => each === first.failure.taskId)) return before;
	const list = taskIds.join(', ');
	if (!creates) return `${before} "Task: Wait" can still fetch the paid tasks: ${list}.`;
	return `${before} A new execution creates a new task for every item, also for those paid for, which "Task: Wait" can fetch: ${list}. To output finished items next time, set 'On Error' to Continue, or turn on 'Retry On Fail'.`;
}

function othersOf(first: FailedResult, results: Planned): string {
	const others = results.filter((result) => result !== first);
	const failed = failuresIn(others).length;
	const made = others.filter(
		(result) => result.kind !== 'failed' && knownTasks(result).length > 0,
	).length;
	const ready = others.filter(({ kind }) => kind === 'item').length;
	const none = others.length - failed - made - ready;
	const said: Array<[count: number, what: string]> = [
		[made, 'with a paid task, held back by this error'],
		[failed, 'failed'],
		[none, 'without a task'],
		[ready, 'not begun'],
	];
	const words = said.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : []));
	return words.length === 0 ? '' : ` Other items: ${words.join('; ')}.`;
}
