/** Runs all items of a run at once. A failure that ends the run halts all of them. */
import { inBackground } from '../n8n/log';
import { inPieces } from '../n8n/realClock';
import { timerLeftMs } from '../n8n/sleep';
import { conclude, continuesAfter, failureOf } from './conclude';
import { expectEarlier } from './earlierTries';
import type { Item, ItemResult, Part, PartResult } from './item';
import { followTask, withFiles } from './part';
import type { Run } from './run';

/** Returns the results in order, once no item has anything under way. Never rejects. */
export async function runItems(
	run: Run,
	ready: ReadonlyArray<Item | ItemResult>,
): Promise<ItemResult[]> {
	const items = ready.filter((each) => each.kind === 'item');
	const stopExpecting = await inPieces(expectEarlier(run, items));
	const allEnded = new AbortController();
	inBackground(run.context, sleepWhenPossible(run, items, allEnded.signal));
	const results = await Promise.all(
		ready.map(async (each) => (each.kind === 'item' ? await runItem(run, each) : each)),
	);
	allEnded.abort();
	stopExpecting();
	return results;
}

/** Ends the wait of the items that sleep, after their grace period. */
async function sleepWhenPossible(
	{ context, beforeSleep, sleep }: Run,
	items: readonly Item[],
	allEnded: AbortSignal,
): Promise<void> {
	const graces = items.flatMap(({ settings: { waiting } }) =>
		waiting.kind === 'suspend' ? [waiting.graceMs] : [],
	);
	if (graces.length === 0) return;
	beforeSleep.keepAwake(items.flatMap(({ parts }) => parts));
	await beforeSleep.isPossible;
	const graceMs = graces.reduce((one, other) => Math.max(one, other));
	await sleep(Math.max(graceMs, timerLeftMs(context)), allEnded);
	beforeSleep.fallAsleep();
}

async function runItem(run: Run, item: Item): Promise<ItemResult> {
	const parts = await Promise.all(item.parts.map(async (part) => await runPart(run, item, part)));
	return haltAfter(run, item, await conclude(run.delivery, item, parts));
}

/** A task that this node creates holds a slot until it has ended. */
async function runPart(run: Run, item: Item, part: Part): Promise<PartResult> {
	// A failure halts the run before its slot goes to the next creation, which would be paid for in vain.
	const follow = async () => haltAfter(run, item, await followTask(run, item, part));
	const ended = part.kind === 'creates' ? await run.slots.run(follow) : await follow();
	run.beforeSleep.release(part);
	return haltAfter(run, item, await withFiles(run, ended, { ...item, number: part.slot.part }));
}

function haltAfter<Result extends PartResult | ItemResult>(
	run: Run,
	item: Item,
	result: Result,
): Result {
	const failure = failureOf(result);
	if (failure !== undefined && !continuesAfter(item, failure)) run.halt();
	return result;
}
