/**
 * What an answer to a poll of a task means, and when it counts. One answer can be wrong: throttling resembles a refused key, and a young task
 * a missing one. Sources: docs/service.md, "Status", "Poll routes" and "HTTP".
 */
import { isObject } from '../base/json';
import { limitIn, retryAfterMs } from './limits';
import { deniesSuccess, isSuccessful, type Answer, type Reply } from './reply';
import { errorTextOf, saidIn } from './said';
import { isAbout, layersOf, parseTask, type Task } from './task';

export type Poll =
	| { kind: 'task'; task: Task }
	/** The task has failed, but without an ID, beside `success: false` or by a limit: the request may have failed instead, so it has to last. */
	| { kind: 'doubtful'; task: Task; detail: string }
	/** Nothing usable came, try again: throttled, timed out, reset, 5xx, empty, HTML, malformed. */
	| { kind: 'busy'; detail: string; retryAfterMs?: number; httpStatus?: number }
	/** Every route that was tried answered 404. */
	| { kind: 'missing'; detail: string; httpStatus?: number }
	/** The service refused in its own words, with 401 or 403. A single one proves nothing, because throttling can resemble it; but what can never be read is `final`. */
	| { kind: 'denied'; detail: string; httpStatus?: number; final?: true };

export function readPoll(reply: Reply, taskId: string): Poll {
	if (!reply.answered) return { kind: 'busy', detail: reply.reason };
	const { status, body, unread } = reply;
	const succeeded = isSuccessful(reply);
	const task = succeeded ? parseTask(body, taskId) : undefined;
	if (task !== undefined) return aboutTask(task, taskId, reply);
	const { words, isSilent } = saidIn(reply, []);
	const at = { detail: words, httpStatus: status };
	if (succeeded && unread !== undefined) return { kind: 'denied', ...at, final: true };
	// A page comes from something in between, which knows nothing about the key.
	const isJson = isObject(body) || reply.text === '';
	if ((status === 401 || status === 403) && isJson) return { kind: 'denied', ...at };
	if (status === 404 || status === 410) return { kind: 'missing', ...at };
	const without = reply.text === '' ? 'with an empty body' : 'without a task';
	const detail = isSilent ? `${words} ${without}` : words;
	return { kind: 'busy', ...at, detail, retryAfterMs: retryAfterMs(reply.headers) };
}

function aboutTask(task: Task, taskId: string, answer: Answer): Poll {
	const { body, status } = answer;
	const isNamed = layersOf(body).some((layer) => isAbout(layer, taskId));
	const isOther = !isNamed && task.id !== undefined;
	if (!isOther && task.state !== 'failed') return { kind: 'task', task };
	const reason = errorTextOf(task.raw);
	const words = reason === undefined ? '' : `: ${reason}`;
	if (isOther) {
		const detail = `HTTP ${status} with another task (${task.id})${words}`;
		return { kind: 'busy', detail, httpStatus: status };
	}
	// The request may have failed, not the task: a throttled one can be answered with the status "error" (docs/service.md, "HTTP").
	const isThrottled = limitIn(saidIn(answer, [])) === 'rate';
	const isDoubtful = !isNamed || deniesSuccess(body) || isThrottled;
	if (!isDoubtful) return { kind: 'task', task };
	const beside = deniesSuccess(body) ? ' and "success": false' : isNamed ? '' : ' and no task ID';
	const detail = `HTTP ${status} with the status "${task.status}"${beside}${words}`;
	return isThrottled && !isNamed
		? { kind: 'busy', detail, httpStatus: status }
		: { kind: 'doubtful', task, detail };
}

/** A refusal (401, 403, 404) or a doubtful failure counts after this many polls, the first of them this long ago. */
export interface RequiredRefusals {
	polls: number;
	ms: number;
}

/** Ends the wait for a paid task, polled or asleep. */
export const PAID: RequiredRefusals = { polls: 3, ms: 60_000 };
/** Ends any other question, which is asked once more. */
export const TWICE: RequiredRefusals = { polls: 2, ms: 0 };

/** What the polls of a task have shown so far. */
export interface Seen {
	/** How many unusable answers came in a row. */
	busy: number;
	/** Refusals and doubtful failures since the task was last shown. `since` is epoch ms. */
	refused: { polls: number; since: number };
	/** A doubtful failure that a poll has shown. */
	doubtful: Task | undefined;
	/** A callback said that the task failed, which counts as one poll once the service says the same. */
	reportedFailed: boolean;
}

export const UNSEEN: Seen = {
	busy: 0,
	refused: { polls: 0, since: 0 },
	doubtful: undefined,
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
		case 'doubtful':
		case 'denied':
		case 'missing': {
			const { doubtful, reportedFailed } = before;
			const polls = before.refused.polls + 1;
			const since = polls === 1 ? nowMs : before.refused.since;
			const refused = { polls, since };
			const isLasting = polls >= required.polls && nowMs - since >= required.ms;
			if (poll.kind === 'doubtful') {
				const { task } = poll;
				const isEnough = reportedFailed || (isLasting && doubtful !== undefined);
				const clear = isEnough ? ({ kind: 'task', task } as const) : undefined;
				return { seen: { ...seen, refused, doubtful: task }, clear };
			}
			const isFinal = poll.kind === 'denied' && poll.final === true;
			// A service can drop a task that failed.
			const isDropped = poll.kind === 'missing' && doubtful !== undefined;
			const end = isDropped ? ({ kind: 'task', task: doubtful } as const) : poll;
			return { seen: { ...seen, refused }, clear: isFinal || isLasting ? end : undefined };
		}
	}
}
