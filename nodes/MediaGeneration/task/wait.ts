/**
 * Waits for one paid task. A poll without a result never fails a task: only the service's own word, a lasting refusal, or the deadline
 * ends the wait. Sources: docs/service.md, "Status", "Poll routes" and "HTTP".
 */
import { backoffMs } from '../base/backoff';
import type { Clock } from '../base/clock';
import type { Limiter } from '../base/limiter';
import type { ServiceClient } from '../transport/client';
import { pollTask } from '../transport/pollTask';
import { countPoll, PAID, UNSEEN, type Poll, type Seen } from '../answers/poll';
import type { Task } from '../answers/task';
import { notShown, timedOut } from '../answers/failures';
import { CONFIRM_PAUSE_MS } from '../transport/until';
import { verdictOf, withoutFiles, type Ended, type Made } from '../answers/verdict';
import { pace, rarePace } from './pace';

/** A task to wait for. Times are epoch ms. */
export interface Watch extends Made {
	taskId: string;
	createdAt: number;
	/** Time of the last poll, so that a task that finished in time is not given up. */
	deadline: number;
	/** Whether the user gave its ID: it may have ended long ago, or not exist. */
	named: boolean;
	/** Whether the service has shown it before. */
	seen?: boolean;
	/** Whether the service reports its end to the sleeping execution, so that it is polled rarely. */
	callsBack?: boolean;
}

export type Waited =
	| Ended
	/** A signal ended the wait. */
	| { kind: 'released'; task: Task | undefined };

export interface Polling extends Clock {
	client: ServiceClient;
	/** Shared by the tasks of a run. */
	polls: Limiter;
	/** Ends the wait at once. */
	signal: AbortSignal;
	/** Ends the wait after one more poll: the execution falls asleep, and a callback that came before will not come again. */
	sleepSoon?: AbortSignal;
}

const SHORTEST_PAUSE_MS = 1_000;

/** What the polls so far have shown. */
interface SoFar {
	kind: 'running';
	seen: Seen;
	last: Poll | undefined;
	/** The task as last shown. */
	task: Task | undefined;
	/** Polls that showed it as done but without a file. */
	fileless: number;
}

/** Never polls during the account's pause, except once at the deadline. */
export async function waitForTask(watch: Watch, polling: Polling): Promise<Waited> {
	const { client, polls, signal, sleepSoon, now, sleep } = polling;
	const { taskId, createdAt, deadline } = watch;
	const woken = sleepSoon === undefined ? signal : AbortSignal.any([signal, sleepSoon]);
	// The last poll may run this far beyond the deadline.
	const end = Math.max(deadline, now()) + 2_000;
	const age = () => Math.max(0, now() - createdAt);
	const pausedUntil = () => Math.min(client.account.pausedUntil('poll'), deadline);
	const ask = async (): Promise<Poll | undefined> => {
		const longestMs = sleepSoon?.aborted ? 5_000 : 20_000;
		const timeoutMs = Math.min(longestMs, end - now());
		if (signal.aborted || pausedUntil() > now() || timeoutMs <= 0) return undefined;
		return await pollTask(client, { ...watch, timeoutMs, signal }, now);
	};
	const none = { last: undefined, task: undefined, fileless: 0 };
	let soFar: SoFar = { kind: 'running', seen: UNSEEN, ...none };
	let next = now() + (watch.named ? 0 : Math.max(0, pace(0) - age()));
	for (;;) {
		const until = Math.max(Math.min(next, deadline), pausedUntil());
		if (until > now()) await sleep(until - now(), woken);
		// Undefined if the account was paused, or the time ran out, before its turn came.
		const poll = await polls.run(ask);
		if (poll !== undefined) {
			const decided = decide(watch, soFar, { poll, nowMs: now() });
			const { task } = decided;
			if (task !== undefined && task.state !== 'running') client.account.made.noteEnd(taskId);
			if (decided.kind !== 'running') return decided;
			soFar = decided;
			const pauseMs = nextPause(poll, { ...soFar, ageMs: age() });
			// An end that was seen is confirmed soon, because its callback may be lost.
			const hasEnded = poll.kind === 'doubtful' || task?.state === 'done';
			next = now() + Math.max(pauseMs, watch.callsBack && !hasEnded ? rarePace(age()) : 0);
		}
		if (signal.aborted) return { kind: 'released', task: soFar.task };
		if (now() >= deadline) return outOfTime(watch, soFar);
		if (sleepSoon?.aborted) return { kind: 'released', task: soFar.task };
	}
}

function decide(
	watch: Watch,
	before: SoFar,
	{ poll, nowMs }: { poll: Poll; nowMs: number },
): SoFar | Ended {
	const { taskId } = watch;
	// If no poll has shown a task whose ID the user gave, that ID is mistyped.
	const isMistyped =
		watch.named && !watch.seen && before.task === undefined && poll.kind === 'missing';
	const required = isMistyped ? { polls: 2, ms: 10_000 } : PAID;
	const { seen, clear } = countPoll(before.seen, poll, { nowMs, required });
	const soFar = { ...before, seen, last: poll };
	if (clear === undefined) return soFar;
	if (clear.kind !== 'task')
		return { kind: 'failed', failure: notShown(taskId, clear), task: before.task };
	const { task } = clear;
	const verdict = verdictOf(taskId, task, watch);
	if (verdict.kind !== 'running') return verdict;
	if (task.state !== 'done') return { ...soFar, task };
	const fileless = before.fileless + 1;
	return fileless > 3 ? withoutFiles(taskId, task, watch) : { ...soFar, task, fileless };
}

function nextPause(poll: Poll, { seen, fileless, ageMs }: SoFar & { ageMs: number }): number {
	switch (poll.kind) {
		case 'task':
			if (poll.task.state === 'done') return fileless * SHORTEST_PAUSE_MS;
			return pace(ageMs, poll.task.progress);
		case 'busy': {
			const growing = { firstMs: SHORTEST_PAUSE_MS, maxMs: pace(ageMs) };
			return backoffMs(seen.busy, { ...growing, retryAfterMs: poll.retryAfterMs });
		}
		case 'doubtful':
		case 'denied':
			return backoffMs(seen.refused.polls, { firstMs: CONFIRM_PAUSE_MS, maxMs: PAID.ms / 4 });
		case 'missing':
			return backoffMs(seen.refused.polls, {
				firstMs: SHORTEST_PAUSE_MS,
				maxMs: CONFIRM_PAUSE_MS,
			});
	}
}

function outOfTime(watch: Watch, { task, last }: SoFar): Ended {
	const { taskId, deadline, createdAt } = watch;
	if (task?.state === 'done' && task.id !== undefined) return withoutFiles(taskId, task, watch);
	const detail = last === undefined || last.kind === 'task' ? undefined : last.detail;
	const failure = timedOut(taskId, deadline - createdAt, { task, detail });
	return { kind: 'failed', failure, task };
}
