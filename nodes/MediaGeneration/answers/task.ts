/** Reads what answers say about a task. Sources: docs/service.md, "Resources", "Shapes" and "Status". */
import { MAX_DEPTH, MAX_TEXT } from '../base/bounds';
import { asNumber, asText, isGiven, isObject, type JsonObject } from '../base/json';
import { deniesSuccess, type Answer } from './reply';
import { fieldsNamed, fromOutside, valuesWithin } from './walk';

export interface Task {
	id: string | undefined;
	/** `running` is every status that is neither `done` nor `error`. */
	state: 'running' | 'done' | 'failed';
	status: string;
	/** From 0 to 100. */
	progress: number | undefined;
	type: string | undefined;
	raw: JsonObject;
}

/** Returns an ID. Some services send zeros for none. */
export function asId(value: unknown): string | undefined {
	const text = asText(value);
	return text === undefined || /^[0-]+$/.test(text) ? undefined : text;
}

/** Returns whether an object says more about a task than a status, which answers of all kinds have. */
export function describesTask({ id, task_id, type, metadata, progress }: JsonObject): boolean {
	const named = asId(id) ?? asId(task_id) ?? asText(type);
	return named !== undefined || isObject(metadata) || progress !== undefined;
}

const wrapped = fieldsNamed(['data', 'result', 'task']);

/** Lists what an answer, a callback or a record of a list may be: itself, and what it wraps, as in `{ success, data: { task: {...} } }`. From the outside in. */
export const layersOf = (body: unknown): JsonObject[] =>
	valuesWithin(body, { maxDepth: 1, fieldsOf: wrapped, entersLists: false }).filter(isObject);

/** Returns the ID that a layer has for itself. */
export const idIn = ({ id, task_id, taskId }: JsonObject): string | undefined =>
	[task_id, taskId, id].map(asId).find(isGiven);

/** An ID in capital letters is the same ID. */
export const isSameId = (one: string, other: string): boolean =>
	one.toLowerCase() === other.toLowerCase();

export const isAbout = (layer: JsonObject, taskId: string): boolean =>
	[layer.id, layer.task_id, layer.taskId].some((id) => isSameId(asText(id) ?? '', taskId));

const hasStatus = ({ status }: JsonObject) => typeof status === 'string' && status !== '';

/** Finds the task itself (docs/service.md, "Resources" and "Shapes"): a status alone can be that of the request. */
function unwrapped(body: JsonObject, taskId: string): JsonObject {
	const layers = layersOf(body).filter(hasStatus);
	const tasks = layers.filter(describesTask);
	// An event has an ID and a status of its own, too.
	const isSurely = ({ status, task_id }: JsonObject) =>
		status === 'done' || status === 'error' || asId(task_id) !== undefined;
	const own = taskId === '' ? tasks.find(isSurely) : layers.find((layer) => isAbout(layer, taskId));
	return own ?? tasks[0] ?? layers.at(-1) ?? body;
}

/**
 * Reads a task from an answer or a callback's body. Undefined when the body is not a task: `success: false`, an object without a
 * status, or `{ status: "error", message: "Too many requests" }`, which is about the request, not about a task.
 * @param taskId that was asked for, because an envelope can have an ID and a status of its own
 */
export function parseTask(body: unknown, taskId = ''): Task | undefined {
	if (!isObject(body)) return undefined;
	const raw = unwrapped(body, taskId);
	if (typeof raw.status !== 'string' || raw.status === '') return undefined;
	const id = idIn(raw);
	const { status } = raw;
	if (id === undefined && (deniesSuccess(body) || (status === 'error' && !describesTask(raw))))
		return undefined;
	const unlessDone = status === 'error' ? 'failed' : 'running';
	const progress = asNumber(raw.progress) ?? -1;
	return {
		id,
		state: status === 'done' ? 'done' : unlessDone,
		status,
		progress: progress >= 0 && progress <= 100 ? progress : undefined,
		type: asText(raw.type),
		raw,
	};
}

/** Finds the task ID in an answer or a callback (docs/service.md, "Endpoints"). A bare `id` can be that of what wraps it. */
export function taskIdOf(body: unknown): string | undefined {
	const layers = layersOf(body);
	const named = layers.flatMap((layer) => [layer.task_id, layer.taskId]);
	const bare = layers.map(({ id }) => id).reverse();
	return [...named, ...bare].map(asId).find(isGiven);
}

/** Finds the task in a record of a list. */
export function listedIn(record: unknown): { taskId: string; raw: JsonObject } | undefined {
	const raw = layersOf(record).find((layer) => idIn(layer) !== undefined);
	return raw && { taskId: idIn(raw) ?? '', raw };
}

const TASK_ID = /task_?id$/i;
const TASK_ID_IN_TEXT = /"task_?id"\s{0,9}:\s{0,9}(?:"([^"\\]{1,500})("?)|(-?\d{1,40})\b)/gi;

export interface NamedTask {
	/** Undefined if it is cut off. */
	taskId: string | undefined;
}

/** Finds a task that is named anywhere, but not one that the request named. */
const namedIn = (body: unknown, own: readonly string[]): string | undefined =>
	fromOutside(body, { maxDepth: MAX_DEPTH })
		// A list of that name has reasons, such as "Required".
		.map(({ name, value, holder }) =>
			TASK_ID.test(name) && holder?.value[name] === value ? asId(value) : undefined,
		)
		// With spaces, it is words about a field of that name.
		.find((id) => id !== undefined && !/\s/.test(id) && !own.includes(id));

function namedInText(text: string, own: readonly string[]): NamedTask | undefined {
	const [found] = [...text.slice(0, MAX_TEXT).matchAll(TASK_ID_IN_TEXT)].filter(
		([quoted, inQuotes, , number]) =>
			asId(inQuotes ?? number) !== undefined && !own.some((each) => each.includes(quoted)),
	);
	if (found === undefined) return undefined;
	const [, inQuotes, end, number] = found;
	// An ID that is cut off is another task's.
	return { taskId: end === '' ? undefined : (inQuotes ?? number) };
}

/** Finds the task that the answer to a creation names, however deep. @param own texts of the request, which can name another one */
export function namedTask({ body, text }: Answer, own: readonly string[]): NamedTask | undefined {
	const taskId = namedIn(body, own);
	if (taskId !== undefined) return { taskId };
	return body === undefined ? namedInText(text, own) : undefined;
}
