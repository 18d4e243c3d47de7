/** Waits for many tasks in one loop. */
import { ensured } from '../base/boundedMap';
import type { Clock } from '../base/clock';
import type { Look } from '../transport/look';
import type { Watch } from './wait';
import { Watched, type LoopState, type Waited } from './watched';

export type { Watch } from './wait';
export type { Waited } from './watched';

export interface PollDeps extends Clock {
	look(watch: Watch, timeoutMs: number): Promise<Look>;
	random: () => number;
	signal?: AbortSignal;
	/** Epoch ms; the account wants no look before. */
	pausedUntil(): number;
	/** Tells whether other tasks wait until one of these is over. */
	slotWanted?: () => boolean;
}

const CONCURRENT_LOOKS = 10;
const POLL_LOOK_TIMEOUT_MS = 20_000;
/** The last look may last this far beyond the deadline. */
const OVERTIME_MS = 2_000;
/** Wakes a loop that sleeps until something happens, but not one that sleeps until a moment. */
const ANY_NEWS = Number.MAX_VALUE;
const SIBLINGS_REMEMBERED = 20;
/** When no more than this share of all siblings is left, a batch is waiting for them. */
const LAST_SHARE = 0.25;

interface Siblings {
	came: number;
	waiting: number;
	finishedAgesMs: number[];
}

interface PolledTask {
	watched: Watched;
	looking: boolean;
	resolve(result: Waited): void;
}

/** In epoch ms, when the last look has to be over. A deadline that had passed from the start leaves time for one. */
function lastMomentOf({ watched }: PolledTask): number {
	return Math.max(watched.watch.deadline, watched.firstSeenAt) + OVERTIME_MS;
}

export class PollLoop {
	private readonly entries = new Map<Watch, PolledTask>();
	private readonly siblings = new Map<string, Siblings>();
	private looksInFlight = 0;
	private running = false;
	/** True while a look is due that found no capacity. */
	private wantsCapacity = false;
	private alarm = new AbortController();
	/** -Infinity while the loop is awake. */
	private sleepsUntil = -Infinity;

	constructor(private readonly deps: PollDeps) {
		deps.signal?.addEventListener('abort', this.cancelAll);
	}

	close(): void {
		this.deps.signal?.removeEventListener('abort', this.cancelAll);
	}

	/** Resolves when the task is over, its deadline has passed, or it can't be read. Never rejects. */
	async wait(watch: Watch): Promise<Waited> {
		return await new Promise<Waited>((resolve) => {
			const siblings = this.siblingsOf(watch);
			const watched = new Watched(watch, siblings.came, this.loopState(watch));
			if (watch.pace !== 'atOnce') siblings.came += 1;
			siblings.waiting += 1;
			this.entries.set(watch, { watched, looking: false, resolve });
			if (this.deps.signal?.aborted === true) return this.cancelAll();
			this.wake(watched.nextLookAt);
			void this.run();
		});
	}

	release(watch: Watch): void {
		const entry = this.entries.get(watch);
		if (entry) this.finish(entry, { kind: 'released', task: entry.watched.lastTask });
	}

	/** A caller says that a task is over. */
	hurry(watch: Watch, reportedFailed = false): void {
		this.entries.get(watch)?.watched.hurry(this.deps.now(), reportedFailed);
		this.wake(this.deps.now());
	}

	private readonly cancelAll = (): void => {
		for (const entry of [...this.entries.values()]) this.finish(entry, entry.watched.cancelled());
	};

	private siblingsOf({ kind }: Watch): Siblings {
		return ensured(this.siblings, kind, () => ({ came: 0, waiting: 0, finishedAgesMs: [] }));
	}

	private loopState(watch: Watch): LoopState {
		const { came, waiting, finishedAgesMs } = this.siblingsOf(watch);
		const slotWanted = this.deps.slotWanted?.() === true;
		return {
			nowMs: this.deps.now(),
			random: this.deps.random(),
			siblingAgesMs: finishedAgesMs,
			slotWanted,
			endWanted: slotWanted || waiting <= came * LAST_SHARE,
		};
	}

