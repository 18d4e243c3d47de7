/** Watches over this process's sleeping executions: a callback that is lost, or comes too early, leaves none asleep until its deadline. */
import { ensured } from '../base/boundedMap';
import { callSelf, type N8nContext, type ServiceClient } from '../transport/client';
import { unlessAborted } from '../base/clock';
import { realClock } from '../n8n/clock';
import type { Account } from '../transport/account';
import { lookAtTask, type Look } from '../transport/look';
import type { Ended } from '../transport/verdict';
import { PollLoop, type Waited, type Watch } from '../task/poll';
import { callUntilAwake } from './resumptions';

/** Such a task is over by the service's own word, or permanently can't be read. */
export interface Over {
	ended: Ended;
	/** Epoch ms. */
	seenAt: number;
}

/** A call that waits for the news of a task gets this long to wake the execution by itself. */
const CONFIRMING_MS = 3_000;
/** n8n itself wakes an execution at its deadline; the watch ends this much later. */
const AFTER_DEADLINE_MS = 120_000;
/** An execution counts as awake for this long. Should n8n fail to resume it, a later call counts again. */
const AWAKE_MS = 60_000;
type State =
	| {
			kind: 'asleep';
			/** True if this process has watched all of its tasks from the beginning, so that the others need no look when one is over. */
			watchesAll: boolean;
			/** True while this process calls n8n in order to wake it. */
			isCalling: boolean;
			/** True while a call fetches the files, or has handed the items to n8n a moment ago. */
			isResuming: boolean;
	  }
	/** n8n has said so, at `since` (epoch ms). */
	| { kind: 'awake'; since: number };

/** Holds what this process knows of an execution that sleeps. */
export class Sleep {
	readonly over = new Map<string, Over>();
	/** `learned` resolves when the task is no longer watched. */
	private readonly watches = new Map<string, { watch: Watch; learned: Promise<void> }>();
	/** Counts the calls that wait for the news of a task. */
	private confirming = 0;
	private readonly awake = new AbortController();
	private state: State = { kind: 'asleep', watchesAll: false, isCalling: false, isResuming: false };
	/** Is the latest one of its tasks, in epoch ms: then n8n wakes it in any case. */
	private deadline: number | undefined;

	constructor(private readonly watcher: Watcher) {}

	get isAwake(): boolean {
		return this.state.kind === 'awake' && this.now - this.state.since < AWAKE_MS;
	}

	/** Tells whether nothing needs to be known of it any more. */
	get isForgettable(): boolean {
		if (this.state.kind === 'awake') return !this.isAwake;
		return this.deadline !== undefined && this.now >= this.deadline + AFTER_DEADLINE_MS;
	}

	get watchesAll(): boolean {
		return this.state.kind === 'asleep' && this.state.watchesAll;
	}

	get isResuming(): boolean {
		return this.state.kind === 'asleep' && this.state.isResuming;
	}

	/** @returns to be called when it is over */
	startResuming(): () => void {
		const { state } = this;
		if (state.kind === 'asleep') state.isResuming = true;
		return () => {
			if (state.kind === 'asleep') state.isResuming = false;
		};
	}

	private get now(): number {
		return realClock.now();
	}

	/** @param coverage `all`: from the beginning of its sleep */
	watch(
		tasks: readonly Watch[],
		{ resumeUrl, coverage }: { resumeUrl: string; coverage: 'some' | 'all' },
	): void {
		if (this.state.kind === 'awake') return;
		this.state.watchesAll ||= coverage === 'all';
		for (const task of tasks) {
			if (this.watches.has(task.taskId) || this.over.has(task.taskId)) continue;
			this.deadline = Math.max(this.deadline ?? task.deadline, task.deadline);
			const waited = this.watcher.loop.wait(task);
			const learned = waited.then((end) => this.learn(task, end, resumeUrl));
			this.watches.set(task.taskId, { watch: task, learned });
		}
	}

	/** A caller says that a task is over: looks at once. */
	hurry({ taskId, hasFailed }: Reported): void {
		const watched = this.watches.get(taskId);
		if (watched !== undefined) this.watcher.loop.hurry(watched.watch, hasFailed);
	}

	/** Tells whether a task is over, as soon as that is known; false when the signal aborts. */
	async confirm(reported: Reported, patience: AbortSignal): Promise<boolean> {
		const { taskId } = reported;
		this.hurry(reported);
		this.confirming += 1;
		await unlessAborted(patience, this.watches.get(taskId)?.learned);
		this.confirming -= 1;
		return this.over.has(taskId);
	}

	agoMs({ seenAt }: Over): number {
		return this.now - seenAt;
	}

