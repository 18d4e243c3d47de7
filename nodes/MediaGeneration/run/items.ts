/**
 * All items of a run at once: their tasks are created up to a limit, waited for in one loop, and delivered as they finish, because
 * addresses of files are temporary. Whatever breaks on the way of an item is that item's end, with every ID that it has.
 */
import type { Slot } from '../create/ledger';
import { deliverPart } from '../delivery/assembly';
import { waitingRules } from '../operations/waiting';
import { broken } from '../service/failures';
import { Limiter } from '../service/limiter';
import { lookAtTask } from '../service/look';
import { addressesIn, type Done, type Failed } from '../service/verdict';
import type { OpenTask } from '../sleep/notes';
import { verdictNow } from '../sleep/watch';
import { PollLoop, type Watch } from '../wait/poll';
import { taskOf, type CreationMeans, type KnownTask } from './createPart';
import {
	conclude,
	goesOnAfter,
	inputOf,
	type Item,
	type ItemEnd,
	type Means,
	type Part,
	type PartEnd,
} from './item';

export interface RunOptions {
	maxActiveTasks: number;
	/** Whether the first failure ends the run: nothing more is created, nothing more is waited for. */
	haltOnFailure: boolean;
}

class Run {
	readonly means: CreationMeans;
	readonly loop: PollLoop;
	/** A slot is taken before a task is created and given back when it is over. */
	readonly slots: Limiter;
	/** What may be let go of unfinished. */
	readonly sleepers: Watch[] = [];
	private readonly halt = new AbortController();

	constructor(
		means: Means,
		private readonly options: RunOptions,
	) {
		const { client, stop, now, sleep, random } = means;
		const over = stop === undefined ? this.halt.signal : AbortSignal.any([stop, this.halt.signal]);
		this.means = { ...means, over };
		this.slots = new Limiter(options.maxActiveTasks);
		this.loop = new PollLoop({
			...{ now, sleep, random, signal: over },
			look: async (watch, timeoutMs) =>
				await lookAtTask(client, { ...watch, timeoutMs, signal: over }, now),
			pausedUntil: () => client.account.pausedUntil('look'),
			slotWanted: () => this.slots.wanted || client.account.queue.full,
		});
	}

	get isHalted(): boolean {
		return this.halt.signal.aborted;
	}

	failed(): void {
		if (this.options.haltOnFailure) this.halt.abort();
	}
}

class PartRun {
	private taskId: string | undefined;
	private giveBack = (): void => undefined;
	/** Resolves when its task exists, or will not. Never rejects. */
	readonly submitted: Promise<unknown>;
	readonly end: Promise<PartEnd>;

	constructor(
		private readonly run: Run,
		private readonly item: Item,
		private readonly part: Part,
	) {
		const submitted = this.submit();
		this.submitted = submitted.catch(() => undefined);
		this.end = submitted
			.then(async (task) => (task.kind === 'task' ? await this.follow(task) : task))
			.catch((error: unknown) => this.brokeOff(error))
			.then((end) => this.judge(end))
			.finally(() => this.giveBack());
	}

	/** Creates the part's task where there is none yet. The slot is held until the task is over. */
	private async submit(): Promise<KnownTask | PartEnd> {
		const { run, item, part } = this;
		if (part.kind === 'awaits') {
			this.taskId = part.taskId;
			const createdAt = run.means.now();
			return { kind: 'task', taskId: part.taskId, createdAt, old: true, created: undefined };
		}
		if (part.earlier.kind === 'created') this.taskId = part.earlier.created.taskId;
		this.giveBack = await run.slots.take();
		if (run.isHalted) return { kind: 'halted', taskId: this.taskId };
		const task = await taskOf(run.means, part, item.settings);
		if (task.kind === 'task') this.taskId = task.taskId;
		return task;
	}

	private async follow(task: KnownTask): Promise<PartEnd> {
		const { run, item, part } = this;
		const { client, ledger, spending } = run.means;
		const { created, taskId } = task;
		const { follows, sleeps } = waitingRules[item.settings.waiting.kind];
		if (!follows && created !== undefined) return { kind: 'created', created };
		const watch = this.watchOf(task);
		if (sleeps) run.sleepers.push(watch);
		const waited = await run.loop.wait(watch);
		spending.seen(taskId, waited.task);
		switch (waited.kind) {
			case 'done':
				// A task that is over frees its slot at the service for another one, of this run or of any other in this process.
				client.account.queue.ended();
				this.giveBack();
				return await this.deliver(waited, watch);
			case 'released':
				return { kind: 'open', watch, task: waited.task, receiveUrl: created?.receiveUrl };
			case 'failed':
				if (waited.failure.outcome === 'failed') {
					client.account.queue.ended();
					ledger.forget(part.slot);
				}
				return waited;
		}
	}

