/** The task that the answer to a creation names, however deep. */
import { asText } from '../base/json';
import { MAX_DEPTH, MAX_LOOKED_AT, MAX_TEXT } from '../base/bounds';
import type { Answer } from './reply';

export interface NamedTask {
	/** Undefined if it is cut off. */
	taskId: string | undefined;
}

const TASK_ID = /^task_?id$/i;
const TASK_ID_IN_TEXT = /"task_?id"\s{0,9}:\s{0,9}(?:"([^"\\]{1,500})("?)|(-?\d{1,40})\b)/gi;

/** Returns an ID. Services have zeros for none. */
export function asId(value: unknown): string | undefined {
	const text = asText(value);
	return text === undefined || /^[0-]+$/.test(text) ? undefined : text;
}

/** Finds a task that is named anywhere, but not one that the request named. */
function namedIn(value: unknown, own: readonly string[], depth = 0): string | undefined {
	if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
	const first: object = Array.isArray(value) ? value.slice(0, MAX_LOOKED_AT) : value;
	for (const [name, each] of Object.entries(first).slice(0, MAX_LOOKED_AT)) {
		const id = TASK_ID.test(name) ? asId(each) : undefined;
		// With spaces, it is words about a field of that name.
		if (id !== undefined && !/\s/.test(id) && !own.includes(id)) return id;
		const inside = namedIn(each, own, depth + 1);
		if (inside !== undefined) return inside;
	}
	return undefined;
}

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

/** @param own texts of the request, which can name another task */
export function namedTask({ body, text }: Answer, own: readonly string[]): NamedTask | undefined {
	const taskId = namedIn(body, own);
	if (taskId !== undefined) return { taskId };
	return body === undefined ? namedInText(text, own) : undefined;
}
