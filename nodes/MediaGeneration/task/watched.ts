/**
 * Knows of one task that is waited for what was seen of it, and when to look next. A failed look is never a failed task: only the
 * service's word, the deadline, a key that is refused again and again, or a task that stays unknown for good end the waiting.
 */
import * as failures from '../transport/taskFailures';
import { backoffMs } from '../base/clock';
import type { Failure } from '../base/failures';
import type { Look } from '../transport/look';
import type { Task } from '../transport/task';
import { Evidence, LOOK_AGAIN_MS, LOOK_POLICIES } from '../transport/until';
import { verdictOf, withoutFiles, type Ended } from '../transport/verdict';
import {
	areShort,
	asleepInterval,
	busyDelay,
	FIRST_LOOK_MS,
	firstLookAsleep,
	nextLook,
	type Known,
	type ProgressSample,
} from './schedule';
import type { Watch } from './wait';

export type Waited =
	| Ended
	/** It was released unfinished, so that the execution can sleep. */
	| { kind: 'released'; task: Task | undefined };

const LOOKS_FOR_OUTPUTS = 3;
const DELAY_FOR_OUTPUTS_MS = 1_000;
/** Refusals have to last for a minute, so this pause makes six looks at most. */
const MAX_REFUSED_PAUSE_MS = 30_000;
/** The first looks at siblings are spread evenly over this period. */
const TURNS_MS = 1_500;
const GOLDEN_RATIO = 0.618_034;

/** Looks come at growing intervals for this long after a callback that the service does not confirm yet. */
const HURRY_MS = 30_000;
const MIN_HURRY_INTERVAL_MS = 500;

/** Loop state that affects a task. */
export interface LoopState extends Pick<Known, 'siblingAgesMs' | 'endWanted'> {
	nowMs: number;
	random: number;
	/** True if creations wait for a place: then a look costs less than a creation that is refused. */
	slotWanted: boolean;
}

export class Watched {
	nextLookAt: number;
	lastTask: Task | undefined;
	readonly firstSeenAt: number;
	private readonly samples: ProgressSample[] = [];
	private byAgeMs = 0;
	private readonly evidence = new Evidence(LOOK_POLICIES.wait);
	private lastLook: Look | undefined;
	private looksWithoutOutputs = 0;
	private hurriedAt = -Infinity;

	/**
	 * Siblings are looked at in turns, as the first one that has ended shows when to look at the others.
	 * @param turn how many came before
	 */
	constructor(
		readonly watch: Watch,
		turn: number,
		loop: LoopState,
	) {
		const { nowMs, random, siblingAgesMs } = loop;
		this.firstSeenAt = nowMs;
		this.nextLookAt = nowMs;
		const age = this.ageAt(nowMs);
		if (watch.pace === 'asleep') this.schedule(nowMs, firstLookAsleep(age, loop.slotWanted));
		else if (watch.pace === 'poll' && age < FIRST_LOOK_MS) {
			const later = ((turn * GOLDEN_RATIO) % 1) * TURNS_MS;
			if (areShort(siblingAgesMs)) this.scheduleNext(loop);
			else this.schedule(nowMs, (FIRST_LOOK_MS - age) * (0.8 + 0.4 * random) + later);
		}
	}

	/** Returns the end that a look brought, or undefined once the next look is scheduled. */
	evaluate(look: Look, loop: LoopState): Waited | undefined {
		const { nowMs } = loop;
		const { taskId } = this.watch;
		this.lastLook = look;
		if (look.kind === 'task') this.lastTask = look.task;
		const clear = this.evidence.add(look, nowMs);
		if (clear?.kind === 'task') return this.evaluateTask(clear.task, loop);
		if (clear?.kind === 'denied') return this.failed(failures.denied(taskId, clear));
		if (clear?.kind === 'missing') return this.failed(failures.taskMissing(taskId, clear));
		switch (look.kind) {
			case 'busy': {
				const streak = this.evidence.streak('busy');
				const busy = { streak, ageMs: this.ageAt(nowMs), retryAfterMs: look.retryAfterMs };
				return this.schedule(nowMs, busyDelay(busy, loop.random));
			}
			case 'denied': {
				const pause = { firstMs: LOOK_AGAIN_MS, mostMs: MAX_REFUSED_PAUSE_MS };
				return this.schedule(nowMs, backoffMs(this.evidence.streak('refused'), pause));
			}
			case 'doubtful':
				return this.schedule(nowMs, LOOK_AGAIN_MS);
			default:
				return this.scheduleNext(loop);
		}
	}

