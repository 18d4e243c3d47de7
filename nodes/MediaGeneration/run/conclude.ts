/** Makes an item's result from what became of its tasks. */
import type { Failure } from '../base/failures';
import { assemble } from '../files/assembly';
import { fieldsOf } from '../files/item';
import { failureOfWhole, unfinishedJson } from '../files/parts';
import { broken } from '../transport/taskFailures';
import {
	failedResult,
	type FailedResult,
	type Item,
	type ItemResult,
	type PartResult,
} from './item';
import type { Run } from './run';

/** Halts the run after a failed item, unless failures become items. */
export function noteFailure(run: Run, item: Item, failure: Failure): void {
	if (!continuesAfter(item, failure)) run.haltOnFailure();
}

/** Tells whether an item continues after its timeout, as "On Timeout" asks. */
function continuesAfter({ settings }: Item, { outcome }: Failure): boolean {
	return outcome === 'timed_out' && settings.onTimeout === 'returnTask';
}

const idsOf = (parts: readonly PartResult[]) =>
	parts.flatMap((part) => (part.kind === 'failed' ? part.failure.taskId : part.taskId) ?? []);
/** Leaves out tasks that merely may exist, because an unclear answer named them. */
const sureIdsOf = (parts: readonly PartResult[]) =>
	idsOf(parts.filter((part) => part.kind !== 'failed' || part.failure.outcome !== 'unknown'));

/** Makes an item's result from those of its parts. Never rejects. */
export async function conclude(
	{ delivery, ledger }: Run,
	item: Item,
	parts: readonly PartResult[],
): Promise<ItemResult> {
	for (const [part, result] of parts.entries())
		if (result.kind === 'failed' && result.failure.outcome === 'failed')
			ledger.forget({ item: item.index, part });
	const done = parts.filter((part) => part.kind === 'done');
	if (done.length < parts.length) return unfinishedResult(item, parts);
	const common = { index: item.index, taskIds: idsOf(parts) };
	const delivered = await assemble(delivery, done, item);
	const { items, failure } = delivered;
	return failure === undefined
		? { kind: 'items', ...common, items }
		: { kind: 'failed', ...common, failure, delivered };
}

/** Makes the result of an item that n8n could not put to sleep. */
export function sleeplessResult(
	error: unknown,
	{ item, parts }: Extract<ItemResult, { kind: 'asleep' }>,
): ItemResult {
	return failedWith(broken(error, 'sent', idsOf(parts)[0]), undefined, { item, parts });
}

/** Makes the result of an item whose parts are not all done. */
function unfinishedResult(item: Item, parts: readonly PartResult[]): ItemResult {
	const { index, assembly } = item;
	const common = { index, taskIds: sureIdsOf(parts) };
	const failed = mainFailure(item, parts);
	if (failed !== undefined && !continuesAfter(item, failed.failure))
		return failedWith(failed.failure, parts.indexOf(failed), { item, parts });
	const isHalted = parts.some(({ kind }) => kind === 'halted');
	if (failed !== undefined || isHalted) {
		// A file that could not be fetched ends a run like any failure, and this item has to report it.
		for (const [number, part] of parts.entries())
			if (part.kind === 'done' && part.delivered?.failure !== undefined)
				return failedWith(part.delivered.failure, number, { item, parts });
	}
	if (failed !== undefined) {
		const json = unfinishedJson(assembly, idsOf(parts), failed.task);
		return { kind: 'items', ...common, items: [{ json, pairedItem: { item: index } }] };
	}
	if (isHalted) return { kind: 'halted', ...common };
	const sleeping = parts.filter((part) => part.kind === 'open' || part.kind === 'done');
	if (sleeping.length > 0) return { kind: 'asleep', ...common, item, parts: sleeping };
	const items = parts.flatMap((part, number) => {
		if (part.kind !== 'created') return [];
		const { answer, taskId } = part;
		const isPart = assembly.longText.kind === 'parts';
		const which = isPart ? { part: number + 1, parts: assembly.texts.length } : {};
		const json = { ...fieldsOf(answer), task_id: taskId, ...which };
		return { json, pairedItem: { item: index } };
	});
	return { kind: 'items', ...common, items };
}

/** Chooses the failure to report: first one that may be paid for, last one after which the item continues. */
function mainFailure(item: Item, parts: readonly PartResult[]) {
	const failed = parts.filter((part) => part.kind === 'failed');
	return (
		failed.find(({ failure }) => failure.outcome === 'unknown') ??
		failed.find(({ failure }) => !continuesAfter(item, failure)) ??
		failed[0]
	);
}

function failedWith(
	failure: Failure,
	number: number | undefined,
	{ item: { index, assembly }, parts }: { item: Item; parts: readonly PartResult[] },
): FailedResult {
	const whole = failureOfWhole(failure, { number, assembly, taskIds: idsOf(parts) });
	return { ...failedResult(index, whole), taskIds: sureIdsOf(parts) };
}
