/**
 * Waiting for many tasks in one loop. The loop takes its clock, its sleep and its look at the service from outside, so
 * that its tests run on a virtual clock. Rules that must not regress:
 * - a failed look is never a failed task; only the service's word, the deadline, a refused key or a task that stays
 *   unknown for good end the waiting;
 * - cancelling ends it at once.
 */
import type { Failure } from '../service/failures';
import type { Look } from '../service/look';
import { outputsOf } from '../service/outputs';
import { type Task } from '../service/task';
import { isObject } from '../service/json';
import { addressesIn } from '../service/verdict';
import { busyDelay, FIRST_LOOK_MS, nextLook, type ProgressSample } from './schedule';
import * as failures from '../service/failures';

/** A task to wait for. Times are epoch ms. */
export interface Watch {
	taskId: string;
	/** What siblings are compared by, and what a poll route is remembered for. */
	kind: string;
	createdAt: number;
	deadline: number;
	/** The creation request's body, so that an address it carried is not taken for a result. */
	request?: unknown;
	/** Whether the first look may come at once, as for tasks made long ago. */
	lookAtOnce?: boolean;
}

export type Waited =
	| { ok: true; task: Task }
	| {
			ok: false;
			failure: Failure;
			lastTask: Task | undefined;
			/** True where the loop let the task go unfinished on purpose (`releaseAll`). */
			released?: boolean;
	  };

export interface PollDeps {
	look(watch: Watch): Promise<Look>;
	now: () => number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal: AbortSignal) => Promise<void>;
	/** In [0, 1). */
	random: () => number;
	/** Aborts when the execution is stopped. */
	signal?: AbortSignal;
	/** Epoch ms before which the account wants no request. */
	pausedUntil(): number;
	maxConcurrentLooks?: number;
}

/** Tasks that answer 404 are given so long to appear (service-facts, "Poll routes"). */
export const GRACE_FOR_MISSING_MS = 60_000;
const LOOKS_BEFORE_MISSING = 3;
const LOOKS_FOR_OUTPUTS = 3;
const DELAY_FOR_OUTPUTS_MS = 1_000;
/** The first looks at siblings spread over so long, evenly for any number of them. */
const TURNS_MS = 1_500;
const GOLDEN_RATIO = 0.618_034;
/** Wakes a loop that sleeps until something happens, and none that sleeps until a moment. */
const ANY_NEWS = Number.MAX_VALUE;

interface Entry {
	watch: Watch;
	firstSeenAt: number;
	nextLookAt: number;
	lastLookAt: number;
	looking: boolean;
	settled: boolean;
	samples: ProgressSample[];
	broughtForward: number;
	plannedByAgeMs: number;
	busyStreak: number;
	missingStreak: number;
	looksWithoutOutputs: number;
	lastTask: Task | undefined;
	lastDetail: string | undefined;
	settle(result: Waited): void;
}

export class PollLoop {
	private readonly entries = new Set<Entry>();
	private readonly siblingAges = new Map<string, number[]>();
	/** By kind, how many tasks came before. */
	private readonly turns = new Map<string, number>();
	private looksInFlight = 0;
	private running = false;
	private alarm = new AbortController();
	/** The moment until which the loop sleeps; -Infinity while it is awake. */
	private sleepsUntil = -Infinity;

	constructor(private readonly deps: PollDeps) {
		deps.signal?.addEventListener('abort', this.cancelAll, { once: true });
	}

	/** Releases the listener on the execution's signal. */
	close(): void {
		this.deps.signal?.removeEventListener('abort', this.cancelAll);
	}

	/** Waits until the task is over, its deadline has passed, or it can't be read. Never rejects. */
	async wait(watch: Watch): Promise<Waited> {
		if (this.deps.signal?.aborted === true) {
			return {
				ok: false,
				failure: failures.cancelled(watch.taskId, undefined),
				lastTask: undefined,
			};
		}
		return await new Promise<Waited>((resolve) => {
			const now = this.deps.now();
			const entry: Entry = {
				watch,
				firstSeenAt: now,
				nextLookAt: now,
				lastLookAt: now,
				looking: false,
				settled: false,
				samples: [],
				broughtForward: 0,
				plannedByAgeMs: 0,
				busyStreak: 0,
				missingStreak: 0,
				looksWithoutOutputs: 0,
				lastTask: undefined,
				lastDetail: undefined,
				settle: resolve,
			};
			this.entries.add(entry);
			if (watch.lookAtOnce !== true) this.scheduleFirst(entry);
			this.wake(entry.nextLookAt);
			void this.run();
		});
	}

