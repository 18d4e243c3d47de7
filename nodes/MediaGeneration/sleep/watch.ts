/**
 * The watch of this n8n process over its sleeping executions: one joint loop of looks for each account. It sees that all
 * tasks of an execution are over, wakes it by its resume URL, and makes sure that it woke. So neither a lost callback, nor one
 * that came while n8n was still saving the execution (n8n answers 409 then), leaves it asleep until its deadline.
 * No execution's data is kept: of each sleep its tasks and its address, of each account one context to send requests with.
 * The watch ends with the process; callbacks and the deadline remain.
 */
import { callSelf, type N8nContext, type ServiceClient } from '../service/client';
import { realClock, type Clock } from '../service/clock';
import type { Failure } from '../service/failures';
import { isObject } from '../service/json';
import { lookAtTask, type Look } from '../service/look';
import type { Finished } from '../service/verdict';
import { PollLoop, type Waited, type Watch } from '../wait/poll';

/** A task that is over by the service's own word, or that can't be read for good. */
export type Over =
	| { kind: 'finished'; finished: Finished; seenAt: number }
	| { kind: 'failed'; failure: Failure; seenAt: number };

/** How long an execution counts as woken. Should n8n fail to resume it, a later call counts again. */
const WOKEN_MS = 60_000;

/** One sleeping execution, as far as this process knows it. */
export class Sleep {
	/** By task ID. What was seen as over stays known. */
	readonly over = new Map<string, Over>();
	/** The task that was seen running last: asking it first shows soonest that the execution has to sleep on. */
	lastRunning: string | undefined;
	/** Whether this process watches all of its tasks, so that nobody has to look at the others when one is over. */
	watchesAll = false;
	private readonly watches = new Map<string, Watch>();
	private readonly listeners = new Set<() => void>();
	private confirming = 0;
	private awake = new AbortController();
	private wokenAt: number | undefined;

	constructor(private readonly watcher: Watcher) {}

	/** Whether the execution was woken just now. */
	get ended(): boolean {
		return this.wokenAt !== undefined && this.watcher.clock.now() - this.wokenAt < WOKEN_MS;
	}

	/** Aborts when the execution wakes. */
	get woken(): AbortSignal {
		// It was woken long ago, and did not wake: the next pause is not over before it begins.
		if (this.awake.signal.aborted && !this.ended) this.awake = new AbortController();
		return this.awake.signal;
	}

	/** Looks at the tasks while the execution sleeps. Those that are watched already stay as they are. */
	watch(tasks: readonly Watch[], resumeUrl: string): void {
		for (const task of tasks) {
			if (this.watches.has(task.taskId) || this.over.has(task.taskId)) continue;
			this.watches.set(task.taskId, task);
			void this.watcher.loop.wait(task).then((waited) => this.learn(task, waited, resumeUrl));
		}
	}

	/** Whether a task is over, as soon as that is known, or false when the signal aborts. Looks at once. */
	async confirm(taskId: string, patience: AbortSignal): Promise<boolean> {
		const watch = this.watches.get(taskId);
		if (watch !== undefined) this.watcher.loop.hurry(watch);
		this.confirming += 1;
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
		this.confirming -= 1;
		return this.over.has(taskId);
	}

	/** Whether the service said of a task, when it was looked at last, that it goes on. */
	runs(taskId: string): boolean {
		const watch = this.watches.get(taskId);
		return watch !== undefined && this.watcher.lastLooks.get(watch) === 'task';
	}

	note(taskId: string, over: Over): void {
		this.over.set(taskId, over);
		const watch = this.watches.get(taskId);
		this.watches.delete(taskId);
		if (watch !== undefined) this.watcher.loop.forget(watch);
		for (const listener of [...this.listeners]) listener();
	}

	/** The execution is awake, or gone: nothing is looked at any more. */
	end(): void {
		this.wokenAt = this.watcher.clock.now();
		for (const watch of this.watches.values()) this.watcher.loop.forget(watch);
		this.watches.clear();
		this.awake.abort('woken');
	}

	/** It has what it slept for. Should n8n not resume it, a later call makes all known again. */
	forgetResults(): void {
		this.over.clear();
	}

	/** Waking it broke off: it sleeps on, and is called again after a while. */
	sleepOn(task: Watch, resumeUrl: string | undefined): void {
		this.wokenAt = undefined;
		this.awake = new AbortController();
		if (resumeUrl !== undefined)
			void this.watcher.wakeUp(this, resumeUrl, { ...task, delayMs: CONFIRMING_MS });
	}

