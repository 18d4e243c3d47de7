/**
 * What becomes of an item once its parts have ended.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { assemble } from '../delivery/assembly';
import type { Delivery } from '../delivery/item';
import { failureOfPart } from '../delivery/partFailure';
import { outcomes, type Failure } from '../service/failures';
import { allDone, goesOnAfter, type Item, type ItemEnd, type PartEnd } from './item';

/** What becomes of an item whose parts have ended. */
export async function conclude(
	{ context, delivery }: { context: IExecuteFunctions; delivery: Delivery },
	item: Item,
	parts: PartEnd[],
): Promise<ItemEnd> {
	const { index, settings, assembly } = item;
	const finished = allDone(parts);
	if (finished !== undefined) {
		const input = { assembly, files: settings.files, index };
		const delivered = await assemble(context, { delivery, parts: finished }, input);
		const { items, failure } = delivered;
		return failure === undefined
			? { kind: 'items', items }
			: { kind: 'failed', failure, delivered };
	}
	const failed = speakingFailure(item, parts);
	if (failed !== undefined && !goesOnAfter(item, failed.failure))
		return concludeFailed(item, parts, failed);
	const isHalted = parts.some(({ kind }) => kind === 'halted');
	const undelivered = failed !== undefined || isHalted ? undeliveredPart(item, parts) : undefined;
	if (undelivered !== undefined) return undelivered;
	if (failed !== undefined) return asTask(item, parts, failed);
	if (isHalted) return { kind: 'halted' };
	if (parts.some(({ kind }) => kind === 'asleep')) return { kind: 'asleep', parts };
	return { kind: 'items', items: parts.flatMap((part) => createdItem(item, parts, part)) };
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
	number: number,
	{ item, parts }: { item: Item; parts: readonly PartEnd[] },
): ItemEnd {
	const taskIds = parts.flatMap(taskIdOf);
	const { texts } = item.assembly;
	return { kind: 'failed', failure: failureOfPart(failure, { number, taskIds, texts }) };
}

/** A file that could not be fetched ends a run like any failure, and it is this item that has to say so. */
function undeliveredPart(item: Item, parts: readonly PartEnd[]): ItemEnd | undefined {
	for (const [number, part] of parts.entries()) {
		const failure = part.kind === 'done' ? part.delivered?.failure : undefined;
		if (failure !== undefined) return failedWith(failure, number, { item, parts });
	}
	return undefined;
}

type Failed = Extract<PartEnd, { kind: 'failed' }>;

/** A part failed, so its item does. */
function concludeFailed(item: Item, parts: readonly PartEnd[], failed: Failed): ItemEnd {
	const { failure } = failed;
	return item.assembly.longText.kind === 'off'
		? { kind: 'failed', failure }
		: failedWith(failure, parts.indexOf(failed), { item, parts });
}

/** An item goes on as the task that ran out of time. */
function asTask(
	{ index, assembly }: Item,
	parts: readonly PartEnd[],
	{ failure, task }: Failed,
): ItemEnd {
	const json = {
		...(task?.raw as IDataObject | undefined),
		task_id: failure.taskId,
		...(assembly.longText.kind === 'off' ? {} : { task_ids: parts.flatMap(taskIdOf) }),
		timed_out: true,
	};
	return { kind: 'items', items: [{ json, pairedItem: { item: index } }] };
}

/** The item of a task that is not waited for. */
function createdItem(
	{ index, assembly }: Item,
	parts: readonly PartEnd[],
	part: PartEnd,
): INodeExecutionData[] {
	if (part.kind !== 'created') return [];
	const { answer, taskId } = part.created;
	const json: IDataObject = {
		...(answer as IDataObject),
		task_id: taskId,
		...(assembly.longText.kind === 'parts'
			? { part: parts.indexOf(part) + 1, parts: parts.length }
			: {}),
	};
	return [{ json, pairedItem: { item: index } }];
}

function taskIdOf(part: PartEnd): string[] {
	switch (part.kind) {
		case 'done':
			return [part.done.taskId];
		case 'created':
			return [part.created.taskId];
		case 'asleep':
			return [part.task.watch.taskId];
		case 'failed':
			return part.failure.taskId === undefined ? [] : [part.failure.taskId];
		case 'halted':
			return [];
	}
}