	/**
	 * Siblings are looked at in turns from the start: the one that is looked at soonest after its end tells when to look at
	 * the others, so the more there are, the sooner the first end is seen.
	 */
	private scheduleFirst(entry: Entry): void {
		const { kind, createdAt } = entry.watch;
		const turn = this.turns.get(kind) ?? 0;
		this.turns.set(kind, turn + 1);
		const age = this.deps.now() - createdAt;
		if (age < FIRST_LOOK_MS) {
			const spread = 0.8 + 0.4 * this.deps.random();
			const later = ((turn * GOLDEN_RATIO) % 1) * TURNS_MS;
			this.schedule(entry, Math.max(0, FIRST_LOOK_MS - age) * spread + later);
		}
	}

	private async run(): Promise<void> {
		if (this.running) return;
		this.running = true;
		while (this.entries.size > 0) {
			const now = this.deps.now();
			const free = (this.deps.maxConcurrentLooks ?? 10) - this.looksInFlight;
			const waiting = [...this.entries].filter((entry) => !entry.looking);
			const due = waiting.filter((entry) => this.dueAt(entry) <= now);
			due.sort((a, b) => a.nextLookAt - b.nextLookAt);
			for (const entry of due.slice(0, Math.max(0, free))) void this.lookAt(entry);
			const later = waiting.filter((entry) => !entry.looking).map((entry) => this.dueAt(entry));
			// Without a free place the end of a look wakes the loop; there is no moment to wait for.
			const until = due.length > free ? Infinity : Math.min(...later);
			await this.sleepUntil(until);
		}
		this.running = false;
	}

	/** A paused account delays looks, but never the verdict at the deadline. */
	private dueAt({ nextLookAt, watch }: Entry): number {
		return Math.min(
			Math.max(nextLookAt, this.deps.pausedUntil()),
			Math.max(nextLookAt, watch.deadline),
		);
	}

	private async sleepUntil(at: number): Promise<void> {
		const ms = at === Infinity ? 3_600_000 : Math.max(0, at - this.deps.now());
		this.alarm = new AbortController();
		this.sleepsUntil = at;
		await this.deps.sleep(ms, this.alarm.signal);
		this.sleepsUntil = -Infinity;
	}

	/** Ends the loop's sleep if it would last beyond that moment. */
	private wake(at: number): void {
		// With a reason: the default one is an error, and its stack is not for free.
		if (at < this.sleepsUntil) this.alarm.abort('woken');
	}

	/** Lets go of everything that is still running: the results say `released`. */
	releaseAll(): void {
		this.endAll(true);
	}

	private readonly cancelAll = (): void => this.endAll(false);

	private endAll(released: boolean): void {
		for (const entry of [...this.entries]) {
			const failure = failures.cancelled(entry.watch.taskId, entry.lastTask?.status);
			this.finish(entry, { ok: false, failure, lastTask: entry.lastTask, released });
		}
	}

	private finish(entry: Entry, result: Waited): void {
		if (entry.settled) return;
		entry.settled = true;
		this.entries.delete(entry);
		entry.settle(result);
		this.wake(this.entries.size === 0 ? -Infinity : ANY_NEWS);
	}

	/** The last look comes at the deadline, so that what finished in time is not given up. */
	private schedule(entry: Entry, delayMs: number): void {
		const { deadline } = entry.watch;
		const now = this.deps.now();
		entry.nextLookAt = Math.min(now + delayMs, Math.max(deadline, now));
		this.wake(entry.nextLookAt);
	}

	private async lookAt(entry: Entry): Promise<void> {
		entry.looking = true;
		this.looksInFlight += 1;
		const startedAt = this.deps.now();
		// A look that breaks is a failed look, never the end of the waiting.
		const look = await this.deps.look(entry.watch).catch((error: unknown): Look => ({
			kind: 'busy',
			detail: error instanceof Error ? error.message : 'the look failed',
		}));
		this.looksInFlight -= 1;
		entry.looking = false;
		entry.lastLookAt = this.deps.now();
		if (!entry.settled) this.judge(entry, look, startedAt);
		this.wake(ANY_NEWS);
	}

