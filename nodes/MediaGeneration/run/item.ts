/** The shapes of an input item on its way: the tasks that it needs, what became of each, and what became of the item. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { InputFile } from '../actions/fields';
import type { CreationRequest } from '../answers/request';
import type { ItemSettings } from '../actions/waiting';
import type { Failure } from '../base/outcomes';
import type { Assembly } from '../files/parts';
import type { Delivered } from '../files/delivery';
import { requestHash, type Created } from '../task/identity';
import type { Asked, Slot } from '../task/earlier';
import type { Watch } from '../task/wait';
import type { ServiceClient } from '../transport/client';
import type { Task } from '../answers/task';
import type { Done, Failed } from '../answers/verdict';

export interface CreatedPart {
	kind: 'creates';
	slot: Slot;
	request: CreationRequest;
}

export type Part =
	| CreatedPart
	/** `task: wait` waits for a task that was made earlier. */
	| { kind: 'awaits'; slot: Slot; taskId: string; seen: boolean };

/** Describes a part's request to the ledger. */
export function askedFor({ credentials }: ServiceClient, { slot, request }: CreatedPart): Asked {
	return { slot, request, hash: requestHash(credentials.baseUrl, request) };
}

export interface Item {
	kind: 'item';
	index: number;
	settings: ItemSettings;
	/** Input files that go into its request. */
	files: readonly InputFile[];
	parts: readonly Part[];
	assembly: Assembly;
	/** Why no task may be created for it. Those of earlier tries are searched for. */
	refusal?: Failure | undefined;
}

/** A task that the execution can sleep on. */
export type SleepingPart =
	/** `delivered` is undefined until its files are fetched. */
	| (Done & { watch: Watch; delivered: Delivered | undefined })
	/** `task` as last seen; undefined if it never was. */
	| {
			kind: 'open';
			taskId: string;
			watch: Watch;
			task: Task | undefined;
			receiveUrl: Created['receiveUrl'];
	  };

export type PartResult =
	| SleepingPart
	/** The creation's answer is output without waiting. */
	| Created
	| Failed
	/** Given up, because the run is going to fail anyway. */
	| { kind: 'halted'; taskId: string | undefined };

/** `item` is missing if it never began. */
export type ItemResult = { index: number; taskIds: string[]; item?: Item } & (
	| { kind: 'items'; items: INodeExecutionData[] }
	/** `delivered` has the files that could be fetched. */
	| { kind: 'failed'; failure: Failure; delivered: Delivered | undefined }
	| { kind: 'asleep'; item: Item; parts: readonly SleepingPart[] }
	| { kind: 'halted' }
);

export type FailedResult = Extract<ItemResult, { kind: 'failed' }>;

export function failedResult(index: number, failure: Failure): FailedResult {
	return { kind: 'failed', index, taskIds: [], failure, delivered: undefined };
}