	private learn({ taskId, deadline }: Watch, waited: Waited, resumeUrl: string): void {
		this.watches.delete(taskId);
		// A call that waits for this very news wakes the execution by itself.
		const delayMs = this.confirming > 0 ? CONFIRMING_MS : 0;
		if (this.ended || waited.kind === 'released') return;
		const seenAt = this.watcher.clock.now();
		if (waited.kind === 'finished') this.note(taskId, { ...waited, seenAt });
		else if (waited.failure.outcome !== 'timed_out')
			this.note(taskId, { kind: 'failed', failure: waited.failure, seenAt });
		if (this.watches.size === 0 && this.over.has(taskId))
			void this.watcher.wakeUp(this, resumeUrl, { taskId, deadline, delayMs });
	}
}

/** Pauses between the calls of an execution that does not wake, in ms; the last one repeats. */
const CALL_PAUSES_MS = [300, 700, 1_500, 3_000, 6_000, 12_000, 30_000, 60_000];
/** For a call that is under way. */
const CONFIRMING_MS = 3_000;
/** After an answer that says "woken": time for the delivery, before it is made sure. */
const MAKE_SURE_MS = 60_000;
/** Beyond its deadline n8n wakes an execution by itself. */
const AFTER_DEADLINE_MS = 120_000;

/** What a call is told that nobody here waits for. */
export const NOT_WAITED_FOR = 'no task is waited for here';
export const FOREIGN_TASK = 'the task does not belong to this execution';
const BEYOND_CALLS = ['has finished', 'does not exist', NOT_WAITED_FOR, FOREIGN_TASK];

/**
 * Whether an answer says that the execution sleeps no more, or not over this task: n8n's own words, or ours. A status alone
 * says too little: 404 also comes from a proxy or from an n8n that is still starting, 409 from one that is still saving.
 */
function isBeyondCalls(answer: Awaited<ReturnType<typeof callSelf>>): boolean {
	if (answer.status === undefined || !isObject(answer.body)) return false;
	const { message, error, ignored } = answer.body;
	const words = [message, error, ignored].filter((said) => typeof said === 'string').join(' ');
	return BEYOND_CALLS.some((said) => words.includes(said));
}

interface WakingCall {
	/** The task that a call names. */
	taskId: string;
	/** Epoch ms at which n8n wakes the execution by itself. */
	deadline: number;
	/** Before the first call. */
	delayMs: number;
}

class Watcher {
	readonly loop: PollLoop;
	/** What the last look at a task found. */
	readonly lastLooks = new WeakMap<Watch, Look['kind']>();
	private readonly beingCalled = new WeakSet<Sleep>();

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

	/** Calls a sleeping execution until it is awake; one that is being called already is not called twice. Never rejects. */
	async wakeUp(sleep: Sleep, resumeUrl: string, call: WakingCall): Promise<void> {
		if (this.beingCalled.has(sleep)) return;
		this.beingCalled.add(sleep);
		await this.callUntilAwake(sleep, resumeUrl, call);
		this.beingCalled.delete(sleep);
	}

	private async callUntilAwake(
		sleep: Sleep,
		resumeUrl: string,
		{ taskId, deadline, delayMs }: WakingCall,
	): Promise<void> {
		if (delayMs > 0) await this.clock.sleep(delayMs, sleep.woken);
		const giveUpAt = Math.max(deadline, this.clock.now()) + AFTER_DEADLINE_MS;
		for (let call = 0; !sleep.ended && this.clock.now() < giveUpAt; call += 1) {
			const answer = await callSelf(this.context, resumeUrl, { id: taskId });
			if (isBeyondCalls(answer)) {
				sleep.end();
				return sleep.forgetResults();
			}
			// It sleeps on for tasks that are not watched here.
			if (answer.status === 202 && !sleep.watchesAll) return;
			const pauseMs = CALL_PAUSES_MS[Math.min(call, CALL_PAUSES_MS.length - 1)] ?? 0;
			await this.clock.sleep(answer.status === 200 ? MAKE_SURE_MS : pauseMs, sleep.woken);
		}
	}
}

const watchers = new WeakMap<object, Watcher>();
const sleeps = new Map<string, Sleep>();
/** Far more than one process puts to sleep; what is forgotten is woken by its callbacks or its deadline. */
const MAX_SLEEPS = 20_000;

function watcherFor(context: N8nContext, client: ServiceClient, clock: Clock): Watcher {
	const present = watchers.get(client.account);
	if (present === undefined) {
		const fresh = new Watcher(context, client, clock);
		watchers.set(client.account, fresh);
		return fresh;
	}
	// The youngest context serves all sleeps of the account, so that no execution's data is held for long.
	present.context = context;
	present.client = client;
	return present;
}

/** What this process knows of a sleep; begun here if it knows nothing. @param id as in the execution's notes */
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
	const fresh = new Sleep(watcher);
	sleeps.set(id, fresh);
	const [oldest] = sleeps;
	if (sleeps.size > MAX_SLEEPS && oldest !== undefined) {
		oldest[1].end();
		sleeps.delete(oldest[0]);
	}
	return fresh;
}
