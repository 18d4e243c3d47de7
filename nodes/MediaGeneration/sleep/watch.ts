/** This process's watch over its sleeping executions: a callback that is lost, or comes too early, leaves none asleep until its deadline. */
import { ensured } from '../service/boundedMap';
import { callSelf, type N8nContext, type ServiceClient } from '../service/client';
import { realClock, unlessAborted, type Clock } from '../service/clock';
import { isObject } from '../service/json';
import { lookAtTask, lookSurely, type Look } from '../service/look';
import { verdictOf, type Ended } from '../service/verdict';
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

export const NOT_WAITED_FOR = 'no task is waited for here';
export const FOREIGN_TASK = 'the task does not belong to this execution';
const BEYOND_CALLS = ['has finished', 'does not exist', NOT_WAITED_FOR, FOREIGN_TASK];

/** In n8n's words or in ours. A status says too little: 404 also comes from an n8n that is starting, 409 from one that is saving. */
function isBeyondCalls(answer: Awaited<ReturnType<typeof callSelf>>): boolean {
	if (answer.status === undefined || !isObject(answer.body)) return false;
	const { message, error, ignored } = answer.body;
	const words = [message, error, ignored].filter((said) => typeof said === 'string').join(' ');
	return BEYOND_CALLS.some((said) => words.includes(said));
}

/** What the service says of a task now; undefined where a look says nothing. */
export async function verdictNow(client: ServiceClient, watch: Watch, signal?: AbortSignal) {
	const look = await lookSurely(client, { ...watch, timeoutMs: LOOK_TIMEOUT_MS, signal });
	return look.kind === 'task' ? verdictOf(watch.taskId, look.task, watch.echoes) : undefined;
}

export class Sleep {
	readonly over = new Map<string, Over>();
	/** `learned` resolves when the task is no longer watched. */
	private readonly watches = new Map<string, { watch: Watch; learned: Promise<void> }>();
	private confirming = 0;
	private readonly awake = new AbortController();
	/** Epoch ms; -Infinity while it sleeps. */
	private wokenAt = -Infinity;
	/** Whether this process watches all of its tasks, so that the others need no look when one is over. */
	watchesAll = false;
	/** The latest of the watched tasks, in epoch ms: then n8n wakes it in any case. */
	private deadline = 0;

	constructor(private readonly watcher: Watcher) {}

	get ended(): boolean {
		return this.watcher.clock.now() - this.wokenAt < WOKEN_MS;
	}

	get isHistory(): boolean {
		if (this.wokenAt > 0) return !this.ended;
		return this.deadline > 0 && this.watcher.clock.now() >= this.deadline + AFTER_DEADLINE_MS;
	}

	watch(
		tasks: readonly Watch[],
		{ resumeUrl, coverage }: { resumeUrl: string; coverage: 'some' | 'all' },
	): void {
		this.watchesAll ||= coverage === 'all';
		for (const task of tasks) {
			if (this.watches.has(task.taskId) || this.over.has(task.taskId)) continue;
			this.deadline = Math.max(this.deadline, task.deadline);
			const waited = this.watcher.loop.wait(task);
			const learned = waited.then((end) => this.learn(task, end, resumeUrl));
			this.watches.set(task.taskId, { watch: task, learned });
		}
	}

	/** Whether a task is over, as soon as that is known, or false when the signal aborts. Looks at once. */
	async confirm(taskId: string, patience: AbortSignal): Promise<boolean> {
		const watched = this.watches.get(taskId);
		if (watched !== undefined) this.watcher.loop.hurry(watched.watch);
		this.confirming += 1;
		await unlessAborted(patience, watched?.learned);
		this.confirming -= 1;
		return this.over.has(taskId);
	}

	agoMs({ seenAt }: Over): number {
		return this.watcher.clock.now() - seenAt;
	}

