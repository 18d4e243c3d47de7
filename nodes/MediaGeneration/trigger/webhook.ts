/** Reads what was posted to a webhook, and refuses it in words. Source: docs/service.md, "Callbacks". */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { readJson } from '../base/bounded';
import { cleanerOf, logOf } from '../n8n/clean';
import { rawBodyOf } from '../n8n/webhookCall';
import { messageOf } from '../base/outcomes';
import { isObject } from '../base/json';
import { parseTask, taskIdOf, type Task } from '../answers/task';
import { POST, POSTED_HINT } from '../base/bounds';
import { idProblem } from '../base/pathPart';

/** The reason why a call starts nothing. With status 200 or 202 nothing is wrong, and the sender need not try again. */
export class CallRefusal extends Error {
	constructor(
		readonly status: number,
		message: string,
		/** `line` is for the log. */
		readonly more: { retryAfterS?: number; line?: string | undefined } = {},
	) {
		super(message);
	}
}

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
	const text = raw
		.subarray(0, bound.bytes)
		.toString()
		.replace(/^\uFEFF/, '');
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

/** Answers a call that failed: if a webhook throws, n8n 2.41 answers 200 and starts the workflow with an empty item. @param call as the log names it */
export function refuse(
	context: IWebhookFunctions,
	call: string,
	error: unknown,
): IWebhookResponseData {
	const { status, message, more } =
		error instanceof CallRefusal
			? error
			: new CallRefusal(503, 'the callback could not be handled, try again', {
					line: `${call} could not be handled: ${messageOf(error)}`,
				});
	const { line, retryAfterS = 5 } = more;
	if (line !== undefined) logOf(context).warn(line);
	const response = context.getResponseObject();
	if (response.headersSent) return { noWebhookResponse: true };
	const isIgnored = status < 300;
	const said = cleanerOf(context).text(message);
	const why = isIgnored ? { ignored: said } : { error: said };
	// A sender that tries again soon would find the same (RFC 9110, 10.2.3).
	if (status === 503) response.setHeader('Retry-After', retryAfterS);
	response.status(status).json({ received: isIgnored, ...why });
	// Without data, no workflow runs.
	return { noWebhookResponse: true };
}
