/** The shapes of an input item on its way: what it asks for, the tasks that it needs, what became of each, and of the item. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { InputFile } from '../actions/fields';
import type { CreationRequest } from '../answers/request';
import type { ItemSettings } from '../actions/waiting';
import type { Failure } from '../base/outcomes';
import type { Assembly } from '../items/parts';
import type { DeliveredItems } from '../files/outputFile';
import type { Earlier } from '../task/entries';
import type { Asked, Created, Slot } from '../task/identity';
import type { Ledger } from '../task/ledger';
import type { Watch } from '../task/wait';
import type { Task } from '../answers/task';
import type { Done, Failed } from '../answers/verdict';

type AwaitedTask = { kind: 'awaits'; taskId: string; seen: boolean };

/** What the fields of an input item ask for: tasks to create, or tasks that were made earlier. */
export interface Plan {
	kind: 'plan';
	index: number;
	settings: ItemSettings;
	/** Input files that go into its request. */
	files: readonly InputFile[];
	wanted: ReadonlyArray<{ kind: 'creates'; request: CreationRequest } | AwaitedTask>;
	assembly: Assembly;
}

export type PartToCreate = { kind: 'creates' } & Asked;
/** One task of an item. */
export type Part = PartToCreate | (AwaitedTask & { slot: Slot });

/** A plan that was checked, and whose files were read. */
export interface Item extends Pick<Plan, 'index' | 'settings' | 'assembly'> {
	kind: 'item';
	parts: readonly Part[];
	/** Why no task may be created for it. Those of earlier tries are searched for. */
	refusal?: Failure | undefined;
}

export const partsToCreate = ({ parts }: Item): PartToCreate[] =>
	parts.filter((part) => part.kind === 'creates');

/** Lists what is known of each task that an item creates, before anything is sent. */
export function earlierKinds(ledger: Ledger, item: Item): Array<Earlier['kind']> {
	return partsToCreate(item).map((part) => ledger.earlierOf(part).kind);
}

export const suspends = ({ settings }: Pick<Plan, 'settings'>): boolean =>
	settings.waiting.kind === 'suspend';

/** A task that the execution can sleep on. */
export type SleepingPart =
	/** `delivered` is undefined until its files are fetched. */
	| (Done & { watch: Watch; delivered: DeliveredItems | undefined })
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
	/** Given up, because another item has ended the run. */
	| { kind: 'halted'; taskId: string | undefined };

/** A part that has begun. Its promises never reject. */
export interface RunningPart {
	item: Item;
	/** Resolves once its task exists, or is known not to come. */
	made: Promise<Created | Failed>;
	result: Promise<PartResult>;
}

/** `item` is missing if it never began. */
export type ItemResult = { index: number; taskIds: string[]; item?: Item } & (
	| { kind: 'items'; items: INodeExecutionData[] }
	/** `delivered` has the files that could be fetched. */
	| { kind: 'failed'; failure: Failure; delivered: DeliveredItems | undefined }
	| { kind: 'asleep'; item: Item; parts: readonly SleepingPart[] }
	| { kind: 'halted' }
);

/** An input item at any step of its way. */
export type ItemState = Plan | Item | ItemResult;

export type FailedResult = Extract<ItemResult, { kind: 'failed' }>;

export function failedResult(index: number, failure: Failure): FailedResult {
	return { kind: 'failed', index, taskIds: [], failure, delivered: undefined };
}