	runs(taskId: string): boolean {
		const watched = this.watches.get(taskId);
		return watched !== undefined && this.watcher.lastLooks.get(watched.watch) === 'task';
	}

	note(taskId: string, ended: Ended): void {
		this.over.set(taskId, { ended, seenAt: this.watcher.clock.now() });
		const watched = this.watches.get(taskId);
		this.watches.delete(taskId);
		if (watched !== undefined) this.watcher.loop.release(watched.watch);
	}

	end(): void {
		this.wokenAt = this.watcher.clock.now();
		this.watchesAll = false;
		for (const { watch } of this.watches.values()) this.watcher.loop.release(watch);
		this.watches.clear();
		this.awake.abort();
	}

	private learn({ taskId }: Watch, waited: Waited, resumeUrl: string): void {
		this.watches.delete(taskId);
		// A call that is waiting for this news wakes the execution by itself.
		const delayMs = this.confirming > 0 ? CONFIRMING_MS : 0;
		if (waited.kind === 'released') return;
		if (waited.kind === 'done' || waited.failure.outcome !== 'timed_out') this.note(taskId, waited);
		if (this.watches.size === 0 && this.over.has(taskId))
			void this.callUp(taskId, resumeUrl, delayMs);
	}

	private async callUp(taskId: string, resumeUrl: string, delayMs: number): Promise<void> {
		const { watcher, awake } = this;
		const { clock } = watcher;
		const until = Math.max(this.deadline, clock.now()) + AFTER_DEADLINE_MS;
		await clock.sleep(delayMs, awake.signal);
		for (let call = 0; !awake.signal.aborted && clock.now() < until; call += 1) {
			const answer = await callSelf(watcher.means.context, resumeUrl, { id: taskId });
			if (isBeyondCalls(answer)) return this.end();
			// Another process watches the rest, and will call.
			if (answer.status === 202 && !this.watchesAll) return;
			const pauseMs = CALL_PAUSES_MS[Math.min(call, CALL_PAUSES_MS.length - 1)] ?? 0;
			await clock.sleep(answer.status === 200 ? MAKE_SURE_MS : pauseMs, awake.signal);
		}
	}
}

interface Means {
	context: N8nContext;
	client: ServiceClient;
	clock?: Clock;
}

class Watcher {
	readonly loop: PollLoop;
	readonly lastLooks = new WeakMap<Watch, Look['kind']>();

	constructor(
		public means: Means,
		readonly clock: Clock,
	) {
		this.loop = new PollLoop({
			...clock,
			random: Math.random,
			look: async (watch, timeoutMs) => {
				const look = await lookAtTask(this.means.client, { ...watch, timeoutMs });
				this.lastLooks.set(watch, look.kind);
				return look;
			},
			pausedUntil: () => this.means.client.account.pausedUntil('look'),
		});
	}
}

const watchers = new WeakMap<object, Watcher>();
const sleeps = new Map<string, Sleep>();
/** Far more than one process puts to sleep; a forgotten one is woken by its callbacks or its deadline. */
const MAX_SLEEPS = 20_000;
/** New sleeps between two searches for those that are history. */
const SWEPT_EVERY = 100;

/** What this process knows of a sleep; created if it knows nothing. @param id as in the execution's notes */
export function sleepOf(id: string, means: Means): Sleep {
	const { client, clock = realClock } = means;
	const watcher = ensured(watchers, client.account, () => new Watcher(means, clock));
	// The latest context serves all sleeps of the account, so that no execution's data is held for long.
	watcher.means = means;
	return ensured(sleeps, id, () => {
		if (sleeps.size % SWEPT_EVERY === 0)
			for (const [key, sleep] of sleeps) if (sleep.isHistory) sleeps.delete(key);
		const [oldest] = sleeps;
		if (sleeps.size >= MAX_SLEEPS && oldest !== undefined) {
			oldest[1].end();
			sleeps.delete(oldest[0]);
		}
		return new Sleep(watcher);
	});
}
