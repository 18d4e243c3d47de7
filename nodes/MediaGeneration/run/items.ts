/**
 * All items of a run at once: their tasks are created up to a limit, waited for in one loop, and delivered as they finish, because
 * addresses of files are temporary. Whatever breaks on the way of an item is that item's end, with every ID that it has.
 */
import { deliverPart } from '../delivery/assembly';
import { waitingRules } from '../operations/waiting';
import { broken, type Reached } from '../service/failures';
import { Limiter } from '../service/limiter';
import { lookAtTask } from '../service/look';
import { addressesIn, type Done, type Failed } from '../service/verdict';
import { PollLoop, type Watch } from '../wait/poll';
import { conclude } from './conclude';
import { createPart, takeUp, type CreationMeans, type KnownTask } from './createPart';
import {
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

	/** Called before the slot goes to the next creation, which would be paid for in vain. */
	failed(): void {
		if (this.options.haltOnFailure) this.halt.abort();
	}

	/** What was cancelled because another item failed is not a failure of its own. */
	endOf(failed: Failed): PartEnd {
		const { outcome, taskId } = failed.failure;
		return outcome === 'cancelled' && this.means.stop?.aborted !== true
			? { kind: 'halted', taskId }
			: failed;
	}
}

class PartRun {
	private reached: Reached;
	private giveBack = (): void => undefined;
	/** Resolves when its task exists, or will not. Never rejects. */
	readonly submitted: Promise<unknown>;
	readonly end: Promise<PartEnd>;

	constructor(
		private readonly run: Run,
		private readonly item: Item,
		private readonly part: Part,
	) {
		this.reached = reachedBefore(part);
		const submitted = this.submit();
		this.submitted = submitted.catch(() => undefined);
		this.end = submitted
			.then(async (task) => await this.follow(task))
			.catch((error: unknown) => this.brokeOff(error))
			.finally(() => this.giveBack());
	}

	/** Creates the part's task where there is none yet. The slot is held until the task is over. */
	private async submit(): Promise<KnownTask | PartEnd> {
		const { run, item, part } = this;
		if (part.kind === 'awaits') {
			const { taskId } = part;
			const createdAt = run.means.now();
			const known = { createdAt, old: true, receiveUrl: undefined, created: undefined };
			return { kind: 'task', taskId, ...known };
		}
		this.giveBack = await run.slots.take();
		const { reached } = this;
		if (run.isHalted)
			return { kind: 'halted', taskId: reached.kind === 'exists' ? reached.taskId : undefined };
		const known = await takeUp(run.means, part, item.settings);
		if (known === undefined) this.reached = { kind: 'sent' };
		const created = known ?? (await createPart(run.means, part, item.settings));
		if (created.kind === 'task') {
			this.reached = { kind: 'exists', taskId: created.taskId };
			return created;
		}
		const end = run.endOf(created);
		if (end.kind === 'failed') run.failed();
		return end;
	}

	private async follow(task: KnownTask | PartEnd): Promise<PartEnd> {
		if (task.kind !== 'task') return task;
		const { run, item, part } = this;
		const { client, ledger, spending } = run.means;
		const { created, receiveUrl, taskId } = task;
		const { follows, sleeps } = waitingRules[item.settings.waiting.kind];
		if (!follows && created !== undefined) return { kind: 'created', created };
		const watch = this.watchOf(task);
		if (sleeps) run.sleepers.push(watch);
		const waited = await run.loop.wait(watch);
		spending.seen(taskId, waited.task);
		switch (waited.kind) {
			case 'done':
				this.reached = { kind: 'done', taskId };
				// A task that is over frees its slot at the service for another one, of this run or of any other in this process.
				client.account.queue.ended();
				this.giveBack();
				return await this.deliver(waited, watch);
			case 'released':
				return { kind: 'asleep', task: { kind: 'open', watch, task: waited.task, receiveUrl } };
			case 'failed': {
				if (waited.failure.outcome === 'failed') {
					client.account.queue.ended();
					ledger.forget(part.slot);
				}
				const end = run.endOf(waited);
				if (end.kind === 'failed' && !goesOnAfter(item, end.failure)) run.failed();
				return end;
			}
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
		const { run, item, part } = this;
		const delivered = await deliverPart(run.means.delivery, done, {
			...inputOf(item),
			number: part.slot.part,
		});
		// No further parts need to be created for an item that fails anyway.
		if (delivered.failure !== undefined) run.failed();
		return { kind: 'done', done, watch, delivered };
	}

	/** The net: whatever was thrown becomes the part's end. What the ledger says of a creation that was sent holds the next try back. */
	private brokeOff(error: unknown): PartEnd {
		this.run.failed();
		return { kind: 'failed', failure: broken(error, this.reached), task: undefined };
	}
}

function reachedBefore(part: Part): Reached {
	if (part.kind === 'awaits') return { kind: 'exists', taskId: part.taskId };
	const { earlier } = part;
	if (earlier.kind === 'created') return { kind: 'exists', taskId: earlier.created.taskId };
	return { kind: earlier.kind === 'unknown' ? 'sent' : 'nothing' };
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
	return results;
}
