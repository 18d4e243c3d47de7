/**
 * The watch of this n8n process over its sleeping executions: one loop of looks for each account. It sees that all tasks of an execution
 * are over, wakes it by its resume URL, and makes sure that it woke: neither a lost callback, nor one that came while n8n was still saving
 * the execution, leaves it asleep until its deadline. Of each account it keeps one context to send requests with, and no execution's data.
 */
import { callSelf, type N8nContext, type ServiceClient } from '../service/client';
import { realClock, type Clock } from '../service/clock';
import { isObject } from '../service/json';
import { lookAtTask, lookSurely, type Look } from '../service/look';
import { verdictOf, type Ended, type Verdict } from '../service/verdict';
import { PollLoop, type Waited, type Watch } from '../wait/poll';

/** A task that is over by the service's own word, or that permanently can't be read. */
export interface Over {
	ended: Ended;
	/** Epoch ms. */
	seenAt: number;
}

const LOOK_TIMEOUT_MS = 5_000;
/** For a call that is under way. */
const CONFIRMING_MS = 3_000;
/** Beyond its deadline n8n wakes an execution by itself. */
const AFTER_DEADLINE_MS = 120_000;
/** How long an execution counts as woken. Should n8n fail to resume it, a later call counts again. */
const WOKEN_MS = 60_000;
/** Pauses between the calls of an execution that does not wake, in ms; the last one repeats. */
const CALL_PAUSES_MS = [300, 700, 1_500, 3_000, 6_000, 12_000, 30_000, 60_000];
/** After an answer that says "woken": time for the delivery, before another call makes sure. */
const MAKE_SURE_MS = 60_000;

/** Answers to calls that no sleeping execution here waits for. */
export const NOT_WAITED_FOR = 'no task is waited for here';
export const FOREIGN_TASK = 'the task does not belong to this execution';
const BEYOND_CALLS = ['has finished', 'does not exist', NOT_WAITED_FOR, FOREIGN_TASK];

/**
 * Whether an answer, in n8n's own words or in ours, says that the execution no longer sleeps, or does not wait for this
 * task. A status alone says too little: 404 also comes from a proxy or from an n8n that is still starting, 409 from one that is still saving.
 */
function isBeyondCalls(answer: Awaited<ReturnType<typeof callSelf>>): boolean {
	if (answer.status === undefined || !isObject(answer.body)) return false;
	const { message, error, ignored } = answer.body;
	const words = [message, error, ignored].filter((said) => typeof said === 'string').join(' ');
	return BEYOND_CALLS.some((said) => words.includes(said));
}

/** What the service says of a task now; undefined where a look says nothing. */
export async function verdictNow(
	client: ServiceClient,
	watch: Watch,
	signal?: AbortSignal,
): Promise<Verdict | undefined> {
	const look = await lookSurely(client, { ...watch, timeoutMs: LOOK_TIMEOUT_MS, signal });
	return look.kind === 'task' ? verdictOf(watch.taskId, look.task, watch.echoes) : undefined;
}

interface Watching {
	resumeUrl: string;
	coverage: 'some' | 'all';
}

/** One sleeping execution, as far as this process knows it. */
export class Sleep {
	/** By task ID. */
	readonly over = new Map<string, Over>();
	private readonly watches = new Map<string, Watch>();
	private readonly listeners = new Set<() => void>();
	private readonly awake = new AbortController();
	private state: { kind: 'asleep'; coverage: 'some' | 'all' } | { kind: 'woken'; at: number } = {
		kind: 'asleep',
		coverage: 'some',
	};
	/** The latest of the watched tasks, in epoch ms: then n8n wakes it in any case. */
	private deadline = 0;

	constructor(private readonly watcher: Watcher) {}

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

	/** Looks at tasks while the execution sleeps. Those that are watched already stay as they are. */
	watch(tasks: readonly Watch[], { resumeUrl, coverage }: Watching): void {
		if (coverage === 'all' && this.state.kind === 'asleep') this.state.coverage = coverage;
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

	agoMs({ seenAt }: Over): number {
		return this.watcher.clock.now() - seenAt;
	}

	runs(taskId: string): boolean {
		const watch = this.watches.get(taskId);
		return watch !== undefined && this.watcher.lastLooks.get(watch) === 'task';
	}

	note(taskId: string, ended: Ended): void {
		this.over.set(taskId, { ended, seenAt: this.watcher.clock.now() });
		const watch = this.watches.get(taskId);
		this.watches.delete(taskId);
		if (watch !== undefined) this.watcher.loop.release(watch);
		for (const listener of [...this.listeners]) listener();
	}

	/** The execution is awake, or gone: its tasks are no longer looked at. */
	end(): void {
		this.state = { kind: 'woken', at: this.watcher.clock.now() };
		for (const watch of this.watches.values()) this.watcher.loop.release(watch);
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

	/** Calls the execution by a task that is over, until it wakes or n8n says that it no longer sleeps. */
	private async callUp(taskId: string, resumeUrl: string, delayMs: number): Promise<void> {
		const { watcher, awake } = this;
		const { clock } = watcher;
		const until = Math.max(this.deadline, clock.now()) + AFTER_DEADLINE_MS;
		if (delayMs > 0) await clock.sleep(delayMs, awake.signal);
		for (let call = 0; !awake.signal.aborted && clock.now() < until; call += 1) {
			const answer = await callSelf(watcher.context, resumeUrl, { id: taskId });
			if (isBeyondCalls(answer)) return this.end();
			// Another process watches the rest, and will call.
			if (answer.status === 202 && !this.watchesAll) return;
			const pauseMs = CALL_PAUSES_MS[Math.min(call, CALL_PAUSES_MS.length - 1)] ?? 0;
			await clock.sleep(answer.status === 200 ? MAKE_SURE_MS : pauseMs, awake.signal);
		}
	}
}

class Watcher {
	readonly loop: PollLoop;
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
				const look = await lookAtTask(this.client, { ...watch, timeoutMs });
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

interface Means {
	context: N8nContext;
	client: ServiceClient;
	clock?: Clock;
}

function watcherFor({ context, client, clock = realClock }: Means): Watcher {
	const watcher = watchers.get(client.account) ?? new Watcher(context, client, clock);
	watchers.set(client.account, watcher);
	// The latest context serves all sleeps of the account, so that no execution's data is held for long.
	return Object.assign(watcher, { context, client });
}

/** What this process knows of a sleep; created if it knows nothing. @param id as in the execution's notes */
export function sleepOf(id: string, means: Means): Sleep {
	const watcher = watcherFor(means);
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