	private async run(): Promise<void> {
		if (this.running) return;
		this.running = true;
		while (this.entries.size > 0) await this.sleepUntil(this.lookAtDue());
		this.running = false;
	}

	/** Begins the looks that are due, as far as there is capacity. Returns until when nothing else is due. */
	private lookAtDue(): number {
		const now = this.deps.now();
		const pausedUntil = this.deps.pausedUntil();
		const due: PolledTask[] = [];
		let until = Infinity;
		for (const entry of this.entries.values()) {
			if (entry.looking) continue;
			const { nextLookAt, watch } = entry.watched;
			// A paused account delays looks, but never the verdict at the deadline.
			const at = Math.max(nextLookAt, Math.min(pausedUntil, watch.deadline));
			// Its last look found no capacity in time.
			if (now >= lastMomentOf(entry)) this.finish(entry, entry.watched.timedOut());
			else if (at <= now) due.push(entry);
			else until = Math.min(until, at);
		}
		due.sort((a, b) => a.watched.nextLookAt - b.watched.nextLookAt);
		const free = Math.max(0, CONCURRENT_LOOKS - this.looksInFlight);
		for (const entry of due.slice(0, free)) void this.lookAt(entry);
		this.wantsCapacity = due.length > free;
		if (this.entries.size === 0) return now;
		// If all slots are taken, the end of a look wakes the loop, or else the moment at which a task is given up.
		return due.slice(free).reduce((next, entry) => Math.min(next, lastMomentOf(entry)), until);
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
		// The default reason is an error, whose stack costs time.
		if (at < this.sleepsUntil) this.alarm.abort('woken');
	}

	private finish(entry: PolledTask, result: Waited): void {
		if (!this.entries.delete(entry.watched.watch)) return;
		this.siblingsOf(entry.watched.watch).waiting -= 1;
		entry.resolve(result);
		this.wake(this.entries.size === 0 ? -Infinity : ANY_NEWS);
	}

	private async lookAt(entry: PolledTask): Promise<void> {
		const { watch } = entry.watched;
		entry.looking = true;
		this.looksInFlight += 1;
		const startedAt = this.deps.now();
		const timeoutMs = Math.min(POLL_LOOK_TIMEOUT_MS, lastMomentOf(entry) - startedAt);
		// A look that breaks is a failed look, never the end of the waiting.
		const look = await this.deps.look(watch, timeoutMs).catch((error: unknown): Look => ({
			kind: 'busy',
			detail: error instanceof Error ? error.message : 'the look failed',
		}));
		this.looksInFlight -= 1;
		entry.looking = false;
		if (this.entries.get(watch) === entry) this.applyLook(entry, look, startedAt);
		// Waking the loop for each look costs more than the look does.
		this.wake(this.wantsCapacity ? this.lookAtDue() : ANY_NEWS);
	}

	private applyLook(entry: PolledTask, look: Look, startedAt: number): void {
		const { watched } = entry;
		const { watch } = watched;
		// A look that lasted beyond the deadline was the last one.
		const isLast = startedAt >= watch.deadline || this.deps.now() > watch.deadline;
		const judged = watched.evaluate(look, this.loopState(watch));
		const end = isLast ? (judged ?? watched.timedOut()) : judged;
		if (end === undefined) return this.wake(watched.nextLookAt);
		this.finish(entry, end);
		if (end.kind === 'done' && watched.predictsSiblings) this.informSiblings(watched, startedAt);
	}

	/** One task of a kind is finished: look at the others of that kind at about the same age. */
	private informSiblings({ watch }: Watched, foundAt: number): void {
		const siblings = this.siblingsOf(watch);
		siblings.finishedAgesMs.push(Math.max(0, foundAt - watch.createdAt));
		if (siblings.finishedAgesMs.length > SIBLINGS_REMEMBERED) siblings.finishedAgesMs.shift();
		const loop = this.loopState(watch);
		for (const { watched, looking } of this.entries.values()) {
			const isDue = looking || watched.nextLookAt <= loop.nowMs;
			if (isDue || watched.watch.kind !== watch.kind) continue;
			watched.lookSoonerAfterSibling({ ...loop, random: this.deps.random() });
			this.wake(watched.nextLookAt);
		}
	}
}
