/** What an answer to a poll of a task means. Sources: docs/service.md, "Poll routes" and "HTTP". */
import { isObject } from '../base/json';
import { kindOf429, retryAfterMs } from './limits';
import type { Answer, Reply } from './reply';
import { wordsOf } from './said';
import { isSameId, parseTask, taskIdsIn, type Task } from './task';

export type Poll =
	| { kind: 'task'; task: Task }
	/** The task has ended, but under another ID or beside `success: false`: that counts once another poll repeats it (`until.ts`). */
	| { kind: 'unclear'; task: Task; detail: string }
	/** Nothing usable came, try again: throttled, timed out, reset, 5xx, empty, HTML, malformed. */
	| { kind: 'busy'; detail: string; retryAfterMs?: number; httpStatus?: number }
	/** Every route that was tried answered 404. */
	| { kind: 'missing'; detail: string; httpStatus?: number }
	/** The service refused in its own words, with 401 or 403. A single one is not proof: throttling can resemble it. */
	| { kind: 'denied'; detail: string; httpStatus: number };

export function readPoll(reply: Reply, taskId: string): Poll {
	if (!reply.answered) return { kind: 'busy', detail: reply.reason };
	const { status } = reply;
	const words = wordsOf(reply);
	// An HTML page comes from a proxy in between, which knows nothing about the key.
	const isFromProxy = !isObject(reply.body) && reply.text !== '';
	if ((status === 401 || status === 403) && !isFromProxy)
		return { kind: 'denied', detail: words ?? 'no reason given', httpStatus: status };
	if (status === 404) return { kind: 'missing', detail: words ?? 'HTTP 404', httpStatus: status };
	const task = status >= 200 && status < 300 ? parseTask(reply.body) : undefined;
	if (task !== undefined) return aboutTask(task, taskId, reply);
	const nameless = `HTTP ${status} ${reply.text === '' ? 'with an empty body' : 'without a task'}`;
	const wait = retryAfterMs(reply.headers);
	return { kind: 'busy', detail: words ?? nameless, httpStatus: status, retryAfterMs: wait };
}

function aboutTask(task: Task, taskId: string, { body, status }: Answer): Poll {
	const other = task.id;
	const isNamed = taskIdsIn(body).some((id) => isSameId(id, taskId));
	// The request may have failed, not the task: a throttled one can be answered with the status "error" (docs/service.md, "HTTP").
	const isDenied = task.state === 'failed' && isObject(body) && body.success === false;
	if (isNamed && !isDenied) return { kind: 'task', task };
	if (task.state !== 'failed' && other === undefined) return { kind: 'task', task };
	const words = task.errorText === undefined ? '' : `: ${task.errorText}`;
	const said = (seen: string) => `HTTP ${status} with ${seen}${words}`;
	const itsStatus = `the status "${task.status}" and`;
	if (isNamed) return { kind: 'unclear', task, detail: said(`${itsStatus} "success": false`) };
	const detail = said(other === undefined ? `${itsStatus} no task ID` : `another task (${other})`);
	return task.state !== 'running' && kindOf429(task.raw) !== 'rate'
		? { kind: 'unclear', task, detail }
		: { kind: 'busy', detail, httpStatus: status };
}
