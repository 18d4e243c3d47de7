/** Makes an item's result from what became of its tasks. */
import type { Failure } from '../base/outcomes';
import { assemble } from '../files/assembly';
import type { Delivery } from '../files/delivery';
import { fieldsOf } from '../items/itemJson';
import { failureOfText, unfinishedJson } from '../items/parts';
import type { Created } from '../task/identity';
import {
	failedResult,
	type FailedResult,
	type Item,
	type ItemResult,
	type PartResult,
} from './item';

/** Returns whether an item continues after its timeout, according to 'On Timeout'. */
export function continuesAfter({ settings }: Item, { outcome }: Failure): boolean {
	return outcome === 'timed_out' && settings.onTimeout === 'returnTask';
}

/** A file that could not be fetched ends a run like any failure, and its item has to report it. */
export function failureOf(result: PartResult | ItemResult): Failure | undefined {
	if (result.kind === 'failed') return result.failure;
	return result.kind === 'done' ? result.delivered?.failure : undefined;
}

const idsOf = (parts: readonly PartResult[]) =>
	parts.flatMap((part) => (part.kind === 'failed' ? part.failure.taskId : part.taskId) ?? []);
/** Leaves out tasks that merely may exist, because an unclear answer named them. */
const sureIdsOf = (parts: readonly PartResult[]) =>
	idsOf(parts.filter((part) => part.kind !== 'failed' || part.failure.outcome !== 'unknown'));

/** Never rejects. */
export async function conclude(
	delivery: Delivery,
	item: Item,
	parts: readonly PartResult[],
): Promise<ItemResult> {
	const done = parts.filter((part) => part.kind === 'done');
	if (done.length < parts.length) return unfinishedResult(item, parts);
	const common = { index: item.index, item, taskIds: idsOf(parts) };
	const delivered = await assemble(delivery, done, item);
	const { items, failure } = delivered;
	return failure === undefined
		? { kind: 'items', ...common, items }
		: { kind: 'failed', ...common, failure, delivered };
}

/** Makes the result of an item whose parts are not all done. */
function unfinishedResult(item: Item, parts: readonly PartResult[]): ItemResult {
	const { index, assembly } = item;
	const common = { index, item, taskIds: sureIdsOf(parts) };
	const sleeping = parts.filter((part) => part.kind === 'open' || part.kind === 'done');
	if (sleeping.length === parts.length) return { kind: 'asleep', ...common, parts: sleeping };
	const main = mainFailure(item, parts);
	if (main !== undefined && !continuesAfter(item, main.failure))
		return failedWith(main.failure, main.number, { item, parts });
	if (main !== undefined) {
		const json = unfinishedJson(assembly, idsOf(parts), main.task);
		return { kind: 'items', ...common, items: [{ json, pairedItem: { item: index } }] };
	}
	if (parts.some(({ kind }) => kind === 'halted')) return { kind: 'halted', ...common };
	const items = parts.flatMap((part, number) =>
		part.kind === 'created' ? [createdItem(item, part, number)] : [],
	);
	return { kind: 'items', ...common, items };
}

/** Outputs the answer to a creation that nobody waits for. */
function createdItem({ index, assembly }: Item, { answer, taskId }: Created, number: number) {
	const isPart = assembly.longText.kind === 'parts';
	const which = isPart ? { part: number + 1, parts: assembly.texts.length } : {};
	const json = { ...fieldsOf(answer), task_id: taskId, ...which };
	return { json, pairedItem: { item: index } };
}

/** Picks the failure to report, in this order: unknown, failing, timed out with Return Task. */
function mainFailure(item: Item, parts: readonly PartResult[]) {
	// One that only lacks a file comes last.
	const all = parts
		.flatMap((part, number) => {
			const failure = failureOf(part);
			const task = part.kind === 'failed' ? part.task : undefined;
			return failure === undefined ? [] : { failure, task, number, isDone: part.kind === 'done' };
		})
		.sort((one, other) => Number(one.isDone) - Number(other.isDone));
	return (
		all.find(({ failure }) => failure.outcome === 'unknown') ??
		all.find(({ failure }) => !continuesAfter(item, failure)) ??
		all[0]
	);
}

export function failedWith(
	failure: Failure,
	number: number | undefined,
	{ item, parts }: { item: Item; parts: readonly PartResult[] },
): FailedResult {
	const { index, assembly } = item;
	const ofItem = failureOfText(failure, { number, assembly, taskIds: idsOf(parts) });
	return { ...failedResult(index, ofItem), item, taskIds: sureIdsOf(parts) };
}
