/** Going to sleep: the last look at the tasks that are open, and what the execution sleeps on. */
import type { Ledger } from '../create/ledger';
import type { ServiceClient } from '../service/client';
import * as failures from '../service/failures';
import type { Verdict } from '../service/verdict';
import type { SleepingTask } from '../sleep/notes';
import { lookOnceMore, type Sleeper } from '../sleep/suspend';
import type { Ends } from './ends';
import type { Item, PartEnd } from './item';

/** An item, and how each of its parts has ended. */
interface ItemWithEnds {
	item: Item;
	parts: PartEnd[];
}

function partEndOf(task: SleepingTask, verdict: Verdict): PartEnd {
	const { watch } = task;
	switch (verdict.kind) {
		case 'done': {
			const finished = { taskId: watch.taskId, task: verdict.task, outputs: verdict.outputs };
			return { kind: 'finished', finished, watch };
		}
		case 'failed':
			return {
				kind: 'failed',
				failure: failures.failed(watch.taskId, verdict.task),
				lastTask: verdict.task,
			};
		default:
			return { kind: 'asleep', task: { ...task, lastTask: verdict.task } };
	}
}

/** A part of an item that goes to sleep; one that is already over is recorded as such, as its files may be fetched later. */
function sleepingTask(part: PartEnd): SleepingTask[] {
	if (part.kind === 'asleep') return [part.task];
	if (part.kind !== 'finished') return [];
	const { watch, finished } = part;
	return [{ watch, finished, lastTask: finished.task, receiveUrl: undefined }];
}

/** The last look before the sleep, as a callback that came earlier will not come again. */
export async function lookAtOpenParts(
	{ item, parts }: ItemWithEnds,
	{ client, ledger, signal }: { client: ServiceClient; ledger: Ledger; signal?: AbortSignal },
): Promise<ItemWithEnds> {
	const open = parts.map((part) => (part.kind === 'asleep' ? [part.task] : []));
	const verdicts = await lookOnceMore(client, open.flat(), signal);
	const ends = parts.map((part, number): PartEnd => {
		const verdict = part.kind === 'asleep' ? verdicts.shift() : undefined;
		if (part.kind !== 'asleep' || verdict === undefined) return part;
		if (verdict.kind === 'failed') ledger.forget({ item: item.index, part: number });
		return partEndOf(part.task, verdict);
	});
	return { item, parts: ends };
}

/** One for each input item, in order. */
export function sleepersOf(items: readonly Item[], ends: Ends, count: number): Sleeper[] {
	const byIndex = new Map(items.map((item) => [item.index, item]));
	return Array.from({ length: count }, (_, index): Sleeper => {
		const end = ends.get(index);
		const item = byIndex.get(index);
		if (end?.kind !== 'asleep' || item === undefined)
			return { kind: 'complete', items: ends.itemsOf(index) };
		const { waiting, files } = item.settings;
		return {
			kind: 'open',
			tasks: end.parts.flatMap(sleepingTask),
			assembly: item.assembly,
			files,
			watched: waiting.kind === 'suspend' && waiting.watched,
		};
	});
}
