/** Going to sleep: the last look at the tasks that are open, and what the execution sleeps on. */
import type { Ledger } from '../create/ledger';
import type { ServiceClient } from '../service/client';
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

function partEndOf({ task }: Extract<PartEnd, { kind: 'asleep' }>, verdict: Verdict): PartEnd {
	const { watch } = task;
	switch (verdict.kind) {
		case 'done':
			return { kind: 'done', done: verdict, watch };
		case 'failed':
			return verdict;
		case 'running':
			return { kind: 'asleep', task: { ...task, task: verdict.task } };
	}
}

/** A part of an item that goes to sleep; one that is already over is recorded as such, as its files may be fetched later. */
function sleepingTask(part: PartEnd): SleepingTask[] {
	if (part.kind === 'asleep') return [part.task];
	return part.kind === 'done' ? [{ kind: 'over', watch: part.watch, done: part.done }] : [];
}

/** The last look before the sleep, as a callback that came earlier will not come again. */
export async function lookAtOpenParts(
	{ item, parts }: ItemWithEnds,
	{ client, ledger, signal }: { client: ServiceClient; ledger: Ledger; signal?: AbortSignal },
): Promise<ItemWithEnds> {
	const open = parts.map((part) => (part.kind === 'asleep' ? [part.task.watch] : []));
	const verdicts = await lookOnceMore(client, open.flat(), signal);
	const ends = parts.map((part, number): PartEnd => {
		const verdict = part.kind === 'asleep' ? verdicts.shift() : undefined;
		if (part.kind !== 'asleep' || verdict === undefined) return part;
		if (verdict.kind === 'failed') ledger.forget({ item: item.index, part: number });
		return partEndOf(part, verdict);
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
