/** Runs all items at once. Whatever breaks on the way of an item is that item's end, with every ID that it has. */
import { Limiter } from '../base/limiter';
import type { OpenTask } from '../suspend/notes';
import { verdictNow } from '../transport/verdict';
import { conclude, type Item, type ItemEnd, type RunDeps, type PartEnd } from './item';
import { beginPart, followPart, Run, type Begun, type RunOptions } from './part';

/** Returns their ends in order, once nothing of them is under way any more; what has ended before stays as it is. Never rejects. */
export async function runItems(
	ready: ReadonlyArray<Item | ItemEnd>,
	deps: RunDeps,
	options: RunOptions,
): Promise<ItemEnd[]> {
	const run = new Run(deps, options);
	const started = ready.map((item) => {
		if (item.kind !== 'item') {
			const end = Promise.resolve<ItemEnd>(item);
			return { begun: undefined, end, waiting: { kind: 'no' } as const };
		}
		const begun = item.parts.map(async (part) => await beginPart(run, item, part));
		return { begun: Promise.all(begun), end: endItem(run, item, begun), ...item.settings };
	});
	const ends = Promise.all(started.map(({ end }) => end));
	const graces = started.flatMap(({ waiting }) =>
		waiting.kind === 'suspend' ? [waiting.graceMs] : [],
	);
	if (graces.length > 0) {
		// The grace begins after the last creation; items that poll are waited for first.
		await Promise.all(
			started.map(
				async ({ begun, end, waiting }) => await (waiting.kind === 'suspend' ? begun : end),
			),
		);
		const allOver = new AbortController();
		void ends.then(() => allOver.abort());
		const longest = graces.reduce((most, graceMs) => Math.max(most, graceMs));
		await deps.sleep(longest, allOver.signal);
	}
	run.falling.abort();
	return await lookBeforeSleep(deps, await ends);
}

async function endItem(run: Run, item: Item, parts: Array<Promise<Begun>>): Promise<ItemEnd> {
	const ends = parts.map(async (begun) => await followPart(run, item, await begun));
	const end = await conclude(run.deps, item, await Promise.all(ends));
	if (end.kind === 'failed') run.failed(item, end.failure);
	return end;
}

const CONCURRENT_LAST_LOOKS = 10;

/** Looks once more at the tasks that are open, as a callback that came earlier will not come again. */
async function lookBeforeSleep(deps: RunDeps, ends: readonly ItemEnd[]): Promise<ItemEnd[]> {
	const limiter = new Limiter(CONCURRENT_LAST_LOOKS);
	const looked = await Promise.all(
		ends.map(async (end) => {
			if (end.kind !== 'asleep') return end;
			const parts = end.parts.map(async (part) =>
				part.kind === 'open' ? await limiter.run(async () => await lookAgain(deps, part)) : part,
			);
			return { ...end, parts: await Promise.all(parts) };
		}),
	);
	const has = (end: ItemEnd, kind: PartEnd['kind']) =>
		end.kind === 'asleep' && end.parts.some((part) => part.kind === kind);
	// Downloads would lengthen the gap between the look and the sleep, so they come first only if nothing is left to wait for.
	const areOver = !looked.some((end) => has(end, 'open'));
	return await Promise.all(
		looked.map(async (end) =>
			end.kind === 'asleep' && (areOver || has(end, 'failed'))
				? await conclude(deps, end.item, end.parts)
				: end,
		),
	);
}

async function lookAgain({ client, stop }: RunDeps, part: OpenTask): Promise<PartEnd> {
	const { watch } = part;
	const verdict = await verdictNow(client, { ...watch, signal: stop });
	if (verdict?.kind === 'done') return { ...verdict, watch, delivered: undefined };
	return verdict?.kind === 'failed' ? verdict : { ...part, task: verdict?.task ?? part.task };
}