	/** A caller says that the task is over; the service's own answer can lag behind for a while. */
	hurry(nowMs: number, reportedFailed: boolean): void {
		this.evidence.reportedFailed ||= reportedFailed;
		if (!this.isConfirming) this.nextLookAt = nowMs;
		this.hurriedAt = nowMs;
	}

	timedOut(): Waited {
		const { taskId, deadline, createdAt } = this.watch;
		const { lastTask: task, lastLook: look } = this;
		if (task?.state === 'done' && task.id !== undefined) return withoutFiles(taskId, task);
		const detail = look === undefined || look.kind === 'task' ? undefined : look.detail;
		return this.failed(failures.timedOut(taskId, deadline - createdAt, { task, detail }));
	}

	cancelled(): Waited {
		return this.failed(failures.cancelled(this.watch.taskId, this.lastTask?.status));
	}

	/** A sibling was found finished: looks sooner, if that helps. What the service asked for is kept. */
	lookSoonerAfterSibling(loop: LoopState): void {
		if (this.watch.pace === 'atOnce' || this.lastLook?.kind === 'busy' || this.isConfirming) return;
		const next = this.plan(loop);
		if (loop.nowMs + next.delayMs >= this.nextLookAt) return;
		this.byAgeMs = next.byAgeMs;
		this.schedule(loop.nowMs, next.delayMs);
	}

	/** True if the next look is to repeat what the last one found. It comes no sooner, as one refusal can come from throttling. */
	private get isConfirming(): boolean {
		return this.lastLook?.kind === 'denied' || this.evidence.streak('doubtful') > 0;
	}

	get predictsSiblings(): boolean {
		return this.watch.pace !== 'atOnce' && this.looksWithoutOutputs === 0;
	}

	private ageAt(nowMs: number): number {
		return Math.max(0, nowMs - this.watch.createdAt);
	}

	private evaluateTask(task: Task, loop: LoopState): Waited | undefined {
		const { taskId, echoes } = this.watch;
		const verdict = verdictOf(taskId, task, echoes);
		if (verdict.kind !== 'running') return verdict;
		if (task.state === 'done') {
			if (this.looksWithoutOutputs >= LOOKS_FOR_OUTPUTS) return withoutFiles(taskId, task);
			this.looksWithoutOutputs += 1;
			return this.schedule(loop.nowMs, DELAY_FOR_OUTPUTS_MS * this.looksWithoutOutputs);
		}
		if (task.progress !== undefined)
			this.samples.push({ ageMs: this.ageAt(loop.nowMs), progress: task.progress });
		return this.scheduleNext(loop);
	}

	private failed(failure: Failure): Waited {
		return { kind: 'failed', failure, task: this.lastTask };
	}

	private plan({ nowMs, random, siblingAgesMs, endWanted }: LoopState) {
		const { samples, byAgeMs } = this;
		const ageMs = this.ageAt(nowMs);
		return nextLook({ ageMs, samples, siblingAgesMs, endWanted, byAgeMs }, random);
	}

	private scheduleNext(loop: LoopState): undefined {
		const { nowMs } = loop;
		const sinceHurry = nowMs - this.hurriedAt;
		if (sinceHurry < HURRY_MS)
			return this.schedule(nowMs, Math.max(MIN_HURRY_INTERVAL_MS, sinceHurry));
		if (this.watch.pace === 'asleep' && !loop.slotWanted)
			return this.schedule(nowMs, asleepInterval(this.ageAt(nowMs)));
		const { delayMs, byAgeMs } = this.plan(loop);
		this.byAgeMs = byAgeMs;
		return this.schedule(nowMs, delayMs);
	}

	private schedule(nowMs: number, delayMs: number): undefined {
		this.nextLookAt = Math.min(nowMs + delayMs, Math.max(this.watch.deadline, nowMs));
	}
}
