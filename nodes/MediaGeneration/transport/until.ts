/**
 * When an answer about a task counts. One answer can be wrong: throttling looks like a refused key, and a young task like a missing one.
 * Sources: docs/service.md, "Status", "Poll routes" and "HTTP".
 */
import { backoffMs, type Backoff, type Clock } from '../base/clock';
import { seconds } from '../base/failures';
import type { Look } from './look';
import type { Task } from './task';

/** A refusal (401, 403, 404) counts after so many polls, the first of which was so long ago. */
export interface Proof {
	polls: number;
	ms: number;
}

/** A paid task is waited for until then, polled or asleep. */
export const PAID: Proof = { polls: 3, ms: 60_000 };

/** What the polls of a task have shown so far. */
export interface Seen {
	/** Unusable answers in a row. */
	busy: number;
	/** Refusals since the task was last shown. `since` is epoch ms. */
	refused: { polls: number; since: number };
	/** The end of the task by one poll under another ID or beside `success: false`: it counts once another poll repeats it. */
	unclear: Task | undefined;
	/** A callback said that the task failed, which counts as one poll once the service says the same. */
	reportedFailed: boolean;
}

export const UNSEEN: Seen = {
	busy: 0,
	refused: { polls: 0, since: 0 },
	unclear: undefined,
	reportedFailed: false,
};

export type Clear = Extract<Look, { kind: 'task' | 'denied' | 'missing' }>;

/** Adds a poll to the ones before. @returns also what is clear by now; undefined where another poll is needed */
export function weigh(
	before: Seen,
	look: Look,
	{ nowMs, proof }: { nowMs: number; proof: Proof },
): { seen: Seen; clear: Clear | undefined } {
	const seen = { ...before, busy: 0 };
	switch (look.kind) {
		case 'busy':
			return { seen: { ...seen, busy: before.busy + 1 }, clear: undefined };
		case 'task':
			return { seen: { ...UNSEEN, reportedFailed: before.reportedFailed }, clear: look };
		case 'doubtful': {
			const { task } = look;
			const isReported = before.reportedFailed && task.state === 'failed';
			const isRepeated = before.unclear !== undefined || isReported;
			const clear = isRepeated ? ({ kind: 'task', task } as const) : undefined;
			return { seen: { ...seen, unclear: task }, clear };
		}
		case 'denied':
		case 'missing': {
			const { unclear, refused } = before;
			// A service can drop a task that failed.
			if (look.kind === 'missing' && unclear?.state === 'failed')
				return { seen, clear: { kind: 'task', task: unclear } };
			const polls = refused.polls + 1;
			const since = refused.polls === 0 ? nowMs : refused.since;
			const isProved = polls >= proof.polls && nowMs - since >= proof.ms;
			return { seen: { ...seen, refused: { polls, since } }, clear: isProved ? look : undefined };
		}
	}
}

/** An answer counts after this many looks, the first of which was this long ago. A look that shows the task begins the count again. */
interface OldProof {
	looks: number;
	ms: number;
}

interface Proofs {
	/** The task is over, but under another ID or beside `success: false`. */
	doubtful: OldProof;
	/** The answers 401, 403 and 404 count together, as they can take turns. */
	refused: OldProof;
	busy: OldProof;
}

export interface Policy extends Proofs {
	/** Separates two looks, unless the answer asks for a longer pause. */
	pause: Backoff & { refusedMs?: number };
	/** If the service asks for a longer pause, the last look counts. */
	longestPauseMs: number;
}

const times = (looks: number): OldProof => ({ looks, ms: 0 });
const NEVER = times(Infinity);
const SHORT = { firstMs: 500, mostMs: 3_000 };
const FIRST = { firstMs: 250, mostMs: 2_000, refusedMs: 1_500 };

// prettier-ignore
export const LOOK_POLICIES = {
	/** A paid task is waited for, polled or asleep, by looks that `PollLoop` schedules: the deadline ends what is never clear. */
	wait:     { doubtful: times(2), refused: { looks: 3, ms: 60_000 }, busy: NEVER },
	/** One question is asked before an execution sleeps or wakes. */
	question: { doubtful: times(2), refused: times(1), busy: times(1), pause: SHORT, longestPauseMs: Infinity },
	/** A callback that anybody can have sent must not cost many requests; the time for its answer ends the rest. */
	callback: { doubtful: times(2), refused: times(2), busy: NEVER, pause: FIRST, longestPauseMs: Infinity },
	/** An operation that only shows a task shows what the service says. */
	show:     { doubtful: times(1), refused: times(1), busy: times(4), pause: SHORT, longestPauseMs: 60_000 },
	/** The cost of a new task is read, and that task can be unknown for a moment. */
	cost:     { doubtful: times(4), refused: times(4), busy: times(4), pause: SHORT, longestPauseMs: 10_000 },
} satisfies Record<string, Proofs | Policy>;

