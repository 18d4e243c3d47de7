/** Makes a run's output from its items' results, or the error that ends it. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Ledger } from '../task/ledger';
import { failureItem, nodeError } from '../items/nodeError';
import { shownOutputs } from '../items/shownItem';
import { carryInput } from '../items/itemJson';
import type { ItemFields } from '../actions/fields';
import { includeInputOption } from '../actions/waiting';
import { showHint } from '../n8n/editor';
import { logOf } from '../n8n/log';
import { attempt, type Failure } from '../base/outcomes';
import { hintAtFailures } from './hints';
import type { ItemResult, ItemState } from './item';
import {
	adviceAfter,
	failuresIn,
	leftoversOf,
	RETRY,
	wordsForAll,
	wordsForUnclear,
} from './leftovers';
import type { Spending } from '../task/spending';

/** Returns the JSON of an input item if "Include Input" is on; an option that can't be read is off. */
export function includedInput(fields: ItemFields | undefined): IDataObject | undefined {
	const isWanted = attempt(() => fields?.boolean(includeInputOption, false));
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

/** Returns whether each file of an item is there. */
const hasAllFiles = (item: INodeExecutionData) =>
	shownOutputs(item).every(({ binaryProperty }) => binaryProperty !== undefined);

/** What a run has come to. Its owner closes it, whatever ends the run. */
export class Report {
	readonly context: IExecuteFunctions;
	readonly continueOnFail: boolean;
	private states: readonly ItemState[] = [];
	/** How the run ended, for the log; undefined until it has an output. */
	private end: string | undefined;

	constructor(
		{ context, continueOnFail }: Executing,
		readonly ledger: Ledger,
		readonly inputs: readonly ItemFields[],
	) {
		this.context = context;
		this.continueOnFail = continueOnFail;
	}

	get isStopped(): boolean {
		return this.context.getExecutionCancelSignal()?.aborted === true;
	}

	itemsOf(result: ItemResult): INodeExecutionData[] {
		const input = includedInput(this.inputs[result.index]);
		return this.ownItemsOf(result).map((item) => carryInput(item, input));
	}

	private ownItemsOf(result: ItemResult): INodeExecutionData[] {
		if (result.kind === 'items') return result.items;
		if (result.kind !== 'failed') return [];
		const node = this.context.getNode();
		if (result.delivered === undefined) return [failureItem(node, result)];
		const { items, outputs } = result.delivered;
		const binary = items[0]?.binary;
		if (outputs.some(({ binaryProperty }) => binaryProperty !== undefined))
			return [failureItem(node, result, { outputs, binary })];
		// The files that were fetched have items of their own. n8n decides by the first item whether to repeat the node.
		return [failureItem(node, result, { outputs }), ...items.filter(hasAllFiles)];
	}

	/** Throws for the first failed item, unless failures become items. The error names what is or may be paid for. */
	update(states: readonly ItemState[]): void {
		this.states = states;
		this.end = undefined;
		const [first] = failuresIn(states);
		if (first === undefined || this.continueOnFail) return;
		const leftovers = leftoversOf(this.ledger, states);
		const { failure } = first;
		// n8n offers its Retry for an execution that failed, and an agent can't press it.
		const canRetry = !this.isStopped && this.ledger.run.call === undefined;
		const retry = canRetry && leftovers.taskIds.length > 0 ? RETRY : '';
		const description = `${retry}${failure.description}${adviceAfter(first, states, leftovers)}`;
		throw nodeError(this.context.getNode(), { ...first, failure: { ...failure, description } });
	}

	/** Call this before the execution sleeps. */
	sleeps(results: readonly ItemResult[], spending: Spending): void {
		this.update(results);
		// n8n takes no hints from an execution that wakes.
		this.showCosts(spending);
		this.end = 'the execution went to sleep';
	}

	output(results: readonly ItemResult[], spending?: Spending): INodeExecutionData[] {
		this.update(results);
		const failures = failuresIn(results);
		const named = failures.every(({ index }) => includedInput(this.inputs[index]) !== undefined);
		hintAtFailures(this.context, results, named);
		this.showCosts(spending);
		const output = results.flatMap((result) => this.itemsOf(result));
		this.end = 'the run ended';
		return output;
	}

	private showCosts(spending: Spending | undefined): void {
		for (const { type, message } of spending?.hints() ?? []) showHint(this.context, type, message);
	}

	/** n8n saves nothing of a stopped execution, and one that continues has no error: the log has to say what a run leaves behind. */
	close(): void {
		const { states, end, isStopped, ledger } = this;
		const wordsOf = isStopped || end === undefined ? wordsForAll : wordsForUnclear;
		const words = wordsOf(leftoversOf(ledger, states));
		const why = isStopped ? 'the execution was stopped' : (end ?? 'the run failed');
		if (words !== '') logOf(this.context).warn(`${why}.${words}`);
		// A sleeping item is output when it wakes, and this run does not hear of that.
		const handedOut = states.filter(({ kind }) => kind === 'items' || kind === 'asleep');
		ledger.close(new Set(end === undefined ? [] : handedOut.map(({ index }) => index)));
	}
}
