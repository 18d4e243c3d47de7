/** What an answer to a poll of a task means. Sources: docs/service.md, "Poll routes" and "HTTP". */
import { isObject } from '../base/json';
import { limitIn, retryAfterMs } from './limits';
import { deniesSuccess, type Reply } from './reply';
import { saidIn, type Said } from './said';
import { isAbout, layersOf, parseTask, type Task } from './task';

export type Poll =
	| { kind: 'task'; task: Task }
	/** The task has failed, but without an ID or beside `success: false`: that counts once another poll repeats it (`until.ts`). */
	| { kind: 'unclear'; task: Task; detail: string }
	/** Nothing usable came, try again: throttled, timed out, reset, 5xx, empty, HTML, malformed. */
	| { kind: 'busy'; detail: string; retryAfterMs?: number; httpStatus?: number }
	/** Every route that was tried answered 404. */
	| { kind: 'missing'; detail: string; httpStatus?: number }
	/** The service refused in its own words, with 401 or 403. A single one proves nothing, because throttling can resemble it; but what can never be read is `final`. */
	| { kind: 'denied'; detail: string; httpStatus?: number; final?: true };

export function readPoll(reply: Reply, taskId: string): Poll {
	if (!reply.answered) return { kind: 'busy', detail: reply.reason };
	const { status, body, unread } = reply;
	const said = saidIn(reply);
	const { words, isSilent } = said;
	const at = { detail: words, httpStatus: status };
	const succeeded = status >= 200 && status < 300;
	if (succeeded && unread !== undefined) return { kind: 'denied', ...at, final: true };
	// A page comes from something in between, which knows nothing about the key.
	const isJson = isObject(body) || reply.text === '';
	if ((status === 401 || status === 403) && isJson) return { kind: 'denied', ...at };
	if (status === 404) return { kind: 'missing', ...at };
	const task = succeeded ? parseTask(body, taskId) : undefined;
	if (task !== undefined) return aboutTask(task, taskId, said);
	const without = reply.text === '' ? 'with an empty body' : 'without a task';
	const detail = isSilent ? `${words} ${without}` : words;
	return { kind: 'busy', ...at, detail, retryAfterMs: retryAfterMs(reply.headers) };
}

function aboutTask(task: Task, taskId: string, said: Said): Poll {
	const { body, status } = said.answer;
	const isNamed = layersOf(body).some((layer) => isAbout(layer, taskId));
	const words = task.errorText === undefined ? '' : `: ${task.errorText}`;
	if (!isNamed && task.id !== undefined)
		return {
			kind: 'busy',
			detail: `HTTP ${status} with another task (${task.id})${words}`,
			httpStatus: status,
		};
	// The request may have failed, not the task: a throttled one can be answered with the status "error" (docs/service.md, "HTTP").
	const isDenied = deniesSuccess(body);
	if (task.state !== 'failed' || (isNamed && !isDenied)) return { kind: 'task', task };
	const beside = isNamed ? '"success": false' : 'no task ID';
	const detail = `HTTP ${status} with the status "${task.status}" and ${beside}${words}`;
	const isThrottled = !isNamed && limitIn(said) === 'rate';
	return isThrottled
		? { kind: 'busy', detail, httpStatus: status }
		: { kind: 'unclear', task, detail };
}
