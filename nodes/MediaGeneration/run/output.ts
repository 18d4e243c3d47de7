/** Makes a run's output from its items' results, and names the tasks that it leaves. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Ledger } from '../task/ledger';
import { failureItem, nodeError, wordsFor, type LeftOver } from '../files/failure';
import { noteExecution, outcomesIn, worstOf, type RunOutcome } from '../files/hint';
import { showHint } from '../n8n/editor';
import { carryInput } from '../files/item';
import type { ItemFields } from '../actions/fields';
import { logOf } from '../n8n/clean';
import { attempt, type Failure } from '../base/failures';
import type { FailedResult, ItemResult } from './item';
import type { Planned } from './plan';
import type { Spending } from '../task/spending';

/** Returns the JSON of an input item if "Include Input" is on; an option that can't be read is off. */
export function includedInput(fields: ItemFields | undefined): IDataObject | undefined {
	const isWanted = attempt(() => fields?.options.includeInput === true);
	return isWanted.ok && isWanted.value ? fields?.input.json : undefined;
}

/** How this node runs. `continueOnFail`: failures become items, according to "On Error". */
export interface Executing {
	context: IExecuteFunctions;
	continueOnFail: boolean;
}

/** Throws unless failures become items. */
export function failedItem(
	{ context, continueOnFail }: Executing,
	failure: Failure,
	index: number,
): INodeExecutionData {
	if (!continueOnFail) throw nodeError(context.getNode(), { failure, index });
	return failureItem(context.getNode(), { failure, index });
}

const failuresIn = (results: Planned) => results.filter((result) => result.kind === 'failed');
const knownTasks = (each: Planned[number]) => (each.kind === 'item' ? [] : each.taskIds);

function othersOf(first: FailedResult, results: Planned): string {
	const others = results.filter((result) => result !== first);
	const failed = failuresIn(others).length;
	const made = others.filter(
		(result) => result.kind !== 'failed' && knownTasks(result).length > 0,
	).length;
	// Such items were not begun.
	const ready = others.filter(({ kind }) => kind === 'item').length;
	const none = others.length - failed - made - ready;
	const items = (count: number) => `${count} other ${count === 1 ? 'item' : 'items'}`;
	return [
		made > 0 && ` ${items(made)} ${made === 1 ? 'has a paid task' : 'have paid tasks'}.`,
		failed > 0 && ` ${items(failed)} failed, too.`,
		none > 0 && ` ${items(none)} got no task.`,
		ready > 0 && ` Nothing was sent for ${items(ready)} either.`,
	]
		.filter((words) => words !== false)
		.join('');
}

export class Report {
	readonly context: IExecuteFunctions;
	readonly continueOnFail: boolean;

	constructor(
		{ context, continueOnFail }: Executing,
		readonly ledger: Ledger,
		readonly items: readonly ItemFields[],
	) {
		this.context = context;
		this.continueOnFail = continueOnFail;
	}

	itemsOf(result: ItemResult): INodeExecutionData[] {
		const input = includedInput(this.items[result.index]);
		const items = result.kind === 'failed' ? this.itemsOfFailure(result) : [];
		return (result.kind === 'items' ? result.items : items).map((item) => carryInput(item, input));
	}

	private itemsOfFailure(result: FailedResult): INodeExecutionData[] {
		const node = this.context.getNode();
		if (result.delivered === undefined) return [failureItem(node, result)];
		const { items, outputs } = result.delivered;
		const binary = items[0]?.binary;
		// With Split Files, the files that were fetched have items of their own, and the failure names no binary field.
		return outputs.some(({ binaryProperty }) => binaryProperty !== undefined)
			? [failureItem(node, result, { outputs, binary })]
			: [...items.filter((item) => item.binary), failureItem(node, result, { outputs })];
	}

