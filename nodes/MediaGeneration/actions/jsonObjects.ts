/** Reads JSON that users type, and merges it. */
import { invalid } from '../base/outcomes';
import { quote } from '../base/words';
import { isObject, parseJson, type JsonObject } from '../base/json';

/** Merges objects in depth; anything else of `extra`, arrays included, replaces what was there. Copies, changes neither. */
export function deepMerge(base: JsonObject, extra: JsonObject): JsonObject {
	const merged: JsonObject = { ...base };
	for (const [key, value] of Object.entries(extra)) {
		// An own key of this name would set the prototype of the copy.
		if (key === '__proto__') continue;
		const present = Object.hasOwn(merged, key) ? merged[key] : undefined;
		merged[key] = isObject(value) ? deepMerge(isObject(present) ? present : {}, value) : value;
	}
	return merged;
}

/** @param typed the expression of the field */
function adviceOnJson(example: string, typed = ''): string {
	// An expression of n8n within a text in quotes, which begins behind one of `:,[`.
	const [, inner] = /[:,[]\s*"(?:\\.|[^"\\{]|\{(?!\{))*\{\{\s*(.*?)\s*\}\}/s.exec(typed) ?? [];
	return inner === undefined
		? `Enter a JSON object, ${example}. Names and texts need double quotes.`
		: `A text with a quote or a line break breaks it. Write {{ JSON.stringify(${quote(inner, 100)}) }} without quotes around it. Nothing was sent.`;
}

/**
 * Reads JSON, or an expression's result; an empty object if nothing is set. Throws an `invalid` failure.
 * @param field its `label`, an `example` that begins with "e.g.", and the `expression` that it has, if any
 */
export function jsonObject(
	given: unknown,
	field: { label: string; example: string | undefined; expression: string | undefined },
): JsonObject {
	const { label, example = '', expression } = field;
	const value = typeof given === 'string' ? parseJson(given.trim() || '{}') : (given ?? {});
	if (value === undefined)
		throw invalid(`The field "${label}" is not valid JSON`, adviceOnJson(example, expression));
	if (!isObject(value))
		throw invalid(
			`The field "${label}" is not a JSON object`,
			`Enter an object in braces, ${example}, not a list, a text or a number.`,
		);
	return value;
}
