/** Follows one input item: what it needs, what becomes of each of its tasks, and its end, which it carries from then on. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Created } from '../task/creation';
import type { Asked, Earlier, Ledger, Slot } from '../task/ledger';
import type { CreateDeps } from '../task/create';
import { assemble, failureOfWhole, unfinishedJson, type Assembly } from '../files/assembly';
import { fieldsOf, type Delivered, type Delivery, type Whole } from '../files/item';
import type { ItemSettings } from '../actions/waiting';
import { type Failure } from '../base/failures';
import { broken } from '../transport/taskFailures';
import type { Done, Failed } from '../transport/verdict';
import type { OpenTask } from '../suspend/notes';
import type { Watch } from '../task/wait';
import type { PaidTasks } from '../n8n/paidTasks';
import type { Spending } from '../task/spending';

export interface RunDeps extends Omit<CreateDeps, 'over'> {
	context: IExecuteFunctions;
	ledger: Ledger;
	spending: Spending;
	paidTasks: Pick<PaidTasks, 'add'>;
	delivery: Pick<Delivery, 'deliver'>;
}

export interface CreatedPart extends Asked {
	kind: 'creates';
	earlier: Earlier;
}

export type Part =
	| CreatedPart
	/** `task: wait` waits for a task that was made earlier. */
	| { kind: 'awaits'; slot: Slot; taskId: string };

export interface Item {
	kind: 'item';
	index: number;
	settings: ItemSettings;
	parts: readonly Part[];
	assembly: Assembly;
}

export type PartEnd =
	/** `delivered` is undefined where its files are still to be fetched. */
	| (Done & { watch: Watch; delivered: Delivered | undefined })
	/** The creation's answer goes out, and nothing is waited for. */
	| (Created & { kind: 'created' })
	/** It was released so that the execution can sleep. */
	| OpenTask
	| Failed
	/** It was given up because the run is going to fail anyway. */
	| { kind: 'halted'; taskId: string | undefined };

export type ItemEnd = { index: number; taskIds: string[] } & (
	| { kind: 'items'; items: INodeExecutionData[] }
	/** `delivered` has the files that are there all the same. */
	| { kind: 'failed'; failure: Failure; delivered: Whole | undefined }
	| { kind: 'asleep'; item: Item; parts: readonly PartEnd[] }
	| { kind: 'halted' }
);

export type FailedEnd = Extract<ItemEnd, { kind: 'failed' }>;

export function failedEnd(index: number, failure: Failure): FailedEnd {
	return { kind: 'failed', index, taskIds: [], failure, delivered: undefined };
}

/** Tells whether an item goes on although it ran out of time, as "On Timeout" asks for. */
export function goesOnAfter({ settings }: Item, { outcome }: Failure): boolean {
	return outcome === 'timed_out' && settings.onTimeout === 'returnTask';
}

function partTaskId(part: PartEnd): string | undefined {
	switch (part.kind) {
		case 'open':
			return part.watch.taskId;
		case 'failed':
			return part.failure.taskId;
		default:
			return part.taskId;
	}
}

const idsOf = (parts: readonly PartEnd[]) => parts.flatMap((part) => partTaskId(part) ?? []);
/** Leaves out tasks that merely may exist, named by the refusal of a creation. */
const sureIdsOf = (parts: readonly PartEnd[]) =>
	idsOf(parts.filter((part) => part.kind !== 'failed' || part.failure.outcome !== 'unknown'));

/** Makes the end of an item whose parts have ended. Never rejects. */
export async function conclude(
	{ context, delivery, ledger }: RunDeps,
	item: Item,
	parts: readonly PartEnd[],
): Promise<ItemEnd> {
	for (const [part, end] of parts.entries())
		if (end.kind === 'failed' && end.failure.outcome === 'failed')
			ledger.forget({ item: item.index, part });
	const done = parts.filter((part) => part.kind === 'done');
	if (done.length < parts.length) return itemEndOf(item, parts);
	const common = { index: item.index, taskIds: idsOf(parts) };
	const delivered = await assemble(context, { delivery, parts: done }, item);
	const { items, failure } = delivered;
	return failure === undefined
		? { kind: 'items', ...common, items }
		: { kind: 'failed', ...common, failure, delivered };
}

/** Makes the end of an item that n8n could not put to sleep. */
export function brokenEnd(error: unknown, item: Item, parts: readonly PartEnd[]): ItemEnd {
	return failedWith(broken(error, 'sent', idsOf(parts)[0]), undefined, { item, parts });
}

function itemEndOf(item: Item, parts: readonly PartEnd[]): ItemEnd {
	const { index, assembly } = item;
	const common = { index, taskIds: sureIdsOf(parts) };
	const failed = speakingFailure(item, parts);
	if (failed !== undefined && !goesOnAfter(item, failed.failure))
		return failedWith(failed.failure, parts.indexOf(failed), { item, parts });
	const isHalted = parts.some(({ kind }) => kind === 'halted');
	if (failed !== undefined || isHalted) {
		// A file that could not be fetched ends a run like any failure, and it is this item that has to say so.
		for (const [number, part] of parts.entries())
			if (part.kind === 'done' && part.delivered?.failure !== undefined)
				return failedWith(part.delivered.failure, number, { item, parts });
	}
	if (failed !== undefined) {
		const json = unfinishedJson(assembly, idsOf(parts), failed.task);
		return { kind: 'items', ...common, items: [{ json, pairedItem: { item: index } }] };
	}
	if (isHalted) return { kind: 'halted', ...common };
	if (parts.some(({ kind }) => kind === 'open')) return { kind: 'asleep', ...common, item, parts };
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

/** A part that may be paid for speaks first; a failure that the item may go on after comes last. */
function speakingFailure(item: Item, parts: readonly PartEnd[]) {
	const failed = parts.filter((part) => part.kind === 'failed');
	return (
		failed.find(({ failure }) => failure.outcome === 'unknown') ??
		failed.find(({ failure }) => !goesOnAfter(item, failure)) ??
		failed[0]
	);
}

function failedWith(
	failure: Failure,
	number: number | undefined,
	{ item: { index, assembly }, parts }: { item: Item; parts: readonly PartEnd[] },
): FailedEnd {
	const whole = failureOfWhole(failure, { number, assembly, taskIds: idsOf(parts) });
	return { ...failedEnd(index, whole), taskIds: sureIdsOf(parts) };
}
