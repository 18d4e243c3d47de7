/**
 * Nothing that comes from outside may carry the API key or the callback secret further. Texts are cleaned as they are;
 * parsed JSON is cleaned once more, because an escaped key (`\u0073k_...`) shows only after parsing.
 */

import { isObject } from './json';

export interface Secrets {
	apiKey: string;
	callbackSecret: string;
}

/** Replaces the key and the callback secret in a text. */
export function redactor({ apiKey, callbackSecret }: Secrets): (text: string) => string {
	return (text) => {
		const withoutKey = text.split(apiKey).join('sk_***');
		return callbackSecret.length < 4 ? withoutKey : withoutKey.split(callbackSecret).join('***');
	};
}

/** Cleans all strings and names of a parsed JSON value, in place; without recursion, as nesting can be endless. */
export function redactDeep(value: unknown, redact: (text: string) => string): unknown {
	if (typeof value === 'string') return redact(value);
	const open: unknown[] = [value];
	for (let current = open.pop(); current !== undefined; current = open.pop()) {
		if (!isObject(current) && !Array.isArray(current)) continue;
		const container = current as Record<string, unknown>;
		for (const name of Object.keys(container)) {
			const entry = container[name];
			const clean = typeof entry === 'string' ? redact(entry) : entry;
			const cleanName = redact(name);
			if (cleanName !== name) delete container[name];
			if (clean !== entry || cleanName !== name) define(container, cleanName, clean);
			if (typeof clean === 'object' && clean !== null) open.push(clean);
		}
	}
	return value;
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
