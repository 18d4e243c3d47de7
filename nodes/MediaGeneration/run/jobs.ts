/**
 * All items of one run: their tasks are created concurrently up to a limit, waited for in one loop, and delivered as they
 * finish, because addresses of files are temporary.
 */
import type { Ledger, Slot } from '../create/ledger';
import { createTask, type Created, type SubmitDeps } from '../create/submit';
import type { Delivered } from '../delivery/item';
import { waitingRules } from '../operations/waiting';
import { Limiter } from '../service/limiter';
import type { Look } from '../service/look';
import { addressesIn, type Done } from '../service/verdict';
import { PollLoop, type Watch } from '../wait/poll';
import {
	goesOnAfter,
	receiveUrlOf,
	type Item,
	type ItemEnd,
	type Part,
	type PartEnd,
} from './item';
import type { Spending } from './spending';

export interface RunDeps extends SubmitDeps {
	look(watch: Watch, timeoutMs: number, signal: AbortSignal): Promise<Look>;
	ledger: Ledger;
	spending: Spending;
	/** Called for every task as soon as its ID is known. */
	noteTask(taskId: string, item: Item, part: Part): void;
	/** Told of a task that a refusal of its creation has named: it may exist. */
	noteNamed(taskId: string, item: Item): void;
	/** Fetches the files of a finished part, as their addresses are temporary. Never rejects. */
	deliver(item: Item, part: Part, done: Done): Promise<Delivered>;
	/** What becomes of an item whose parts have ended. Never rejects. */
	conclude(item: Item, parts: PartEnd[]): Promise<ItemEnd>;
}

export interface RunOptions {
	maxActiveTasks: number;
	/** Whether the first failure ends the run: nothing more is created, nothing more is waited for. */
	haltOnFailure: boolean;
}

/** A task that exists, and what is needed to follow it. */
interface Task {
	taskId: string;
	createdAt: number;
	/** Whether it was made before this run, so that it may be over already. */
	old: boolean;
	/** Where the service reports its end; undefined where it does not. */
	receiveUrl: string | undefined;
}

type Submitted =
	{ kind: 'task'; task: Task; created?: Created } | Extract<PartEnd, { kind: 'failed' | 'halted' }>;

const HALTED: { kind: 'halted' } = { kind: 'halted' };

/** One run of the node: all its items, from request to output item. */
class Run {
	/** Aborts when the run is going to fail anyway. */
	private readonly halt = new AbortController();
	private readonly signal: AbortSignal;
	private readonly loop: PollLoop;
	/** A slot is taken before a task is created and given back when it is over. */
	private readonly slots: Limiter;

	constructor(
		private readonly items: readonly Item[],
		private readonly deps: RunDeps,
		private readonly options: RunOptions,
	) {
		const { signal: stop } = deps;
		this.signal = stop === undefined ? this.halt.signal : AbortSignal.any([stop, this.halt.signal]);
		this.slots = new Limiter(options.maxActiveTasks);
		this.loop = new PollLoop({
			now: deps.now,
			sleep: deps.sleep,
			random: deps.random,
			signal: this.signal,
			look: async (watch, timeoutMs) => await deps.look(watch, timeoutMs, this.signal),
			pausedUntil: () => deps.client.account.pausedUntil('look'),
			slotWanted: () => this.slots.wanted || deps.client.account.queue.full,
		});
	}

	async execute(): Promise<ItemEnd[]> {
		const submissions: Array<Promise<unknown>> = [];
		const ends = this.items.map(async (item) => {
			const parts = item.parts.map((part) => {
				const submitted = this.submit(item, part);
				submissions.push(submitted);
				return submitted.then(async ({ result, giveBack }) => {
					const end = await this.follow(item, part, result);
					giveBack();
					return await this.deliver(item, part, end);
				});
			});
			return await this.conclude(item, await Promise.all(parts));
		});
		await this.letSleepersGo(submissions, ends);
		const results = await Promise.all(ends);
		this.loop.close();
		return results;
	}

	/** Some time after the last creation, lets go of what may sleep; items that poll are waited for first. */
	private async letSleepersGo(
		submissions: ReadonlyArray<Promise<unknown>>,
		ends: ReadonlyArray<Promise<unknown>>,
	): Promise<void> {
		const graces = this.items.map(({ settings: { waiting } }) =>
			waiting.kind === 'suspend' ? waiting.graceMs : undefined,
		);
		if (graces.every((graceMs) => graceMs === undefined)) return;
		await Promise.all([...submissions, ...ends.filter((_, index) => graces[index] === undefined)]);
		const allOver = new AbortController();
		void Promise.all(ends).then(() => allOver.abort());
		await this.deps.sleep(
			graces.reduce<number>((most, graceMs) => Math.max(most, graceMs ?? 0), 0),
			allOver.signal,
		);
		this.loop.release();
	}

