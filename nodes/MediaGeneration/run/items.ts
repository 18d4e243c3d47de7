/** Runs all items at once. Whatever breaks on the way of an item is its result, with every ID that it has. */
import { Limiter } from '../base/limiter';
import type { OpenTask } from '../suspend/notes';
import { askUntilClear } from '../transport/until';
import { verdictOf } from '../transport/verdict';
import { takeUpEarlier } from './creating';
import { conclude, noteFailure } from './conclude';
import type { Item, ItemResult, PartResult } from './item';
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
	return await pollBeforeSleep(run, await results);
}

async function runItem(run: Run, item: Item): Promise<ItemResult> {
	const parts = await Promise.all(item.parts.map(async (part) => await runPart(run, item, part)));
	const result = await conclude(run, item, parts);
	if (result.kind === 'failed') noteFailure(run, item, result.failure);
	return result;
}

const CONCURRENT_LAST_POLLS = 10;
const LAST_POLL_TIMEOUT_MS = 5_000;
/** An unclear answer is asked for once more. */
const LAST_POLLS = { polls: 2, longestPauseMs: 3_000 };

/** Polls the tasks that are open once more, as a callback that came earlier will not come again. */
async function pollBeforeSleep(run: Run, results: readonly ItemResult[]): Promise<ItemResult[]> {
	const limiter = new Limiter(CONCURRENT_LAST_POLLS);
	const polled = await Promise.all(
		results.map(async (result) => {
			if (result.kind !== 'asleep') return result;
			const parts = result.parts.map(async (part) =>
				part.kind === 'open' ? await limiter.run(async () => await pollAgain(run, part)) : part,
			);
			return { ...result, parts: await Promise.all(parts) };
		}),
	);
	const has = (result: ItemResult, kind: PartResult['kind']) =>
		result.kind === 'asleep' && result.parts.some((part) => part.kind === kind);
	// Downloads would lengthen the gap between the poll and the sleep, so they come first only if nothing is left to wait for.
	const areOver = !polled.some((result) => has(result, 'open'));
	return await Promise.all(
		polled.map(async (result) =>
			result.kind === 'asleep' && (areOver || has(result, 'failed'))
				? await conclude(run, result.item, result.parts)
				: result,
		),
	);
}

async function pollAgain(
	{ client, stop: signal, now, sleep }: Run,
	part: OpenTask,
): Promise<PartResult> {
	const { watch } = part;
	const { taskId } = watch;
	const at = { ...watch, timeoutMs: LAST_POLL_TIMEOUT_MS, signal };
	const longestPauseMs = Math.min(LAST_POLLS.longestPauseMs, watch.deadline - now());
	const poll = await askUntilClear(client, at, { ...LAST_POLLS, longestPauseMs, now, sleep });
	if (poll.kind !== 'task') return part;
	const verdict = verdictOf(taskId, poll.task, watch.echoes);
	if (verdict.kind === 'running') return { ...part, task: verdict.task };
	client.account.taskEnded(taskId);
	return verdict.kind === 'done' ? { ...verdict, watch, delivered: undefined } : verdict;
}
