/** The end of a run whose items are to be waited for asleep. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { Waking } from '../sleep/checks';
import type { SleepingTask } from '../sleep/notes';
import { lookOnceMore, suspend, type Sleeper } from '../sleep/suspend';
import { brokenEnd, conclude } from './conclude';
import type { ItemEnd, Means, PartEnd } from './item';
import { itemsOf, type Report } from './output';

type Asleep = Extract<ItemEnd, { kind: 'asleep' }>;

function openTask(part: PartEnd) {
	return part.kind === 'asleep' && part.task.kind === 'open' ? part.task : undefined;
}

/** The last look at the tasks that are open, as a callback that came earlier will not come again. */
export async function lookBeforeSleep(means: Means, ends: readonly ItemEnd[]): Promise<ItemEnd[]> {
	const looked = await Promise.all(
		ends.map(async (end) => (end.kind === 'asleep' ? await lookAt(means, end) : end)),
	);
	// Downloads would lengthen the gap between the look and the sleep, so they come first only if nothing is left to wait for.
	const areOver = looked.every((end) => end.kind !== 'asleep' || !end.parts.some(openTask));
	return await Promise.all(
		looked.map(async (end) =>
			end.kind === 'asleep' && (areOver || end.parts.some(({ kind }) => kind === 'failed'))
				? await conclude(means, end.item, end.parts)
				: end,
		),
	);
}

async function lookAt({ client, ledger, stop }: Means, end: Asleep): Promise<Asleep> {
	const watches = end.parts.flatMap((part) => openTask(part)?.watch ?? []);
	const verdicts = (await lookOnceMore(client, watches, stop)).values();
	const parts = end.parts.map((part, number): PartEnd => {
		const task = openTask(part);
		if (task === undefined) return part;
		const verdict = verdicts.next().value;
		switch (verdict?.kind) {
			case 'done':
				return { kind: 'asleep', task: { kind: 'over', watch: task.watch, done: verdict } };
			case 'failed':
				ledger.forget({ item: end.index, part: number });
				return verdict;
			case 'running':
				return { kind: 'asleep', task: { ...task, task: verdict.task } };
			case undefined:
				return part;
		}
	});
	return { ...end, parts };
}

export async function goToSleep(
	{ context, client, spending }: Means,
	report: Report,
	{ ends, waking }: { ends: readonly ItemEnd[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	report.throwFirstFailure(ends);
	report.showCosts(spending);
	report.logUnclear('the execution went to sleep', ends);
	const sleepers = context.getInputData().map((_, index): Sleeper => {
		const own = ends.filter((end) => end.index === index);
		const asleep = own.find((end) => end.kind === 'asleep');
		if (asleep === undefined)
			return { kind: 'complete', items: own.flatMap((end) => itemsOf(context, end)) };
		const { assembly, settings } = asleep.item;
		const { waiting, files } = settings;
		const tasks = asleep.parts.flatMap((part): SleepingTask[] => {
			if (part.kind === 'asleep') return [part.task];
			return part.kind === 'done' ? [{ kind: 'over', watch: part.watch, done: part.done }] : [];
		});
		const watched = waiting.kind === 'suspend' && waiting.watched;
		return { kind: 'open', tasks, assembly, files, watched };
	});
	try {
		return await suspend(context, client, { sleepers, waking });
	} catch (error) {
		return report.output(
			ends.map((end) => (end.kind === 'asleep' ? brokenEnd(error, end.item, end.parts) : end)),
		);
	}
}
