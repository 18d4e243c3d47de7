/** Reads JSON that users type, and merges it. */
import { jsonParse } from 'n8n-workflow';
import { attempt, invalid } from '../base/outcomes';
import { quote } from '../base/words';
import { isGiven, isObject, parseJson, type JsonObject } from '../base/json';

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
function adviceOnJson(what: 'object' | 'list', example: string, typed = ''): string {
	// An expression of n8n within a text in quotes, which begins behind one of `:,[`.
	const [, inner] = /[:,[]\s*"(?:\\.|[^"\\{]|\{(?!\{))*\{\{(.*?)\}\}/s.exec(typed) ?? [];
	return inner === undefined
		? `Enter a JSON ${what}, ${example}. Names and text values need double quotes.`
		: `A text with a quote or a line break breaks it. Write {{ JSON.stringify(${quote(inner, 100)}) }} without quotes around it. Nothing was sent.`;
}

interface JsonField {
	given: unknown;
	label: string;
	/** Begins with "e.g.". */
	example: string | undefined;
	/** The expression that the field has, if any. */
	expression: string | undefined;
}

/** JSON that a model wrote is repaired; what a person typed is not, because a guess could be paid for. */
function parsedJson(text: string, expression = ''): unknown {
	const isFromModel = /\$fromAI\b/i.test(expression);
	return parseJson(text) ?? (isFromModel ? repaired(text) : undefined);
}

function repaired(text: string): unknown {
	const parsed = attempt(() => jsonParse<unknown>(text, { repairJSON: true }));
	return parsed.ok ? parsed.value : undefined;
}

/** Finds a whole number that JavaScript can't hold: another one would be sent. */
function inexactIn(value: unknown): number | undefined {
	if (typeof value === 'number')
		return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : undefined;
	if (typeof value !== 'object' || value === null) return undefined;
	return Object.values(value).map(inexactIn).find(isGiven);
}

/** Reads JSON, or an expression's result; what stands for nothing if nothing is set. Throws an `invalid` failure. */
function jsonValue(what: 'object' | 'list', field: JsonField): unknown {
	const { given, label, example = '', expression } = field;
	const nothing = what === 'object' ? '{}' : '[]';
	const value =
		typeof given === 'string'
			? parsedJson(given.trim() || nothing, expression)
			: (given ?? parseJson(nothing));
	if (value === undefined)
		throw invalid(
			`The field '${label}' is not valid JSON`,
			adviceOnJson(what, example, expression),
		);
	const inexact = inexactIn(value);
	if (inexact !== undefined)
		throw invalid(
			`The field '${label}' contains a number with too many digits: it would be sent as ${inexact}`,
			'Put the number in double quotes. Nothing was sent.',
		);
	return value;
}

export function jsonObject(field: JsonField): JsonObject {
	const value = jsonValue('object', field);
	if (isObject(value)) return value;
	throw invalid(
		`The field '${field.label}' is not a JSON object`,
		`Enter an object in braces, ${field.example ?? ''}, not a list, a text or a number.`,
	);
}

export function jsonList(field: JsonField): unknown[] {
	const value = jsonValue('list', field);
	if (Array.isArray(value)) return value;
	throw invalid(
		`The field '${field.label}' is not a JSON list`,
		`Enter a list in brackets, ${field.example ?? ''}.`,
	);
}