	/** Creates the part's task where there is none yet. The slot is held until the task is over. */
	private async submit(
		item: Item,
		part: Part,
	): Promise<{ result: Submitted; giveBack: () => void }> {
		if (part.kind === 'awaits') {
			const { taskId } = part;
			this.deps.noteTask(taskId, item, part);
			const task = { taskId, createdAt: this.deps.now(), old: true, receiveUrl: undefined };
			return { result: { kind: 'task', task }, giveBack: () => undefined };
		}
		const giveBack = await this.slots.take();
		const result = this.halt.signal.aborted ? HALTED : await this.create(item, part);
		if (result.kind === 'task') this.deps.noteTask(result.task.taskId, item, part);
		else this.haltAfter(result);
		return { result, giveBack };
	}

	private async create(
		item: Item,
		{ number, request }: Extract<Part, { kind: 'creates' }>,
	): Promise<Submitted> {
		const { ledger, spending, now } = this.deps;
		const { index, settings } = item;
		const slot: Slot = { item: index, part: number };
		const earlier = ledger.earlier(slot, request);
		if (earlier.kind === 'unknown') return { kind: 'failed', failure: earlier.failure };
		if (earlier.kind === 'created') {
			const { created, receiveUrl } = earlier;
			return { kind: 'task', created, task: { ...created, old: true, receiveUrl } };
		}
		const turn = await spending.turn({ kind: request.kind, route: settings.pollRoute });
		if (turn.kind === 'refused') return { kind: 'failed', failure: turn.failure };
		const submitted = await createTask(
			{ ...this.deps, signal: this.signal, stop: this.deps.signal },
			request,
			now() + settings.timeoutMs,
		);
		turn.end(submitted);
		if (submitted.kind !== 'created') {
			const { failure } = submitted;
			if (failure.taskId !== undefined) this.deps.noteNamed(failure.taskId, item);
			if (submitted.kind === 'unclear') ledger.noteUnknown(slot, request, failure);
			return this.unlessHalted({ kind: 'failed', failure });
		}
		const { created } = submitted;
		ledger.noteCreated(slot, request, created);
		return {
			kind: 'task',
			created,
			task: { ...created, old: false, receiveUrl: receiveUrlOf(request) },
		};
	}

	/** From a task to its end. */
	private async follow(item: Item, part: Part, submitted: Submitted): Promise<PartEnd> {
		if (submitted.kind !== 'task') return submitted;
		const { task, created } = submitted;
		const { waiting, timeoutMs, pollRoute: route } = item.settings;
		const { follows, sleeps } = waitingRules[waiting.kind];
		if (!follows && created !== undefined) return { kind: 'created', created };
		const { taskId, createdAt, old } = task;
		const request = part.kind === 'creates' ? part.request : undefined;
		const watch: Watch = {
			taskId,
			kind: request?.kind ?? 'task',
			route,
			createdAt,
			// A try that takes a task up waits for it once more.
			deadline: (old ? this.deps.now() : createdAt) + timeoutMs,
			echoes: addressesIn([request?.body, request?.qs]),
			lookAtOnce: old,
			releasable: sleeps,
		};
		const waited = await this.loop.wait(watch);
		this.deps.spending.seen(taskId, waited.task);
		switch (waited.kind) {
			case 'done':
				// A task that is over frees its slot at the service for another one, of this run or of any other in this process.
				this.deps.client.account.queue.ended();
				return { kind: 'done', done: waited, watch };
			case 'released':
				return {
					kind: 'asleep',
					task: { kind: 'open', watch, task: waited.task, receiveUrl: task.receiveUrl },
				};
			case 'failed': {
				const { failure } = waited;
				if (failure.outcome === 'failed') {
					this.deps.client.account.queue.ended();
					this.deps.ledger.forget({ item: item.index, part: part.number });
				}
				const end = this.unlessHalted(waited);
				if (!goesOnAfter(item, failure)) this.haltAfter(end);
				return end;
			}
		}
	}

	private async deliver(item: Item, part: Part, end: PartEnd): Promise<PartEnd> {
		if (end.kind !== 'done') return end;
		const delivered = await this.deps.deliver(item, part, end.done);
		// No further parts need to be created for an item that fails anyway.
		if (delivered.failure !== undefined) this.haltAfter({ kind: 'failed' });
		return { ...end, delivered };
	}

	/** What was cancelled because another item failed is not a failure of its own. */
	private unlessHalted(
		end: Extract<PartEnd, { kind: 'failed' }>,
	): Extract<PartEnd, { kind: 'failed' | 'halted' }> {
		return end.failure.outcome === 'cancelled' && this.deps.signal?.aborted !== true
			? { kind: 'halted' }
			: end;
	}

	/** Called before the slot goes to the next creation, which would be paid for in vain. */
	private haltAfter({ kind }: { kind: string }): void {
		if (kind === 'failed' && this.options.haltOnFailure) this.halt.abort();
	}

	private async conclude(item: Item, parts: PartEnd[]): Promise<ItemEnd> {
		const end = await this.deps.conclude(item, parts);
		this.haltAfter(end);
		return end;
	}
}

/** Runs all items and returns their ends in order. Never rejects. */
export async function runItems(
	items: readonly Item[],
	deps: RunDeps,
	options: RunOptions,
): Promise<ItemEnd[]> {
	return await new Run(items, deps, options).execute();
}