	private watchOf({ taskId, createdAt, old }: KnownTask): Watch {
		const { run, part } = this;
		const { timeoutMs, pollRoute: route } = this.item.settings;
		const request = part.kind === 'creates' ? part.request : undefined;
		return {
			taskId,
			kind: request?.kind ?? 'task',
			route,
			createdAt,
			// A try that takes a task up waits for it once more.
			deadline: (old ? run.means.now() : createdAt) + timeoutMs,
			echoes: addressesIn([request?.body, request?.qs]),
			pace: old ? 'atOnce' : 'poll',
		};
	}

	private async deliver(done: Done, watch: Watch): Promise<PartEnd> {
		const input = { ...inputOf(this.item), number: this.part.slot.part };
		const delivered = await deliverPart(this.run.means.delivery, done, input);
		return { kind: 'done', done, watch, delivered };
	}

	/** Whatever was thrown becomes the part's end. What the ledger says of a creation that was sent holds the next try back. */
	private brokeOff(error: unknown): Failed {
		const { taskId } = this;
		const failure = broken(
			error,
			taskId === undefined ? { kind: 'sent' } : { kind: 'exists', taskId },
		);
		return { kind: 'failed', failure, task: undefined };
	}

	/** Halts the run where it fails, before the slot goes to the next creation, which would be paid for in vain. */
	private judge(end: PartEnd): PartEnd {
		const { run, item } = this;
		const failure = end.kind === 'done' ? end.delivered?.failure : undefined;
		if (failure !== undefined) run.failed();
		if (end.kind !== 'failed') return end;
		const { outcome, taskId } = end.failure;
		// What was cancelled because another item failed is not a failure of its own.
		if (outcome === 'cancelled' && run.means.stop?.aborted !== true)
			return { kind: 'halted', taskId };
		if (!goesOnAfter(item, end.failure)) run.failed();
		return end;
	}
}

/** Some time after the last creation, lets go of what may sleep; items that poll are waited for first. */
async function letSleepersGo(
	run: Run,
	items: readonly Item[],
	{ submitted, ends }: { submitted: Array<Promise<unknown>>; ends: Array<Promise<unknown>> },
): Promise<void> {
	const graces = items.map(({ settings: { waiting } }) =>
		waiting.kind === 'suspend' ? waiting.graceMs : undefined,
	);
	if (graces.every((graceMs) => graceMs === undefined)) return;
	await Promise.all([...submitted, ...ends.filter((_, index) => graces[index] === undefined)]);
	const allOver = new AbortController();
	void Promise.all(ends).then(() => allOver.abort());
	const longest = graces.reduce<number>((most, graceMs) => Math.max(most, graceMs ?? 0), 0);
	await run.means.sleep(longest, allOver.signal);
	for (const watch of run.sleepers) run.loop.release(watch);
}

/** Runs all items and returns their ends in order, once nothing of them is under way any more. Never rejects. */
export async function runItems(
	items: readonly Item[],
	means: Means,
	options: RunOptions,
): Promise<ItemEnd[]> {
	const run = new Run(means, options);
	const started = items.map((item) => ({
		item,
		parts: item.parts.map((part) => new PartRun(run, item, part)),
	}));
	const ends = started.map(async ({ item, parts }) => {
		const end = await conclude(means, item, await Promise.all(parts.map((part) => part.end)));
		if (end.kind === 'failed') run.failed();
		return end;
	});
	const submitted = started.flatMap(({ parts }) => parts.map((part) => part.submitted));
	await letSleepersGo(run, items, { submitted, ends });
	const results = await Promise.all(ends);
	run.loop.close();
	return await lookBeforeSleep(means, results);
}

const CONCURRENT_LAST_LOOKS = 10;

/** The last look at the tasks that are open, as a callback that came earlier will not come again. */
async function lookBeforeSleep(means: Means, ends: readonly ItemEnd[]): Promise<ItemEnd[]> {
	const limiter = new Limiter(CONCURRENT_LAST_LOOKS);
	const looked = await Promise.all(
		ends.map(async (end) => {
			if (end.kind !== 'asleep') return end;
			const parts = end.parts.map(async (part, number) => {
				const slot = { item: end.index, part: number };
				return part.kind === 'open'
					? await limiter.run(async () => await lookAgain(means, slot, part))
					: part;
			});
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
				? await conclude(means, end.item, end.parts)
				: end,
		),
	);
}

async function lookAgain(
	{ client, ledger, stop }: Means,
	slot: Slot,
	part: OpenTask,
): Promise<PartEnd> {
	const { watch } = part;
	const verdict = await verdictNow(client, watch, stop);
	switch (verdict?.kind) {
		case 'done':
			return { kind: 'done', done: verdict, watch, delivered: undefined };
		case 'failed':
			ledger.forget(slot);
			return verdict;
		case 'running':
			return { ...part, task: verdict.task };
		case undefined:
			return part;
	}
}