	runs(taskId: string): boolean {
		const watched = this.watches.get(taskId);
		return watched !== undefined && this.watcher.lastLooks.get(watched.watch) === 'task';
	}

	note(taskId: string, ended: Ended): void {
		this.over.set(taskId, { ended, seenAt: this.now });
		if (hasLeftTheService(ended)) this.watcher.account.taskEnded(taskId);
		const watched = this.watches.get(taskId);
		this.watches.delete(taskId);
		if (watched !== undefined) this.watcher.loop.release(watched.watch);
	}

	end(): void {
		this.state = { kind: 'awake', since: this.now };
		for (const { watch } of this.watches.values()) this.watcher.loop.release(watch);
		this.watches.clear();
		this.awake.abort();
	}

	private learn({ taskId }: Watch, waited: Waited, resumeUrl: string): void {
		this.watches.delete(taskId);
		if (waited.kind === 'released') return;
		if (waited.kind === 'done' || waited.failure.outcome !== 'timed_out') this.note(taskId, waited);
		if (this.watches.size > 0 || !this.over.has(taskId)) return;
		this.callN8n(taskId, resumeUrl, this.confirming > 0 ? CONFIRMING_MS : 0);
	}

	/** Calls n8n, after `delayMs`, until the execution is awake. */
	callN8n(taskId: string, resumeUrl: string, delayMs: number): void {
		const { state } = this;
		if (state.kind === 'awake' || state.isCalling) return;
		state.isCalling = true;
		void this.callUntilAwake(taskId, resumeUrl, delayMs).finally(() => (state.isCalling = false));
	}

	private async callUntilAwake(taskId: string, resumeUrl: string, delayMs: number): Promise<void> {
		const { watcher, awake } = this;
		await realClock.sleep(delayMs, awake.signal);
		const end = await callUntilAwake({
			...realClock,
			call: async () => await watcher.callSelf(resumeUrl, taskId),
			signal: awake.signal,
			until: Math.max(this.deadline ?? 0, this.now) + AFTER_DEADLINE_MS,
			othersCall: () => !this.watchesAll,
		});
		if (end === 'awake') this.end();
	}
}

/** A caller says this of a task. */
export interface Reported {
	taskId: string;
	hasFailed: boolean;
}

/** A task that can't be read may still run. */
const hasLeftTheService = (ended: Ended) =>
	ended.kind === 'done' || ended.failure.outcome !== 'unreachable';

/** This process looks at tasks, and calls n8n, by these. */
interface Access {
	context: N8nContext;
	client: ServiceClient;
}

/** Watches all sleeping executions of one account. */
class Watcher {
	/** The latest one serves all, so that no execution's data is held for long. Set before anything is watched. */
	access: Access | undefined;
	readonly lastLooks = new WeakMap<Watch, Look['kind']>();
	/** The keys are the IDs in the notes of the executions, oldest first. */
	readonly sleeps = new Map<string, Sleep>();
	readonly loop = new PollLoop({
		...realClock,
		random: Math.random,
		look: async (watch, timeoutMs) => await this.look(watch, timeoutMs),
		pausedUntil: () => this.account.pausedUntil('look'),
		slotWanted: () => false,
	});

	constructor(readonly account: Account) {}

	private async look(watch: Watch, timeoutMs: number): Promise<Look> {
		if (this.access === undefined) return { kind: 'busy', detail: 'nobody asks' };
		const look = await lookAtTask(this.access.client, { ...watch, timeoutMs });
		this.lastLooks.set(watch, look.kind);
		return look;
	}

	async callSelf(url: string, taskId: string): ReturnType<typeof callSelf> {
		if (this.access === undefined) return { status: undefined, reason: 'nobody calls' };
		return await callSelf(this.access.context, url, { id: taskId });
	}

	newSleep(): Sleep {
		const { sleeps } = this;
		if (sleeps.size % SWEPT_EVERY === 0)
			for (const [key, sleep] of sleeps) if (sleep.isForgettable) sleeps.delete(key);
		const [oldest] = sleeps;
		if (sleeps.size >= MAX_SLEEPS && oldest !== undefined) {
			oldest[1].end();
			sleeps.delete(oldest[0]);
		}
		return new Sleep(this);
	}
}

/** One process puts far fewer to sleep; callbacks or the deadline wake a forgotten one. */
const MAX_SLEEPS = 20_000;
/** This many new sleeps separate two searches for those that can be forgotten. */
const SWEPT_EVERY = 100;

/** Returns what this process knows of a sleep; created if it knows nothing. @param id as in the execution's notes */
export function sleepOf(id: string, access: Access): Sleep {
	const watcher = access.client.account.state(Watcher);
	watcher.access = access;
	return ensured(watcher.sleeps, id, () => watcher.newSleep());
}
