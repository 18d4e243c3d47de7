/** Reads what was posted to a webhook. Source: docs/service.md, "Callbacks". */
import type { IWebhookFunctions } from 'n8n-workflow';
import { readJson } from '../base/bounded';
import { CallRefusal, rawBodyOf } from '../n8n/webhookCall';
import { isObject } from '../base/json';
import { parseTask, taskIdOf, type Task } from '../answers/task';
import { POST, POSTED_HINT } from '../base/bounds';
import { idProblem } from '../base/url';

export interface Posted {
	taskId: string;
	/** What the sender says about the task; undefined if the body only names it. */
	task: Task | undefined;
}

/**
 * Reads a post as JSON, whatever its stated type. Throws a CallRefusal if it names no task.
 * @param isHint whether only the ID and the status count, because the service is asked for the rest
 */
export async function postedTo(context: IWebhookFunctions, isHint = true): Promise<Posted> {
	const raw = (await rawBodyOf(context)) ?? Buffer.of();
	const bound = isHint ? POSTED_HINT : POST;
	// It drops a byte order mark.
	const text = new TextDecoder().decode(raw.subarray(0, bound.bytes));
	const { body, unread } = readJson(text, bound, raw.length <= bound.bytes);
	if (unread !== undefined) throw new CallRefusal(400, `it is a body ${unread}`);
	if (!isObject(body)) throw new CallRefusal(400, 'the body is not a JSON object');
	const task = parseTask(body);
	const taskId = task?.id ?? taskIdOf(body);
	if (taskId === undefined) throw new CallRefusal(400, 'the body has no task id');
	const problem = idProblem(taskId);
	if (problem !== undefined) throw new CallRefusal(400, `the task id ${problem}`);
	return { taskId, task };
}
