/** What becomes of an item once its parts have ended. */
import { assemble, failureOfWhole, unfinishedJson, type DonePart } from '../delivery/assembly';
import { fieldsOf } from '../delivery/item';
import { broken, outcomes, type Failure } from '../service/failures';
import { goesOnAfter, inputOf, taskIdOf } from './item';
import type { Item, ItemEnd, Means, PartEnd } from './item';

const idsOf = (parts: readonly PartEnd[]) => parts.flatMap((part) => taskIdOf(part) ?? []);
/** Without those that merely may exist, as the refusal of a creation has named them. */
const sureIdsOf = (parts: readonly PartEnd[]) =>
	idsOf(parts.filter((part) => part.kind !== 'failed' || !outcomes[part.failure.outcome].unclear));

function doneIn(parts: readonly PartEnd[]): DonePart[] {
	return parts.flatMap((part): DonePart[] => {
		if (part.kind === 'done') return [part];
		return part.kind === 'asleep' && part.task.kind === 'over' ? [part.task] : [];
	});
}

/** Never rejects: what breaks here is the item's end as well. */
export async function conclude(
	means: Pick<Means, 'context' | 'delivery'>,
	item: Item,
	parts: PartEnd[],
): Promise<ItemEnd> {
	try {
		const done = doneIn(parts);
		return done.length === parts.length
			? await handedOut(means, { item, parts, done })
			: endOf(item, parts);
	} catch (error) {
		return brokenEnd(error, item, parts);
	}
}

export function brokenEnd(error: unknown, item: Item, parts: readonly PartEnd[]): ItemEnd {
	const [taskId] = idsOf(parts);
	const areDone = doneIn(parts).length === parts.length;
	const failure = broken(
		error,
		taskId === undefined ? { kind: 'sent' } : { kind: areDone ? 'done' : 'exists', taskId },
	);
	return failedWith(failure, undefined, { item, parts });
}

async function handedOut(
	{ context, delivery }: Pick<Means, 'context' | 'delivery'>,
	{ item, parts, done }: { item: Item; parts: PartEnd[]; done: DonePart[] },
): Promise<ItemEnd> {
	const common = { index: item.index, taskIds: sureIdsOf(parts) };
	const delivered = await assemble(context, { delivery, parts: done }, inputOf(item));
	const { items, failure } = delivered;
	return failure === undefined
		? { kind: 'items', ...common, items }
		: { kind: 'failed', ...common, failure, delivered };
}

function endOf(item: Item, parts: PartEnd[]): ItemEnd {
	const { index, assembly } = item;
	const common = { index, taskIds: sureIdsOf(parts) };
	const failed = speakingFailure(item, parts);
	if (failed !== undefined && !goesOnAfter(item, failed.failure))
		return failedWith(failed.failure, parts.indexOf(failed), { item, parts });
	const isHalted = parts.some(({ kind }) => kind === 'halted');
	if (failed !== undefined || isHalted) {
		// A file that could not be fetched ends a run like any failure, and it is this item that has to say so.
		for (const [number, part] of parts.entries())
			if (part.kind === 'done' && part.delivered.failure !== undefined)
				return failedWith(part.delivered.failure, number, { item, parts });
	}
	if (failed !== undefined) {
		const json = unfinishedJson(assembly, idsOf(parts), failed.task);
		return { kind: 'items', ...common, items: [{ json, pairedItem: { item: index } }] };
	}
	if (isHalted) return { kind: 'halted', ...common };
	if (parts.some(({ kind }) => kind === 'asleep'))
		return { kind: 'asleep', ...common, item, parts };
	const items = parts.flatMap((part, number) => {
		if (part.kind !== 'created') return [];
		const { answer, taskId } = part.created;
		const which =
			assembly.longText.kind === 'parts' ? { part: number + 1, parts: assembly.texts.length } : {};
		return {
			json: { ...fieldsOf(answer), task_id: taskId, ...which },
			pairedItem: { item: index },
		};
	});
	return { kind: 'items', ...common, items };
}

/** That a part may be paid for goes before that another one was not, and what the item may go on with comes last. */
function speakingFailure(item: Item, parts: readonly PartEnd[]) {
	const failed = parts.filter((part) => part.kind === 'failed');
	return (
		failed.find(({ failure }) => outcomes[failure.outcome].unclear) ??
		failed.find(({ failure }) => !goesOnAfter(item, failure)) ??
		failed[0]
	);
}

/** The item fails with one of its parts, and names the tasks of them all. */
function failedWith(
	failure: Failure,
	number: number | undefined,
	{ item: { index, assembly }, parts }: { item: Item; parts: readonly PartEnd[] },
): ItemEnd {
	const whole = failureOfWhole(failure, { number, assembly, taskIds: idsOf(parts) });
	return { kind: 'failed', index, taskIds: sureIdsOf(parts), failure: whole, delivered: undefined };
}
