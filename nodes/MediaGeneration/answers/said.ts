/** The service's own words and codes in an answer. Source: docs/service.md, "Shapes". */
import { asText, isGiven, isObject, type JsonObject } from '../base/json';
import { MAX_LEVELS } from '../base/bounds';
import type { Answer } from './reply';

/** Reasons that are quoted from one error. */
const MAX_REASONS = 10;

function fieldOfError({ loc, field, param, propertyPath }: JsonObject): string | undefined {
	const places = Array.isArray(loc) ? (loc as unknown[]).flatMap((each) => asText(each) ?? []) : [];
	// FastAPI's `["body", "text"]` means the field "text" of the request.
	const isPart = ['body', 'query', 'path', 'header'].includes(places[0] ?? '');
	const own = isPart ? places.slice(1) : places;
	return asText(own.join('.')) ?? [field, param, propertyPath].map(asText).find(isGiven);
}

/** Lists the reasons in an error, whatever its shape: texts, objects with a message, lists of either, or any of them by field name. */
function reasonsIn(said: unknown, field?: string, depth = 0): string[] {
	const text = asText(said);
	if (text !== undefined) return [field === undefined ? text : `${field}: ${text}`];
	if (typeof said !== 'object' || said === null || depth > MAX_LEVELS) return [];
	const inside = (each: unknown, name = field) => reasonsIn(each, name, depth + 1);
	if (Array.isArray(said))
		return said.slice(0, MAX_REASONS).flatMap((each: unknown) => inside(each));
	const error = said as JsonObject;
	const { message, msg, reason, detail, error: nested } = error;
	const words = [message, msg, reason, detail, nested].find((each) => inside(each).length > 0);
	if (words !== undefined) return inside(words, fieldOfError(error) ?? field);
	const fields = Object.entries(error).slice(0, MAX_REASONS);
	return fields.flatMap(([name, each]) => inside(each, name));
}

/** Finds the service's own words, wherever a refusal or a failed task has them, each once (docs/service.md, "Shapes"). */
export function errorTextOf(body: JsonObject): string | undefined {
	const { error_message, error, message, detail, errors, violations, metadata } = body;
	const inError = isObject(error)
		? [error.message, error.error, error.errors, error.violations]
		: [error];
	const inMetadata = isObject(metadata) ? metadata.error_message : undefined;
	const places = [error_message, ...inError, message, detail, errors, violations, inMetadata];
	const reasons = new Set(places.flatMap((said) => reasonsIn(said)));
	return [...reasons].slice(0, MAX_REASONS).join('; ') || undefined;
}

export function reasonsOf(body: unknown): string {
	if (!isObject(body)) return '';
	const nested = isObject(body.error) ? body.error : {};
	const codes = [body.code, nested.code].flatMap((code) => asText(code) ?? []);
	return [...codes, errorTextOf(body)].join(' ');
}

/** Returns the service's own words, or why they were not read, with the status. */
export function wordsOf({ status, body, unread }: Answer): string | undefined {
	const text = isObject(body) ? errorTextOf(body) : undefined;
	if (text !== undefined) return `HTTP ${status}: ${text}`;
	return unread === undefined ? undefined : `HTTP ${status} with an answer ${unread}`;
}
