/**
 * The watch of this n8n process over its sleeping executions: one shared loop of looks for each account. It sees that all
 * tasks of an execution are over, wakes it by its resume URL, and makes sure that it woke. So neither a lost callback, nor one
 * that came while n8n was still saving the execution (n8n answers 409 then), leaves it asleep until its deadline.
 * No execution's data is kept: of each sleep its tasks and its address, of each account one context to send requests with.
 * The watch ends with the process; callbacks and the deadline remain.
 */
import type { N8nContext, ServiceClient } from '../service/client';
import { realClock, type Clock } from '../service/clock';
import { lookAtTask, type Look } from '../service/look';
import type { Ended } from '../service/verdict';
import { PollLoop, type Waited, type Watch } from '../wait/poll';
import { callUntilAwake } from './call';

/** A task that is over by the service's own word, or that permanently can't be read. */
export interface Over {
	ended: Ended;
	/** Epoch ms. */
	seenAt: number;
}

/** For a call that is under way. */
const CONFIRMING_MS = 3_000;
/** Beyond its deadline n8n wakes an execution by itself. */
const AFTER_DEADLINE_MS = 120_000;
/** How long an execution counts as woken. Should n8n fail to resume it, a later call counts again. */
const WOKEN_MS = 60_000;

/** One sleeping execution, as far as this process knows it. */
export class Sleep {
	/** By task ID. What was seen as over stays known. */
	readonly over = new Map<string, Over>();
	private readonly watches = new Map<string, Watch>();
	private readonly listeners = new Set<() => void>();
	private readonly awake = new AbortController();
	private state:
		| { kind: 'asleep'; coverage: 'some' | 'all' }
		/** `at`: epoch ms. */
		| { kind: 'woken'; at: number } = { kind: 'asleep', coverage: 'some' };
	/** The latest of the watched tasks, in epoch ms: then n8n wakes it in any case. */
	private deadline = 0;

	constructor(private readonly watcher: Watcher) {}

	/** Whether the execution has just been woken. */
	get ended(): boolean {
		return this.state.kind === 'woken' && this.watcher.clock.now() - this.state.at < WOKEN_MS;
	}

	/** Whether it is no longer needed: it was woken a while ago, or its deadline has passed. */
	get isHistory(): boolean {
		if (this.state.kind === 'woken') return !this.ended;
		return this.deadline > 0 && this.watcher.clock.now() >= this.deadline + AFTER_DEADLINE_MS;
	}

	/** Whether this process watches all of its tasks, so that the others need no look when one is over. */
	get watchesAll(): boolean {
		return this.state.kind === 'asleep' && this.state.coverage === 'all';
	}

	/** Looks at all tasks of the execution while it sleeps. */
	watchAll(tasks: readonly Watch[], resumeUrl: string): void {
		if (this.state.kind === 'asleep') this.state = { kind: 'asleep', coverage: 'all' };
		this.watch(tasks, resumeUrl);
	}

	/** Looks at tasks while the execution sleeps. Those that are watched already stay as they are. */
	watch(tasks: readonly Watch[], resumeUrl: string): void {
		for (const task of tasks) {
			if (this.watches.has(task.taskId) || this.over.has(task.taskId)) continue;
			this.watches.set(task.taskId, task);
			this.deadline = Math.max(this.deadline, task.deadline);
			void this.watcher.loop.wait(task).then((waited) => this.learn(task, waited, resumeUrl));
		}
	}

	/** Whether a task is over, as soon as that is known, or false when the signal aborts. Looks at once. */
	async confirm(taskId: string, patience: AbortSignal): Promise<boolean> {
		const watch = this.watches.get(taskId);
		if (watch !== undefined) this.watcher.loop.hurry(watch);
		while (!this.over.has(taskId) && !patience.aborted) {
			await new Promise<void>((resolve) => {
				const done = () => {
					this.listeners.delete(done);
					patience.removeEventListener('abort', done);
					resolve();
				};
				this.listeners.add(done);
				patience.addEventListener('abort', done, { once: true });
			});
		}
		return this.over.has(taskId);
	}

	/** How long ago something was seen. */
	agoMs({ seenAt }: Over): number {
		return this.watcher.clock.now() - seenAt;
	}

