/** One input item on its way: what it needs, what becomes of each of its tasks, and its end, which it carries from then on. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Created } from '../create/creation';
import type { Earlier, Ledger, Slot } from '../create/ledger';
import type { SubmitDeps } from '../create/submit';
import type { Assembly, AssemblyInput } from '../delivery/assembly';
import type { Delivered, Delivery } from '../delivery/item';
import type { CreationRequest } from '../operations/operation';
import type { ItemSettings } from '../operations/waiting';
import type { Failure } from '../service/failures';
import type { Done, Failed } from '../service/verdict';
import type { SleepingTask } from '../sleep/notes';
import type { Watch } from '../wait/poll';
import type { Spending } from './spending';

export interface Means extends Omit<SubmitDeps, 'over'> {
	context: IExecuteFunctions;
	ledger: Ledger;
	spending: Spending;
	delivery: Pick<Delivery, 'deliver'>;
	/** Epoch ms at which the execution began that n8n's Retry repeats, where nothing is known of what it has sent; else undefined. */
	beganAt: number | undefined;
}

/** One task that an item needs, and that is to be created unless an earlier try has. */
export interface CreatedPart {
	kind: 'creates';
	slot: Slot;
	request: CreationRequest;
	/** What an earlier try has left of it. */
	earlier: Earlier;
}

export type Part =
	| CreatedPart
	/** `task: wait`: it was made earlier. */
	| { kind: 'awaits'; slot: Slot; taskId: string };

export interface Item {
	kind: 'item';
	/** Of the input item. */
	index: number;
	settings: ItemSettings;
	/** At least one. */
	parts: readonly Part[];
	/** How their results make the item's output. */
	assembly: Assembly;
}

export type PartEnd =
	| { kind: 'done'; done: Done; watch: Watch; delivered: Delivered }
	/** Not waited for: the creation's answer. */
	| { kind: 'created'; created: Created }
	/** Let go, so that the execution can sleep. */
	| { kind: 'asleep'; task: SleepingTask }
	| Failed
	/** Given up because the run is going to fail anyway. */
	| { kind: 'halted'; taskId: string | undefined };

/** The end of an item. `taskIds`: all that are known of it. */
export type ItemEnd = { index: number; taskIds: string[] } & (
	| { kind: 'items'; items: INodeExecutionData[] }
	/** `delivered`: what is there all the same. */
	| { kind: 'failed'; failure: Failure; delivered: Delivered | undefined }
	| { kind: 'asleep'; item: Item; parts: PartEnd[] }
	| { kind: 'halted' }
);

export type FailedEnd = Extract<ItemEnd, { kind: 'failed' }>;

/** An item that fails before anything is sent for it. */
export function failedEnd(index: number, failure: Failure): FailedEnd {
	return { kind: 'failed', index, taskIds: [], failure, delivered: undefined };
}

export function inputOf({ index, settings: { files }, assembly }: Item): AssemblyInput {
	return { assembly, files, index };
}

/** Whether an item goes on as the task that it is: one that merely ran out of time, where "On Timeout" says so. */
export function goesOnAfter({ settings }: Item, { outcome }: Failure): boolean {
	return outcome === 'timed_out' && settings.onTimeout === 'returnTask';
}

export function taskIdOf(part: PartEnd): string | undefined {
	switch (part.kind) {
		case 'done':
			return part.done.taskId;
		case 'created':
			return part.created.taskId;
		case 'asleep':
			return part.task.watch.taskId;
		case 'failed':
			return part.failure.taskId;
		case 'halted':
			return part.taskId;
	}
}

/** Where the service reports the end of a task that is made by this request; undefined where it does not. */
export function receiveUrlOf({ body }: CreationRequest): string | undefined {
	return typeof body.receive_url === 'string' ? body.receive_url : undefined;
}
