/**
 * Nothing that comes from outside may carry the API key or the callback secret on. Texts are cleaned as they are;
 * JSON is cleaned after it was parsed, as an escaped key (`\u0073k_...`) shows only then.
 */
import { isObject } from './json';

export interface Secrets {
	apiKey: string;
	callbackSecret: string;
}

/** Replaces the key and the callback secret in a text, such as an error message. */
export function redactor({ apiKey, callbackSecret }: Secrets): (text: string) => string {
	return (text) => {
		const withoutKey = text.split(apiKey).join('sk_***');
		return callbackSecret === '' ? withoutKey : withoutKey.split(callbackSecret).join('***');
	};
}

/** What changes the texts of a JSON value, and its names where they are to change too. */
interface Change {
	/** @param name of the field that holds the text, where one does */
	text: (text: string, name?: string) => string;
	name?: (name: string) => string;
}

/** Changes all texts of a parsed JSON value in place, and returns it; without recursion, as nesting can be endless. */
export function changeTexts(value: unknown, { text, name: rename }: Change): unknown {
	if (typeof value === 'string') return text(value);
	const open: unknown[] = [value];
	for (let current = open.pop(); current !== undefined; current = open.pop()) {
		if (!isObject(current) && !Array.isArray(current)) continue;
		const container = current as Record<string, unknown>;
		const inList = Array.isArray(current);
		for (const name of Object.keys(container)) {
			const entry = container[name];
			const clean = typeof entry === 'string' ? text(entry, inList ? undefined : name) : entry;
			const cleanName = inList || rename === undefined ? name : rename(name);
			if (cleanName !== name) delete container[name];
			if (clean !== entry || cleanName !== name) define(container, cleanName, clean);
			if (typeof clean === 'object' && clean !== null) open.push(clean);
		}
	}
	return value;
}

const ID_FIELD = /^id$|_id$|[a-z]Id$/;

/**
 * Cleans a parsed answer of the service in place. Names of fields and IDs are never touched by the callback secret, which
 * the service never learns: it can be in them only by accident, and a task whose ID is changed is lost.
 */
export function redactDeep(value: unknown, secrets: Secrets): unknown {
	const all = redactor(secrets);
	const keyOnly = redactor({ ...secrets, callbackSecret: '' });
	return changeTexts(value, {
		text: (text, name) => (name !== undefined && ID_FIELD.test(name) ? keyOnly(text) : all(text)),
		name: keyOnly,
	});
}

/** Not by assignment: a name such as `__proto__` stays a name. */
function define(container: object, name: string, value: unknown): void {
	Object.defineProperty(container, name, {
		value,
		enumerable: true,
		configurable: true,
		writable: true,
	});
}