	/** Whether the last look at a task found it running. */
	runs(taskId: string): boolean {
		const watch = this.watches.get(taskId);
		return watch !== undefined && this.watcher.lastLooks.get(watch) === 'task';
	}

	note(taskId: string, ended: Ended): void {
		this.over.set(taskId, { ended, seenAt: this.watcher.clock.now() });
		const watch = this.watches.get(taskId);
		this.watches.delete(taskId);
		if (watch !== undefined) this.watcher.loop.forget(watch);
		for (const listener of [...this.listeners]) listener();
	}

	/** The execution is awake, or gone: its tasks are no longer looked at. */
	end(): void {
		this.state = { kind: 'woken', at: this.watcher.clock.now() };
		for (const watch of this.watches.values()) this.watcher.loop.forget(watch);
		this.watches.clear();
		this.awake.abort('woken');
	}

	private learn({ taskId }: Watch, waited: Waited, resumeUrl: string): void {
		this.watches.delete(taskId);
		// A call that is waiting for this news wakes the execution by itself.
		const delayMs = this.listeners.size > 0 ? CONFIRMING_MS : 0;
		if (this.ended || waited.kind === 'released') return;
		if (waited.kind === 'done' || waited.failure.outcome !== 'timed_out') this.note(taskId, waited);
		if (this.watches.size === 0 && this.over.has(taskId))
			void this.callUp(taskId, resumeUrl, delayMs);
	}

	private async callUp(taskId: string, resumeUrl: string, delayMs: number): Promise<void> {
		const { clock } = this.watcher;
		const isGone = await callUntilAwake({
			context: () => this.watcher.context,
			clock,
			resumeUrl,
			taskId,
			delayMs,
			until: Math.max(this.deadline, clock.now()) + AFTER_DEADLINE_MS,
			woken: this.awake.signal,
			knowsAll: this.watchesAll,
		});
		if (isGone) this.end();
	}
}

class Watcher {
	readonly loop: PollLoop;
	/** What the last look at a task found. */
	readonly lastLooks = new WeakMap<Watch, Look['kind']>();

	constructor(
		public context: N8nContext,
		public client: ServiceClient,
		readonly clock: Clock,
	) {
		this.loop = new PollLoop({
			...clock,
			random: Math.random,
			look: async (watch, timeoutMs) => {
				const { taskId, kind, route = 'auto' } = watch;
				const look = await lookAtTask(this.client, { taskId, kind, route, timeoutMs });
				this.lastLooks.set(watch, look.kind);
				return look;
			},
			pausedUntil: () => this.client.account.pausedUntil('look'),
		});
	}
}

const watchers = new WeakMap<object, Watcher>();
const sleeps = new Map<string, Sleep>();
/** Far more than one process puts to sleep; a forgotten one is woken by its callbacks or its deadline. */
const MAX_SLEEPS = 20_000;
const SWEEP_FROM = 100;
let sweepAt = SWEEP_FROM;

function watcherFor(context: N8nContext, client: ServiceClient, clock: Clock): Watcher {
	const present = watchers.get(client.account);
	if (present === undefined) {
		const fresh = new Watcher(context, client, clock);
		watchers.set(client.account, fresh);
		return fresh;
	}
	// The latest context serves all sleeps of the account, so that no execution's data is held for long.
	present.context = context;
	present.client = client;
	return present;
}

/** What this process knows of a sleep; created if it knows nothing. @param id as in the execution's notes */
export function sleepOf(
	id: string,
	{
		context,
		client,
		clock = realClock,
	}: { context: N8nContext; client: ServiceClient; clock?: Clock },
): Sleep {
	const watcher = watcherFor(context, client, clock);
	const present = sleeps.get(id);
	if (present !== undefined) return present;
	if (sleeps.size >= sweepAt) sweep();
	const fresh = new Sleep(watcher);
	sleeps.set(id, fresh);
	const [oldest] = sleeps;
	if (sleeps.size > MAX_SLEEPS && oldest !== undefined) {
		oldest[1].end();
		sleeps.delete(oldest[0]);
	}
	return fresh;
}

/** Drops what is over, with the tasks that it holds. Runs each time the number has doubled, so that it costs little per sleep. */
function sweep(): void {
	for (const [id, sleep] of sleeps) if (sleep.isHistory) sleeps.delete(id);
	sweepAt = Math.max(SWEEP_FROM, 2 * sleeps.size);
}
