/**
 * One input item, from plan to end. It carries its settings and its parts; running it returns its end, and nothing about it
 * is kept anywhere else.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import type { Created } from '../create/submit';
import type { Assembly } from '../delivery/assembly';
import type { Delivered } from '../delivery/item';
import type { CreationRequest } from '../operations/operation';
import type { ItemSettings } from '../operations/waiting';
import type { Failure } from '../service/failures';
import type { Done } from '../service/verdict';
import type { Task } from '../service/task';
import type { SleepingTask } from '../sleep/notes';
import type { Watch } from '../wait/poll';

/** One task that an item needs. */
export type Part =
	| { kind: 'creates'; number: number; request: CreationRequest }
	/** `task: wait`: it was made earlier. */
	| { kind: 'awaits'; number: number; taskId: string };

export interface Item {
	/** Of the input item. */
	index: number;
	settings: ItemSettings;
	/** At least one. */
	parts: readonly Part[];
	/** How their results make the item's output. */
	assembly: Assembly;
}

export type PartEnd =
	/** `delivered`: its files, fetched as soon as it was over. */
	| { kind: 'done'; done: Done; watch: Watch; delivered?: Delivered }
	/** Not waited for: the creation's answer. */
	| { kind: 'created'; created: Created }
	/** Let go unfinished, so that the execution can sleep. */
	| { kind: 'asleep'; task: Extract<SleepingTask, { kind: 'open' }> }
	| { kind: 'failed'; failure: Failure; task?: Task | undefined }
	/** Given up because the run is going to fail anyway. */
	| { kind: 'halted' };

export type ItemEnd =
	| { kind: 'items'; items: INodeExecutionData[] }
	| { kind: 'failed'; failure: Failure; delivered?: Delivered }
	| { kind: 'asleep'; parts: PartEnd[] }
	| { kind: 'halted' };

/** Whether an item goes on as the task that it is: one that merely ran out of time, where "On Timeout" says so. */
export function goesOnAfter({ settings }: Item, { outcome }: Failure): boolean {
	return outcome === 'timed_out' && settings.onTimeout === 'returnTask';
}

/** Whether nothing more can happen to a part. */
export function isOver(part: PartEnd): boolean {
	return part.kind !== 'asleep';
}

/** The parts that are done, if all of them are. */
export function allDone(parts: readonly PartEnd[]) {
	const done = parts.flatMap((part) => (part.kind === 'done' ? [part] : []));
	return done.length === parts.length ? done : undefined;
}

/** Where the service reports the end of a task that is made by this request; undefined where it does not. */
export function receiveUrlOf({ body }: CreationRequest): string | undefined {
	return typeof body.receive_url === 'string' ? body.receive_url : undefined;
}
