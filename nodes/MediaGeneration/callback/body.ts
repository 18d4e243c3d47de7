/**
 * Reading what was posted. Nothing of it is trusted: size and shape are checked before anything else.
 * Source: docs/service.md, "Events".
 */
import type { IWebhookFunctions } from 'n8n-workflow';
import { taskIdProblem } from '../operations/fields';
import { type JsonObject, asText, isObject, parseJson } from '../service/json';

/** Bodies of real callbacks are a few kB. */
const MAX_BODY_BYTES = 1_000_000;
const MAX_DEPTH = 30;
const MAX_FIELD_LENGTH = 100_000;

export type PostedBody =
	{ ok: true; taskId: string; body: JsonObject } | { ok: false; reason: string };

function tooDeepOrLong(value: unknown, depth = 0): boolean {
	if (typeof value === 'string') return value.length > MAX_FIELD_LENGTH;
	if (typeof value !== 'object' || value === null) return false;
	return (
		depth >= MAX_DEPTH ||
		Object.entries(value).some(
			([key, entry]) => key.length > 1_000 || tooDeepOrLong(entry, depth + 1),
		)
	);
}

/** The body as n8n parsed it, or parsed here where the sender called it something other than `application/json`. */
export function postedValue(parsed: unknown, rawBody: Buffer | undefined): unknown {
	if (!isUnparsed(parsed) || rawBody === undefined || rawBody.length > MAX_BODY_BYTES)
		return parsed;
	return parseJson(rawBody.toString()) ?? parsed;
}

function isUnparsed(body: unknown): boolean {
	return (
		body === undefined ||
		typeof body === 'string' ||
		(isObject(body) && Object.keys(body).length === 0)
	);
}

/** @param bytes length of the raw body, where it is known */
export function readPostedBody(body: unknown, bytes: number | undefined): PostedBody {
	if (bytes !== undefined && bytes > MAX_BODY_BYTES)
		return { ok: false, reason: 'the body is too large' };
	if (!isObject(body)) return { ok: false, reason: 'the body is not a JSON object' };
	if (tooDeepOrLong(body))
		return { ok: false, reason: 'the body is nested too deeply or has oversized fields' };
	const inner = typeof body.status !== 'string' && isObject(body.data) ? body.data : body;
	const taskId = asText(inner.id) ?? asText(inner.task_id);
	if (taskId === undefined) return { ok: false, reason: 'the body has no task id' };
	return taskIdProblem(taskId) === undefined
		? { ok: true, taskId, body }
		: { ok: false, reason: 'the task id is malformed' };
}

/** What n8n adds to a request. */
type CallbackRequest = ReturnType<IWebhookFunctions['getRequestObject']> & {
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
};

/** What was posted to a webhook of n8n, whatever its sender says of the content type. */
export async function postedTo(context: IWebhookFunctions): Promise<PostedBody> {
	const request = context.getRequestObject() as CallbackRequest;
	const parsed: unknown = context.getBodyData();
	// n8n does not read a body whose type it does not know. A body that can't be read counts as missing.
	if (request.rawBody === undefined && isUnparsed(parsed))
		await request.readRawBody?.().catch(() => undefined);
	const { rawBody } = request;
	return readPostedBody(postedValue(parsed, rawBody), rawBody?.length);
}