	private judge(entry: Entry, look: Look, startedAt: number): void {
		const verdict = this.verdictOf(entry, look);
		if (verdict !== undefined) {
			if (verdict.ok) this.tellSiblings(entry, startedAt);
			this.finish(entry, verdict);
		} else if (startedAt >= entry.watch.deadline) {
			const { taskId, deadline, createdAt } = entry.watch;
			const failure = failures.timedOut(
				taskId,
				deadline - createdAt,
				entry.lastTask,
				entry.lastDetail,
			);
			this.finish(entry, { ok: false, failure, lastTask: entry.lastTask });
		}
	}

	/** The end of the waiting, or undefined after the next look is scheduled. */
	private verdictOf(entry: Entry, look: Look): Waited | undefined {
		const { taskId } = entry.watch;
		entry.lastDetail = look.kind === 'task' ? undefined : look.detail;
		entry.missingStreak = look.kind === 'missing' ? entry.missingStreak + 1 : 0;
		entry.busyStreak = look.kind === 'busy' ? entry.busyStreak + 1 : 0;
		switch (look.kind) {
			case 'task':
				entry.lastTask = look.task;
				return this.verdictOfTask(entry, look.task);
			case 'denied':
				return { ok: false, failure: failures.denied(taskId, look), lastTask: entry.lastTask };
			case 'missing': {
				const patience = entry.firstSeenAt + GRACE_FOR_MISSING_MS;
				if (this.deps.now() >= patience && entry.missingStreak >= LOOKS_BEFORE_MISSING) {
					return { ok: false, failure: failures.missing(taskId, look), lastTask: entry.lastTask };
				}
				this.scheduleNext(entry);
				return undefined;
			}
			case 'busy':
				this.schedule(
					entry,
					busyDelay(entry.busyStreak, this.ageOf(entry), look.retryAfterMs, this.deps.random()),
				);
				return undefined;
		}
	}

	private verdictOfTask(entry: Entry, task: Task): Waited | undefined {
		if (task.state === 'failed') {
			return { ok: false, failure: failures.failed(entry.watch.taskId, task), lastTask: task };
		}
		if (task.state === 'done') {
			if (outputsOf(task, addressesIn(entry.watch.request)).length > 0) return { ok: true, task };
			// `done` can come for a moment without any URL (service-facts, "Status").
			if (entry.looksWithoutOutputs >= LOOKS_FOR_OUTPUTS) {
				const keys = isObject(task.raw.metadata) ? Object.keys(task.raw.metadata) : [];
				return {
					ok: false,
					failure: failures.withoutOutputs(entry.watch.taskId, task, keys),
					lastTask: task,
				};
			}
			entry.looksWithoutOutputs += 1;
			this.schedule(entry, DELAY_FOR_OUTPUTS_MS * entry.looksWithoutOutputs);
			return undefined;
		}
		if (task.progress !== undefined) {
			entry.samples.push({ ageMs: this.ageOf(entry), progress: task.progress });
		}
		this.scheduleNext(entry);
		return undefined;
	}

	private ageOf({ watch }: Entry): number {
		return Math.max(0, this.deps.now() - watch.createdAt);
	}

	private scheduleNext(entry: Entry): void {
		const { delayMs, broughtForward, byAgeMs } = nextLook(
			{
				ageMs: this.ageOf(entry),
				samples: entry.samples,
				siblingAgesMs: this.siblingAges.get(entry.watch.kind) ?? [],
				broughtForward: entry.broughtForward,
				plannedByAgeMs: entry.plannedByAgeMs,
			},
			this.deps.random(),
		);
		entry.plannedByAgeMs = byAgeMs;
		if (broughtForward) entry.broughtForward += 1;
		this.schedule(entry, delayMs);
	}

	/** One task of a kind is finished: look at the others of that kind at about the same age. */
	private tellSiblings({ watch, looksWithoutOutputs }: Entry, foundAt: number): void {
		if (watch.lookAtOnce === true || looksWithoutOutputs > 0) return;
		const ages = this.siblingAges.get(watch.kind) ?? [];
		ages.push(Math.max(0, foundAt - watch.createdAt));
		this.siblingAges.set(watch.kind, ages.slice(-20));
		for (const entry of this.entries) {
			const sibling = entry.watch.kind === watch.kind && entry.watch.lookAtOnce !== true;
			if (!sibling || entry.looking || entry.busyStreak > 0) continue;
			const before = entry.nextLookAt;
			const brought = entry.broughtForward;
			this.scheduleNext(entry);
			if (entry.nextLookAt > before || entry.broughtForward === brought) {
				entry.nextLookAt = before;
				entry.broughtForward = brought;
			}
		}
	}
}
