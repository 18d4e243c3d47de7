/**
 * When an answer about a task counts. One answer can be wrong: throttling resembles a refused key, and a young task a missing one.
 * Sources: docs/service.md, "Status", "Poll routes" and "HTTP".
 */
import { backoffMs } from '../base/backoff';
import type { Clock } from '../base/clock';
import { seconds } from '../base/words';
import type { ServiceClient } from './client';
import { pollTask, type PollRequest } from './pollTask';
import type { Poll } from '../answers/poll';
import type { Task } from '../answers/task';

/** A refusal (401, 403, 404) counts after this many polls, the first of them this long ago. */
export interface RequiredRefusals {
	polls: number;
	ms: number;
}

/** Ends the wait for a paid task, polled or asleep. */
export const PAID: RequiredRefusals = { polls: 3, ms: 60_000 };
/** For any other question, which is asked once more. */
export const TWICE: RequiredRefusals = { polls: 2, ms: 0 };

/** What the polls of a task have shown so far. */
export interface Seen {
	/** Unusable answers in a row. */
	busy: number;
	/** Refusals since the task was last shown. `since` is epoch ms. */
	refused: { polls: number; since: number };
	/** The task's failure as one poll showed it, without an ID or beside `success: false`: it counts once another poll repeats it. */
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

export type Clear = Extract<Poll, { kind: 'task' | 'denied' | 'missing' }>;

/** Adds a poll to the ones before. @returns also what is clear by now; undefined if another poll is needed */
export function countPoll(
	before: Seen,
	poll: Poll,
	{ nowMs, required }: { nowMs: number; required: RequiredRefusals },
): { seen: Seen; clear: Clear | undefined } {
	const seen = { ...before, busy: 0 };
	switch (poll.kind) {
		case 'busy':
			return { seen: { ...seen, busy: before.busy + 1 }, clear: undefined };
		case 'task':
			return { seen: { ...UNSEEN, reportedFailed: before.reportedFailed }, clear: poll };
		case 'unclear': {
			const { task } = poll;
			const isRepeated = before.unclear !== undefined || before.reportedFailed;
			const clear = isRepeated ? ({ kind: 'task', task } as const) : undefined;
			return { seen: { ...seen, unclear: task }, clear };
		}
		case 'denied':
		case 'missing': {
			const { unclear, refused } = before;
			// A service can drop a task that failed.
			if (poll.kind === 'missing' && unclear !== undefined)
				return { seen, clear: { kind: 'task', task: unclear } };
			const polls = refused.polls + 1;
			const since = refused.polls === 0 ? nowMs : refused.since;
			const isFinal = poll.kind === 'denied' && poll.final === true;
			const isEnough = isFinal || (polls >= required.polls && nowMs - since >= required.ms);
			return { seen: { ...seen, refused: { polls, since } }, clear: isEnough ? poll : undefined };
		}
	}
}

/** Pause before an unclear end or a refusal is polled again. */
export const UNCLEAR_PAUSE_MS = 2_500;

/** Pause before a question is asked again, in ms. @param polls how often it was asked */
export function pauseBeforeNext(poll: Poll, polls: number): number {
	if (poll.kind !== 'busy' && poll.kind !== 'task') return UNCLEAR_PAUSE_MS;
	const retryAfterMs = poll.kind === 'busy' ? poll.retryAfterMs : undefined;
	return backoffMs(polls, { firstMs: 250, maxMs: 3_000, retryAfterMs });
}

/** Stands for an answer if none was asked for. @param pauseMs that the service asked for */
export function unasked(pauseMs: number): Poll & { kind: 'busy' } {
	const asked = `the service asked for a pause of ${seconds(pauseMs)}`;
	return { kind: 'busy', detail: pauseMs > 0 ? asked : 'the service was not asked' };
}

const MOST_POLLS = 4;
/** Nobody waits longer for an answer to a question. */
const LONGEST_WAIT_MS = 60_000;

interface Question extends PollRequest, Partial<Pick<Seen, 'reportedFailed'>> {
	/** Epoch ms. Replaces the limits on polls and pauses. */
	askUntil?: number;
	/** Whether the task as the service shows it is an answer. If it never is, its last state is. */
	isEnough?: (task: Task) => boolean;
}

/** Polls a task until an answer counts. After the last poll, its answer does. */
export async function askUntilClear(
	client: ServiceClient,
	{ reportedFailed = false, askUntil, isEnough, ...at }: Question,
	{ now, sleep }: Clock,
): Promise<Poll> {
	const { account } = client;
	let seen: Seen = { ...UNSEEN, reportedFailed };
	let last: Poll | undefined;
	for (let asked = 0; ; asked += 1) {
		const pausedUntil = Math.max(
			account.pausedUntil('poll'),
			account.pausedUntil(at.purpose ?? 'poll'),
		);
		const restMs = Math.max(0, pausedUntil - now());
		const pauseMs = Math.max(restMs, last === undefined ? 0 : pauseBeforeNext(last, asked));
		const isLast =
			askUntil === undefined
				? asked >= MOST_POLLS || pauseMs > LONGEST_WAIT_MS
				: now() + pauseMs >= askUntil;
		if (at.signal?.aborted === true || isLast) return last ?? unasked(restMs);
		if (pauseMs > 0) await sleep(pauseMs, at.signal);
		last = await pollTask(client, at, now);
		const counted = countPoll(seen, last, { nowMs: now(), required: TWICE });
		const { clear } = counted;
		if (clear !== undefined && (clear.kind !== 'task' || isEnough?.(clear.task) !== false))
			return clear;
		last = clear ?? last;
		seen = counted.seen;
	}
}
