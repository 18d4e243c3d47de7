/**
 * Reading what was posted. Nothing of it is trusted: its size and shape are checked before it is parsed.
 * Source: docs/service.md, "Events".
 */
import type { IWebhookFunctions } from 'n8n-workflow';
import { taskIdProblem } from '../operations/fields';
import { readJson, type Bound, type Read } from '../service/bounded';
import { asText, isObject, type JsonObject } from '../service/json';

/** Bodies of real callbacks are a few kB. */
const POST: Bound = { bytes: 1_000_000, depth: 30, values: 20_000, text: 100_000 };

export type PostedBody =
	{ ok: true; taskId: string; body: JsonObject } | { ok: false; reason: string };

const refused = (reason: string): PostedBody => ({ ok: false, reason });

/** @param parsed what n8n has made of a body of another type, such as a form */
export function readPostedBody(raw: Buffer | undefined, parsed: unknown): PostedBody {
	if (raw !== undefined && raw.length > POST.bytes) return refused('the body is too large');
	const read = readPosted(raw, parsed);
	if (read.kind === 'beyondBound') return refused(`it is a body ${read.reason}`);
	const body = read.kind === 'json' ? read.value : undefined;
	if (!isObject(body)) return refused('the body is not a JSON object');
	const inner = typeof body.status !== 'string' && isObject(body.data) ? body.data : body;
	const taskId = asText(inner.id) ?? asText(inner.task_id);
	if (taskId === undefined) return refused('the body has no task id');
	return taskIdProblem(taskId) === undefined
		? { ok: true, taskId, body }
		: refused('the task id is malformed');
}

function readPosted(raw: Buffer | undefined, parsed: unknown): Read {
	const read = readJson((raw ?? Buffer.of()).toString().replace(/^\uFEFF/, ''), POST);
	if (read.kind !== 'notJson' || !isObject(parsed)) return read;
	try {
		return readJson(JSON.stringify(parsed), POST);
	} catch {
		return read;
	}
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
	if (request.rawBody === undefined && !(isObject(parsed) && Object.keys(parsed).length > 0))
		await request.readRawBody?.().catch(() => undefined);
	return readPostedBody(request.rawBody, parsed);
}