	/** Lists paid tasks that can still be fetched (all except those that the service calls failed), and items whose tasks may exist. */
	left(results: Planned): LeftOver {
		const failed = failuresIn(results);
		const before = this.ledger.left;
		const known = new Set([
			...before.made.map(({ taskId }) => taskId),
			...results.flatMap((result) => knownTasks(result)),
		]);
		const now = failed.map(({ index: item, failure }) => ({ item, failure }));
		const unclear = [
			...before.unclear,
			...now.filter(({ failure }) => failure.outcome === 'unknown'),
		];
		const named = unclear
			.flatMap(({ failure: { taskId, whole } }) => [taskId ?? [], whole?.taskIds ?? []].flat())
			.filter((taskId) => !known.has(taskId));
		const isMade = (id: string | undefined) => before.made.some(({ taskId }) => taskId === id);
		// An ID that the user entered and the service does not know is no paid task.
		const useless = new Set(
			failed.map(({ failure: { outcome, taskId, httpStatus } }) =>
				outcome === 'failed' || (httpStatus === 404 && !isMade(taskId)) ? taskId : undefined,
			),
		);
		return {
			taskIds: [...known].filter((taskId) => !useless.has(taskId)),
			unclearItems: [...new Set(unclear.map(({ item }) => item))].sort((a, b) => a - b),
			namedTaskIds: [...new Set(named)],
			creates: before.made.length > 0,
		};
	}

	/** Throws for the first failed item, unless failures become items. The error names what is or may be paid for. */
	throwFirstFailure(results: Planned): void {
		const [first] = failuresIn(results);
		if (first === undefined || this.continueOnFail) return;
		const left = this.left(results);
		// The end of a stopped run is logged once.
		if (this.context.getExecutionCancelSignal()?.aborted !== true) this.log('the run failed', left);
		const others = othersOf(first, results);
		throw nodeError(this.context.getNode(), first, { ...left, others });
	}

	/** n8n saves nothing of a stopped execution, so the log has to say what it leaves behind. */
	log(why: string, left: LeftOver): void {
		const words = wordsFor(left);
		if (words !== '') logOf(this.context).warn(`${why}.${words}`);
	}

	/** An execution that continues has no error that names them, and one that sleeps may be stopped before its output. */
	logUnclear(why: string, results: Planned): void {
		this.log(why, { ...this.left(results), taskIds: [] });
	}

	note(results: readonly ItemResult[], { spent: { tasks, unnamed, credits } }: Spending): void {
		const worst = results.flatMap((result): RunOutcome[] => {
			if (result.kind === 'failed') return [result.failure.outcome];
			if (result.kind === 'asleep') return ['asleep'];
			return result.kind === 'items' ? outcomesIn(result.items) : [];
		});
		noteExecution(this.context, `${this.context.getNode().name}:${this.ledger.run.runIndex}`, {
			taskIds: results.flatMap(({ taskIds }) => taskIds),
			credits: tasks > unnamed ? credits : undefined,
			outcome: worstOf(worst),
		});
	}

	/** Shows costs, before a sleep as well: n8n takes no hints from an execution that wakes. */
	showCosts(spending: Spending | undefined): void {
		for (const { type, message } of spending?.hints() ?? []) showHint(this.context, type, message);
	}

	/** Adds to an item that this try refused what earlier tries paid for. */
	withEarlierTasks(result: ItemResult): ItemResult {
		if (
			result.kind !== 'failed' ||
			result.taskIds.length > 0 ||
			result.failure.outcome !== 'invalid'
		)
			return result;
		const { made, unclear } = this.ledger.left;
		const taskIds = made.flatMap(({ item, taskId }) => (item === result.index ? [taskId] : []));
		const failures = unclear.flatMap(({ item, failure }) => (item === result.index ? failure : []));
		const [first] = failures;
		// Each part of a text can be unclear, with an answer that names a task.
		const all = [...new Set([...taskIds, ...failures.flatMap(({ taskId }) => taskId ?? [])])];
		if (all.length === 0) return first === undefined ? result : { ...result, failure: first };
		const refused: Failure = {
			outcome: 'unreachable',
			message: `${result.failure.message}; tasks of this item exist: ${all.join(', ')}`,
			description: 'They are paid for. "Task: Wait" fetches each of them by its ID.',
		};
		// They may be only some parts of a text, so no single one stands for the item.
		const whole = { taskIds: all, part: undefined, longText: undefined };
		return { ...result, taskIds, failure: { ...(first ?? refused), taskId: undefined, whole } };
	}

	output(given: readonly ItemResult[], spending?: Spending): INodeExecutionData[] {
		this.throwFirstFailure(given);
		const results = given.map((result) => this.withEarlierTasks(result));
		const failed = failuresIn(results).length;
		const where =
			this.context.getNode().onError === 'continueErrorOutput'
				? 'failed and went to the error branch'
				: 'failed, see the field "outcome"';
		if (failed > 0)
			showHint(this.context, 'warning', `${failed} of ${results.length} items ${where}`);
		this.showCosts(spending);
		this.logUnclear('the run ended', results);
		return results.flatMap((result) => this.itemsOf(result));
	}
}
