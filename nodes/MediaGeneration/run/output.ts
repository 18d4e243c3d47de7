/** Makes the one output of a run from the ends of its items, and says what tasks it leaves. */
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import type { Ledger } from '../task/ledger';
import { failureItem, nodeError, wordsFor, type LeftOver } from '../files/failure';
import { noteExecution, outcomesIn, showHint, worstOf, type RunOutcome } from '../files/hint';
import { carryInput } from '../files/item';
import type { ItemFields } from '../actions/fields';
import { logOf } from '../n8n/clean';
import { attempt, type Failure } from '../base/failures';
import type { FailedEnd, ItemEnd } from './item';
import type { Spending } from '../task/spending';

type MaybeEnded = ItemEnd | { kind: 'draft' | 'item' };

/** Returns the JSON that came in for an item, where "Include Input" is on; an option that can't be read is off. */
export function includedInput(fields: ItemFields | undefined): IDataObject | undefined {
	const isWanted = attempt(() => fields?.options.includeInput === true);
	return isWanted.ok && isWanted.value ? fields?.input.json : undefined;
}

function itemsOf(node: INode, end: ItemEnd): INodeExecutionData[] {
	if (end.kind === 'items') return end.items;
	if (end.kind !== 'failed') return [];
	if (end.delivered === undefined) return [failureItem(node, end)];
	const { items, outputs } = end.delivered;
	const binary = items[0]?.binary;
	// With Split Files, the files that were fetched have items of their own, and the failure names no binary field.
	return outputs.some(({ binaryProperty }) => binaryProperty !== undefined)
		? [failureItem(node, end, { outputs, binary })]
		: [...items.filter((item) => item.binary), failureItem(node, end, { outputs })];
}

/** Throws where failures do not go on as items. */
export function failedItem(
	context: IExecuteFunctions,
	failure: Failure,
	index: number,
): INodeExecutionData {
	if (!context.continueOnFail()) throw nodeError(context.getNode(), { failure, index });
	return failureItem(context.getNode(), { failure, index });
}

const failuresIn = (ends: readonly MaybeEnded[]) => ends.filter((end) => end.kind === 'failed');
const taskIdsOf = (end: MaybeEnded) => ('taskIds' in end ? end.taskIds : []);

function othersOf(first: FailedEnd, ends: readonly MaybeEnded[]): string {
	const others = ends.filter((end) => end !== first);
	const failed = failuresIn(others).length;
	const made = others.filter((end) => end.kind !== 'failed' && taskIdsOf(end).length > 0).length;
	const none = others.length - failed - made;
	const many = (count: number, one: string, more: string) =>
		count === 0 ? '' : ` ${count} other ${count === 1 ? `item ${one}` : `items ${more}`}.`;
	return [
		many(made, 'has a paid task', 'have paid tasks'),
		many(failed, 'failed, too', 'failed, too'),
		many(none, 'got no task', 'got no task'),
	].join('');
}

export class Report {
	constructor(
		readonly context: IExecuteFunctions,
		readonly ledger: Ledger,
		readonly items: readonly ItemFields[],
	) {}

	itemsOf(end: ItemEnd): INodeExecutionData[] {
		const input = includedInput(this.items[end.index]);
		return itemsOf(this.context.getNode(), end).map((item) => carryInput(item, input));
	}

	/** Lists paid tasks that can still be fetched (all except those that the service calls failed), and items whose tasks may exist. */
	left(ends: readonly MaybeEnded[]): LeftOver {
		const failed = failuresIn(ends);
		const before = this.ledger.left;
		const known = new Set([
			...before.made.map(({ taskId }) => taskId),
			...ends.flatMap((end) => taskIdsOf(end)),
		]);
		const now = failed.map(({ index: item, failure }) => ({ item, failure }));
		const unclear = [
			...before.unclear,
			...now.filter(({ failure }) => failure.outcome === 'unknown'),
		];
		const named = unclear
			.flatMap(({ failure: { taskId, whole } }) => [taskId ?? [], whole?.taskIds ?? []].flat())
			.filter((taskId) => !known.has(taskId));
		const useless = new Set(
			failed.map(({ failure: { outcome, taskId } }) => (outcome === 'failed' ? taskId : undefined)),
		);
		return {
			taskIds: [...known].filter((taskId) => !useless.has(taskId)),
			unclearItems: [...new Set(unclear.map(({ item }) => item))].sort((a, b) => a - b),
			namedTaskIds: [...new Set(named)],
		};
	}

