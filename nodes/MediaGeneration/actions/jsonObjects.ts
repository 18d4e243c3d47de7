/** Reads JSON that users type, and merges it. */
import { invalid, quote } from '../base/failures';
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

function nestedDeeperThan(levels: number, value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((entry) => nestedDeeperThan(levels - 1, entry));
}

/** @param typed the expression of the field */
function adviceOnJson(example: string, typed = ''): string {
	// Expressions of n8n, and texts in quotes, which may contain some.
	const pieces = typed.match(/\{\{.*?\}\}|"(?:\{\{.*?\}\}|\\.|[^"\\])*"/gs) ?? [];
	const texts = pieces.filter((piece) => piece.startsWith('"'));
	const [, inner] = /\{\{\s*(.*?)\s*\}\}/s.exec(texts.join(' ')) ?? [];
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
	// JSON.stringify overflows the stack far beyond this depth.
	if (nestedDeeperThan(100, value))
		throw invalid(
			`The field "${label}" is nested deeper than 100 levels`,
			'Enter a flatter JSON object.',
		);
	return value;
}
