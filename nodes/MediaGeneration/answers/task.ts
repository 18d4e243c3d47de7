/** Reads what answers say about a task and about the account. Sources: docs/service.md, "Resources", "Shapes" and "Status". */
import { asNumber, asText, isGiven, isObject, type JsonObject } from '../base/json';
import { errorTextOf } from './said';

export interface Task {
	id: string | undefined;
	/** `running` is every status that is neither `done` nor `error`. */
	state: 'running' | 'done' | 'failed';
	status: string;
	/** 0 to 100. */
	progress: number | undefined;
	type: string | undefined;
	/** A running task can have one, too. */
	errorText: string | undefined;
	raw: JsonObject;
}

/** Tells whether an object says more about a task than a status, which answers of all kinds have. */
export function describesTask({ id, task_id, type, metadata, progress }: JsonObject): boolean {
	const named = [id, task_id, type].some((value) => asText(value) !== undefined);
	return named || isObject(metadata) || progress !== undefined;
}

/** Lists what an answer, a callback or a record of a list may be: itself, and what it wraps, as in `{ success, data: { task: {...} } }`. From the outside in. */
function layersOf(body: unknown, depth = 0): JsonObject[] {
	if (!isObject(body) || depth > 2) return [];
	return [body, ...['data', 'result', 'task'].flatMap((name) => layersOf(body[name], depth + 1))];
}

const hasStatus = ({ status }: JsonObject) => typeof status === 'string' && status !== '';

/** Finds the task itself (docs/service.md, "Resources" and "Shapes"): a status alone can be that of the request. */
function unwrapped(body: JsonObject): JsonObject {
	const layers = layersOf(body).filter(hasStatus);
	return layers.find(describesTask) ?? layers.at(-1) ?? body;
}

/**
 * Reads a task from an answer or a callback's body. Undefined when the body is not a task: `success: false`, an object without a
 * status, or `{ status: "error", message: "Too many requests" }`, which is about the request, not about a task.
 */
export function parseTask(body: unknown): Task | undefined {
	if (!isObject(body)) return undefined;
	const raw = unwrapped(body);
	if (typeof raw.status !== 'string' || raw.status === '') return undefined;
	const id = idOf(raw);
	const { status } = raw;
	if (id === undefined && (body.success === false || (status === 'error' && !describesTask(raw))))
		return undefined;
	const unlessDone = status === 'error' ? 'failed' : 'running';
	const progress = asNumber(raw.progress) ?? -1;
	return {
		id,
		state: status === 'done' ? 'done' : unlessDone,
		status,
		progress: progress >= 0 && progress <= 100 ? progress : undefined,
		type: asText(raw.type),
		errorText: errorTextOf(raw),
		raw,
	};
}

/** Tells whether an answer's text contains any `task_id`, however deep: then a task may exist, whatever else the answer says. */
export function mentionsTask(text: string): boolean {
	return /"task_?id"\s*:\s*(?:"[^"]|-?\d)/i.test(text);
}

/** Lists the values of the given names, in all layers of an answer. */
export function placesOf(body: unknown, ...names: string[]): unknown[] {
	const layers = layersOf(body);
	return names.flatMap((name) => layers.map((layer) => layer[name]));
}

const idOf = ({ id, task_id, taskId }: JsonObject) =>
	[task_id, taskId, id].map(asText).find(isGiven);

/** An ID in capital letters is the same ID. */
export const isSameId = (one: string, other: string): boolean =>
	one.toLowerCase() === other.toLowerCase();

/** Finds the task ID in an answer or a callback (docs/service.md, "Endpoints"). A bare `id` can be that of what wraps it. */
export function taskIdOf(body: unknown): string | undefined {
	const ids = [...placesOf(body, 'task_id', 'taskId'), ...placesOf(body, 'id').reverse()];
	return ids.map(asText).find(isGiven);
}

/** Finds the task in a record of a list. */
export function listedIn(record: unknown): { taskId: string; raw: JsonObject } | undefined {
	const raw = layersOf(record).find((layer) => idOf(layer) !== undefined);
	const taskId = raw && idOf(raw);
	return raw && taskId !== undefined ? { taskId, raw } : undefined;
}

/** Finds a task ID anywhere in an answer's text, which may be no JSON, or only the beginning of it. */
export function taskIdIn(text: string): string | undefined {
	const found = /"task_?id"\s*:\s*(?:"([^"\\]{1,500})"|(\d{1,40})\b)/i.exec(text);
	return found?.[1] ?? found?.[2];
}

/** Includes the IDs beside a wrapped task. */
export function taskIdsIn(body: unknown): string[] {
	return placesOf(body, 'id', 'task_id', 'taskId').flatMap((id) => asText(id) ?? []);
}