	/** Throws for the first failed item, naming what is paid for and can be fetched, and what may be; not where failures go on as items. */
	throwFirstFailure(ends: readonly MaybeEnded[]): void {
		const [first] = failuresIn(ends);
		if (first !== undefined && !this.context.continueOnFail()) throw this.errorOf(first, ends);
	}

	errorOf(first: FailedEnd, ends: readonly MaybeEnded[]): Error {
		const left = this.left(ends);
		this.log('the run failed', left);
		const others = othersOf(first, ends);
		return nodeError(this.context.getNode(), first, { ...left, others });
	}

	/** n8n saves nothing of a stopped execution, so the log has to say what it leaves behind. */
	log(why: string, left: LeftOver): void {
		const words = wordsFor(left);
		if (words !== '') logOf(this.context).warn(`Media Generation: ${why}.${words}`);
	}

	/** An execution that goes on has no error that names them, and one that sleeps may be stopped before it has an output. */
	logUnclear(why: string, ends: readonly MaybeEnded[]): void {
		this.log(why, { ...this.left(ends), taskIds: [] });
	}

	note(ends: readonly ItemEnd[], { spent: { tasks, unnamed, credits } }: Spending): void {
		const worst = ends.flatMap((end): RunOutcome[] => {
			if (end.kind === 'failed') return [end.failure.outcome];
			if (end.kind === 'asleep') return ['asleep'];
			return end.kind === 'items' ? outcomesIn(end.items) : [];
		});
		noteExecution(this.context, `${this.context.getNode().name}:${this.ledger.run.runIndex}`, {
			taskIds: ends.flatMap(({ taskIds }) => taskIds),
			credits: tasks > unnamed ? credits : undefined,
			outcome: worstOf(worst),
		});
	}

	/** Costs are shown before a sleep as well: n8n takes no hints from an execution that wakes. */
	showCosts(spending: Spending | undefined): void {
		for (const { type, message } of spending?.hints() ?? []) showHint(this.context, type, message);
	}

	/** An item that this try has refused still has what earlier ones have paid for. */
	withEarlierTasks(end: ItemEnd): ItemEnd {
		if (end.kind !== 'failed' || end.taskIds.length > 0 || end.failure.outcome !== 'invalid')
			return end;
		const { made, unclear } = this.ledger.left;
		const taskIds = made.flatMap(({ item, taskId }) => (item === end.index ? [taskId] : []));
		const doubt = unclear.find(({ item }) => item === end.index)?.failure;
		const all = [...new Set([...taskIds, doubt?.taskId ?? []].flat())];
		if (all.length === 0) return doubt === undefined ? end : { ...end, failure: doubt };
		const refused: Failure = {
			outcome: 'unreachable',
			message: `${end.failure.message}; tasks of this item exist: ${all.join(', ')}`,
			description: 'They are paid for. "Task: Wait" fetches each of them by its ID.',
		};
		// They can be some parts of a text only, so no single one stands for the item.
		const whole = { taskIds: all, part: undefined, longText: undefined };
		return { ...end, taskIds, failure: { ...(doubt ?? refused), taskId: undefined, whole } };
	}

	output(given: readonly ItemEnd[], spending?: Spending): INodeExecutionData[] {
		this.throwFirstFailure(given);
		const ends = given.map((end) => this.withEarlierTasks(end));
		const failed = failuresIn(ends).length;
		const where =
			this.context.getNode().onError === 'continueErrorOutput'
				? 'failed and went to the error branch'
				: 'failed, see the field "outcome"';
		if (failed > 0) showHint(this.context, 'warning', `${failed} of ${ends.length} items ${where}`);
		this.showCosts(spending);
		this.logUnclear('the run ended', ends);
		return ends.flatMap((end) => this.itemsOf(end));
	}
}
