/**
 * What becomes of an item once its parts have ended.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { assemble, failureOfWhole, unfinishedJson } from '../delivery/assembly';
import { fieldsOf, type Delivery } from '../delivery/item';
import type { N8nContext } from '../service/client';
import { broken, outcomes, type Failure } from '../service/failures';
import { goesOnAfter, taskIdOf, type Item, type ItemEnd, type PartEnd } from './item';

export interface Conclusion {
	context: N8nContext;
	delivery: Pick<Delivery, 'deliver'>;
}

const idsOf = (parts: readonly PartEnd[]) => parts.flatMap((part) => taskIdOf(part) ?? []);
/** Without those that merely may exist, as the refusal of a creation has named them. */
const sureIdsOf = (parts: readonly PartEnd[]) =>
	idsOf(parts.filter((part) => part.kind !== 'failed' || !outcomes[part.failure.outcome].unclear));

/** What becomes of an item whose parts have ended. Never rejects: what breaks here is the item's end as well. */
export async function conclude(means: Conclusion, item: Item, parts: PartEnd[]): Promise<ItemEnd> {
	try {
		return await endOf(means, item, parts);
	} catch (error) {
		return brokenEnd(error, item, parts);
	}
}

/** The end of an item that broke off after its parts had ended. */
export function brokenEnd(error: unknown, item: Item, parts: readonly PartEnd[]): ItemEnd {
	const [taskId] = idsOf(parts);
	const areDone = parts.every(({ kind }) => kind === 'done');
	const failure = broken(
		error,
		taskId === undefined ? { kind: 'sent' } : { kind: areDone ? 'done' : 'exists', taskId },
	);
	return failedWith(failure, undefined, { item, parts });
}

async function endOf(
	{ context, delivery }: Conclusion,
	item: Item,
	parts: PartEnd[],
): Promise<ItemEnd> {
	const { index, settings, assembly } = item;
	const common = { index, taskIds: sureIdsOf(parts) };
	const done = parts.flatMap((part) => (part.kind === 'done' ? [part] : []));
	if (done.length === parts.length) {
		const input = { assembly, files: settings.files, index };
		const delivered = await assemble(context, { delivery, parts: done }, input);
		const { items, failure } = delivered;
		return failure === undefined
			? { kind: 'items', ...common, items }
			: { kind: 'failed', ...common, failure, delivered };
	}
	const failed = speakingFailure(item, parts);
	if (failed !== undefined && !goesOnAfter(item, failed.failure))
		return failedWith(failed.failure, parts.indexOf(failed), { item, parts });
	const isHalted = parts.some(({ kind }) => kind === 'halted');
	const undelivered = failed !== undefined || isHalted ? undeliveredPart(item, parts) : undefined;
	if (undelivered !== undefined) return undelivered;
	if (failed !== undefined) {
		const json = unfinishedJson(assembly, idsOf(parts), failed.task);
		return { kind: 'items', ...common, items: [{ json, pairedItem: { item: index } }] };
	}
	if (isHalted) return { kind: 'halted', ...common };
	if (parts.some(({ kind }) => kind === 'asleep'))
		return { kind: 'asleep', ...common, item, parts };
	const items = parts.flatMap((part, number) => createdItem(item, part, number));
	return { kind: 'items', ...common, items };
}

/**
 * The failure that an item shows: that a part may be paid for goes before that another one was not, and what the item may go on with
 * comes last.
 */
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
	const taskIds = idsOf(parts);
	const whole = failureOfWhole(failure, { number, assembly, taskIds });
	return { kind: 'failed', index, taskIds: sureIdsOf(parts), failure: whole, delivered: undefined };
}

/** A file that could not be fetched ends a run like any failure, and it is this item that has to say so. */
function undeliveredPart(item: Item, parts: readonly PartEnd[]): ItemEnd | undefined {
	for (const [number, part] of parts.entries()) {
		const failure = part.kind === 'done' ? part.delivered?.failure : undefined;
		if (failure !== undefined) return failedWith(failure, number, { item, parts });
	}
	return undefined;
}

/** The item of a task that is not waited for. */
function createdItem(
	{ index, assembly }: Item,
	part: PartEnd,
	number: number,
): INodeExecutionData[] {
	if (part.kind !== 'created') return [];
	const { answer, taskId } = part.created;
	const json: IDataObject = {
		...fieldsOf(answer),
		task_id: taskId,
		...(assembly.longText.kind === 'parts'
			? { part: number + 1, parts: assembly.texts.length }
			: {}),
	};
	return [{ json, pairedItem: { item: index } }];
}
