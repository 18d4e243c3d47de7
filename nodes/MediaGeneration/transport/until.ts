/** Asks about a task until an answer counts. Sources: docs/service.md, "Status", "Poll routes" and "HTTP". */
import { backoffMs } from '../base/backoff';
import type { Clock } from '../base/clock';
import { seconds } from '../base/words';
import type { ServiceClient } from './client';
import { pollTask, type PollRequest } from './pollTask';
import { countPoll, TWICE, UNSEEN, type Poll, type Seen } from '../answers/poll';
import type { Task } from '../answers/task';

/** Pause before a doubtful end or a refusal is polled again. */
export const CONFIRM_PAUSE_MS = 2_500;

/** Pause before a question is asked again, in ms. @param polls how often it was asked */
function pauseBeforeNext(poll: Poll, polls: number): number {
	if (poll.kind !== 'busy' && poll.kind !== 'task') return CONFIRM_PAUSE_MS;
	const retryAfterMs = poll.kind === 'busy' ? poll.retryAfterMs : undefined;
	return backoffMs(polls, { firstMs: 250, maxMs: 3_000, retryAfterMs });
}

/** Stands for an answer if none was asked for. @param pauseMs that the service asked for */
function unasked(pauseMs: number): Poll & { kind: 'busy' } {
	const asked = `the service asked for a pause of ${seconds(pauseMs)}`;
	return { kind: 'busy', detail: pauseMs > 0 ? asked : 'the service was not asked' };
}

const MOST_POLLS = 4;
/** Nobody waits longer for an answer to a question. */
const LONGEST_WAIT_MS = 60_000;

interface Question extends PollRequest, Partial<Pick<Seen, 'reportedFailed'>> {
	/** Epoch ms. Replaces the limits on polls and pauses. */
	askUntil?: number;
	/** Whether a doubtful failure counts once it is repeated; else it has to last longer than a question. */
	doubtfulCounts?: boolean;
	/** Whether the task as the service shows it is an answer. If it never is, its last state is. */
	isEnough?: (task: Task) => boolean;
}

/** Polls a task until an answer counts. After the last poll, its answer does. */
export async function askUntilClear(
	client: ServiceClient,
	{ reportedFailed = false, doubtfulCounts, askUntil, isEnough, purpose = 'poll', ...at }: Question,
	{ now, sleep }: Clock,
): Promise<Poll> {
	const { account } = client;
	let seen: Seen = { ...UNSEEN, reportedFailed };
	let last: Poll | undefined;
	for (let asked = 0; ; asked += 1) {
		const pausedUntil = Math.max(account.pausedUntil('poll'), account.pausedUntil(purpose));
		const restMs = Math.max(0, pausedUntil - now());
		const pauseMs = Math.max(restMs, last === undefined ? 0 : pauseBeforeNext(last, asked));
		const isLast =
			askUntil === undefined
				? asked >= MOST_POLLS || pauseMs > LONGEST_WAIT_MS
				: now() + pauseMs >= askUntil;
		if (at.signal?.aborted === true || isLast) return last ?? unasked(restMs);
		if (pauseMs > 0) await sleep(pauseMs, at.signal);
		last = await pollTask(client, { ...at, purpose }, now);
		const counted = countPoll(seen, last, { nowMs: now(), required: TWICE });
		const isDoubted =
			doubtfulCounts !== true &&
			counted.clear?.kind === 'task' &&
			last.kind !== 'task' &&
			!reportedFailed;
		if (isDoubted && askUntil === undefined) return last;
		const clear = isDoubted ? undefined : counted.clear;
		if (clear !== undefined && (clear.kind !== 'task' || isEnough?.(clear.task) !== false))
			return clear;
		last = clear ?? last;
		seen = counted.seen;
	}
}
