/** What answers say of a task, and of the account. Sources: docs/service.md, "Resources", "States", "Shapes" and "Status". */
import type { IDataObject } from 'n8n-workflow';
import { asNumber, asText, isObject, recordsIn, type JsonObject } from './json';

export interface Task {
	id: string | undefined;
	/** `running` is every status that is neither `done` nor `error`. */
	state: 'running' | 'done' | 'failed';
	status: string;
	/** 0 to 100. */
	progress: number | undefined;
	type: string | undefined;
	/** Not fatal on a running task. */
	errorText: string | undefined;
	raw: JsonObject;
}

export function errorTextOf(body: JsonObject): string | undefined {
	const metadata = isObject(body.metadata) ? body.metadata : {};
	const { error_message, error, message, detail } = body;
	return [error_message, error, message, detail, metadata.error_message]
		.map((candidate) => asText(isObject(candidate) ? candidate.message : candidate))
		.find((text) => text !== undefined);
}

/** Whether an object says more about a task than a status, which answers of all kinds have. */
function describesTask({ id, task_id, type, metadata, progress }: JsonObject): boolean {
	const named = [id, task_id, type].some((value) => asText(value) !== undefined);
	return named || isObject(metadata) || progress !== undefined;
}

export const isDescribed = ({ raw }: Task) => describesTask(raw);

/** The task itself: at the root (docs/service.md, "Resources"), or wrapped as `{ success, data }` or `{ status: "success", data }`. */
function unwrapped(body: JsonObject): JsonObject {
	const { data } = body;
	if (!isObject(data)) return body;
	const inner = typeof data.status !== 'string' && isObject(data.task) ? data.task : data;
	if (typeof body.status !== 'string') return inner;
	return !describesTask(body) && typeof inner.status === 'string' ? inner : body;
}

/**
 * Reads a task from an answer or a callback's body. Undefined when the body is not a task: `success: false`, an object without a
 * status, or `{ status: "error", message: "Too many requests" }`, which is about the request, not about a task.
 */
export function parseTask(body: unknown): Task | undefined {
	if (!isObject(body)) return undefined;
	const raw = unwrapped(body);
	if (typeof raw.status !== 'string' || raw.status === '') return undefined;
	const id = asText(raw.id) ?? asText(raw.task_id);
	const { status } = raw;
	if (id === undefined && (body.success === false || (status === 'error' && !describesTask(raw))))
		return undefined;
	const progress = asNumber(raw.progress) ?? -1;
	return {
		id,
		state: status === 'done' ? 'done' : status === 'error' ? 'failed' : 'running',
		status,
		progress: progress >= 0 && progress <= 100 ? progress : undefined,
		type: asText(raw.type),
		errorText: errorTextOf(raw),
		raw,
	};
}

/** Whether any `task_id` stands in the text of an answer, however deep: then a task may exist, whatever else the answer says. */
export function mentionsTask(text: string): boolean {
	return /"task_?[iI]d"\s*:\s*(?:"[^"]|-?\d)/.test(text);
}

const isGiven = (value: unknown) => value !== undefined;

/** What stands under each of the names, at the root or under `data`. */
function placesOf(body: unknown, ...names: string[]): unknown[] {
	if (!isObject(body)) return [];
	const nested = isObject(body.data) ? body.data : {};
	return names.flatMap((name) => [body[name], nested[name]]);
}

/** The `task_id` of a creation's answer, at the root or under `data` (docs/service.md, "Endpoints"). */
export function taskIdOf(body: unknown): string | undefined {
	return placesOf(body, 'task_id', 'id').map(asText).find(isGiven);
}

/** The `task_id` in the text of an answer that is no JSON, or of which there is only the beginning. */
export function taskIdIn(text: string): string | undefined {
	const found = /"task_?[iI]d"\s*:\s*(?:"([^"\\]{1,500})"|(\d{1,40})\b)/.exec(text);
	return found?.[1] ?? found?.[2];
}

/** Also those beside a task that is wrapped. */
export function taskIdsIn(body: unknown): string[] {
	if (!isObject(body)) return [];
	return [body, unwrapped(body)]
		.flatMap(({ id, task_id, taskId }) => [id, task_id, taskId])
		.flatMap((id) => asText(id) ?? []);
}

export function creditsOf(body: unknown): number | undefined {
	if (!isObject(body)) return asNumber(body);
	return [...placesOf(body, 'credits', 'balance'), body.data].map(asNumber).find(isGiven);
}

/** The cost that an answer or a task names (docs/service.md, "Shapes"). */
export function costIn(body: JsonObject): number | undefined {
	const costs = placesOf(body, 'credit_cost', 'estimated_credits').map(asNumber);
	return costs.find((cost = -1) => cost >= 0);
}

export function creditsLeftIn(answer: JsonObject): number | undefined {
	return placesOf(answer, 'ec_remain_credits').map(asNumber).find(isGiven);
}

function saysNothing(error: unknown): boolean {
	if (typeof error === 'string') return error.trim() === '';
	if (typeof error === 'object') return error === null || Object.keys(error).length === 0;
	return error === undefined || error === false || error === 0;
}

/** Without an `error` that says nothing: n8n repeats a node whose first item has one, unless it is undefined, null or false. */
export function withoutEmptyError(fields: JsonObject): IDataObject {
	const { error, ...others } = fields;
	return (saysNothing(error) ? others : fields) as IDataObject;
}

export function apiKeysOf(body: unknown): JsonObject[] | undefined {
	const names = ['data', 'api_keys', 'apiKeys', 'keys', 'items', 'results'];
	return recordsIn(body, names)?.map((entry) => (isObject(entry) ? entry : { key: entry }));
}
