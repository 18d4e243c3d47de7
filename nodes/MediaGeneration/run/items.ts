/** Runs all items at once. Whatever breaks on the way of an item is its result, with every ID that it has. */
import { takeUpEarlier } from './creating';
import { conclude, noteFailure } from './conclude';
import type { Item, ItemResult } from './item';
import { runPart } from './part';
import type { Planned } from './plan';
import type { Run } from './run';

/** Returns the results in order, once nothing of the items is under way any more. Never rejects. */
export async function runItems(run: Run, ready: Planned): Promise<ItemResult[]> {
	const items = ready.filter((each) => each.kind === 'item');
	run.bedtime.expects(items.flatMap(({ parts }) => parts));
	takeUpEarlier(run, items);
	const results = Promise.all(
		ready.map(async (each) => (each.kind === 'item' ? await runItem(run, each) : each)),
	);
	const over = new AbortController();
	void results.then(() => over.abort());
	const graces = items.flatMap(({ settings: { waiting } }) =>
		waiting.kind === 'suspend' ? [waiting.graceMs] : [],
	);
	if (graces.length > 0) {
		await run.bedtime.comes;
		await run.sleep(
			graces.reduce((one, other) => Math.max(one, other)),
			over.signal,
		);
	}
	run.fallAsleep();
	return await results;
}

async function runItem(run: Run, item: Item): Promise<ItemResult> {
	const parts = await Promise.all(item.parts.map(async (part) => await runPart(run, item, part)));
	const result = await conclude(run, item, parts);
	if (result.kind === 'failed') noteFailure(run, item, result.failure);
	return result;
}