/** What is doubtful, or a refused key, is looked at again this much later. */
export const LOOK_AGAIN_MS = 2_500;

export type Unclear = 'doubtful' | 'refused' | 'busy';

const unclearBy = ({ kind }: Exclude<Look, { kind: 'task' }>): Unclear =>
	kind === 'denied' || kind === 'missing' ? 'refused' : kind;

/** Remembers what the looks at one task have said so far. */
export class Evidence {
	private readonly streaks = new Map<Unclear, { looks: number; since: number }>();
	/** One doubtful look has shown this failure. */
	private failedTask: Task | undefined;

	/** @param reportedFailed whether a callback says that the task failed, which counts as a look once the service says the same */
	constructor(
		private readonly policy: Proofs,
		public reportedFailed = false,
	) {}

	/** Counts the looks in a row that came to that; only a look that shows the task ends a streak, or any other one that of `busy`. */
	streak(kind: Unclear): number {
		return this.streaks.get(kind)?.looks ?? 0;
	}

	/** Returns the look that counts; undefined where another one is needed. */
	add(look: Look, nowMs: number): Look | undefined {
		if (look.kind !== 'busy') this.streaks.delete('busy');
		if (look.kind === 'task') {
			this.streaks.clear();
			this.failedTask = undefined;
			return look;
		}
		const kind = unclearBy(look);
		const since = this.streaks.get(kind)?.since ?? nowMs;
		const looks = this.streak(kind) + 1;
		this.streaks.set(kind, { looks, since });
		// A service can drop a task that failed.
		if (look.kind === 'missing' && this.failedTask !== undefined)
			return { kind: 'task', task: this.failedTask };
		const hasFailed = look.kind === 'doubtful' && look.task.state === 'failed';
		if (hasFailed) this.failedTask = look.task;
		const said = looks + Number(hasFailed && this.reportedFailed);
		const needed = this.policy[kind];
		if (said < needed.looks || nowMs - since < needed.ms) return undefined;
		return look.kind === 'doubtful' ? { kind: 'task', task: look.task } : look;
	}
}

export interface Looking extends Clock {
	signal?: AbortSignal | undefined;
	/** Epoch ms; no look begins after it. */
	deadline?: number;
	/** Epoch ms before which the account wants no look. */
	pausedUntil?: () => number;
	/** Tells whether a task that was seen says enough. */
	isEnough?: (task: Task) => boolean;
	reportedFailed?: boolean;
}

/**
 * Looks until an answer counts. When the patience ends, the last look counts, however unclear; but not the sight of a task that may have
 * changed while the service asked for a pause.
 */
export async function untilClear(
	look: () => Promise<Look>,
	policy: Policy,
	{ now, sleep, signal, deadline = Infinity, ...looking }: Looking,
): Promise<Look> {
	const { pausedUntil = () => 0, isEnough = () => true, reportedFailed } = looking;
	const evidence = new Evidence(policy, reportedFailed);
	let last: Look | undefined;
	for (let looks = 0; ; looks += 1) {
		const restMs = pausedUntil() - now();
		const pauseMs = Math.max(last === undefined ? 0 : pauseAfter(last, looks, policy), restMs);
		if (last?.kind === 'task' && restMs === pauseMs) last = undefined;
		if (signal?.aborted || pauseMs > policy.longestPauseMs || now() + pauseMs >= deadline)
			return last ?? unasked(restMs);
		if (pauseMs > 0) await sleep(pauseMs, signal);
		last = await look();
		const clear = evidence.add(last, now());
		if (clear !== undefined && (clear.kind !== 'task' || isEnough(clear.task))) return clear;
	}
}

function unasked(restMs: number): Look {
	const asked = restMs > 0 ? `the service asked for a pause of ${seconds(restMs)}` : undefined;
	return { kind: 'busy', detail: asked ?? 'the service was not asked' };
}

function pauseAfter(look: Look, looks: number, { pause }: Policy): number {
	if (look.kind === 'doubtful') return LOOK_AGAIN_MS;
	const refused = look.kind === 'denied' || look.kind === 'missing';
	if (refused && pause.refusedMs !== undefined) return pause.refusedMs;
	return backoffMs(looks, {
		...pause,
		retryAfterMs: look.kind === 'busy' ? look.retryAfterMs : undefined,
	});
}
