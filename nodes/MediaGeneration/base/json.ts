/** Reads values that come from outside, of which nothing is known. */
import { atOnce, type Work } from './clock';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a non-empty string, or a number as one. */
export function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value === '' ? undefined : value;
	return Number.isFinite(value) ? String(value) : undefined;
}

/** Returns a finite number, also from a numeric string. */
export function asNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return Number.isFinite(number) ? (number as number) : undefined;
}

/** A URL in a text, which may be relative to another one. */
export function urlOf(value: unknown, base?: string): URL | undefined {
	return typeof value === 'string' && URL.canParse(value, base) ? new URL(value, base) : undefined;
}

/** Rounds, as sums of fractions have tiny errors. */
export function sumOf(numbers: readonly number[]): number {
	return Math.round(numbers.reduce((sum, number) => sum + number, 0) * 1_000) / 1_000;
}

/** Limits the levels of the user's own values; those of others are not nested as deeply (`bounded.ts`). */
const MAX_MAPPED_DEPTH = 200;

/** Others get a turn after this many texts. */
const TEXTS_IN_A_PIECE = 200;

/** Remembers what was copied before. The texts of a list depend on its name, those of an object don't. */
export type Seen = Map<object, { name: string; copy: unknown }>;

/**
 * Makes a copy in which every text and every name of a field is changed, in pieces; what stays as it was is returned as it is.
 * @param change is given the name of the field too, which a list hands on to what stands in it; undefined for the name itself
 * @param seen is shared by values that have parts in common
 */
export function* mapTextsInPieces<T>(
	value: T,
	change: (text: string, name?: string) => string,
	seen: Seen = new Map(),
): Work<T> {
	let texts = 0;
	function* mapped(each: unknown, name: string, depth: number): Work<unknown> {
		texts += 1;
		if (texts % TEXTS_IN_A_PIECE === 0) yield;
		if (typeof each === 'string') return change(each, name);
		if (typeof each !== 'object' || each === null || depth >= MAX_MAPPED_DEPTH) return each;
		const known = seen.get(each);
		if (known?.name === name || (known && !Array.isArray(each))) return known.copy;
		seen.set(each, { name, copy: each });
		const copy = yield* Array.isArray(each)
			? mappedList(each, name, depth + 1)
			: mappedFields(each as JsonObject, depth + 1);
		seen.set(each, { name, copy });
		return copy;
	}
	function* mappedList(list: readonly unknown[], name: string, depth: number): Work<unknown> {
		const copies: unknown[] = [];
		let isSame = true;
		for (const entry of list) {
			const copy = yield* mapped(entry, name, depth);
			copies.push(copy);
			isSame &&= copy === entry;
		}
		return isSame ? list : copies;
	}
	function* mappedFields(fields: JsonObject, depth: number): Work<unknown> {
		// Without a prototype, a field can have the name "__proto__". One copy at the end would be a long piece.
		const copies = Object.create(null) as JsonObject;
		let isSame = true;
		for (const name of Object.keys(fields)) {
			const field = change(name);
			copies[field] = yield* mapped(fields[name], name, depth);
			isSame &&= field === name && copies[field] === fields[name];
		}
		return isSame ? fields : (Object.setPrototypeOf(copies, Object.prototype) as JsonObject);
	}
	return (yield* mapped(value, '', 0)) as T;
}

/** Does the work of {@link mapTextsInPieces} at once. */
export function mapTexts<T>(value: T, change: (text: string, name?: string) => string): T {
	return atOnce(mapTextsInPieces(value, change));
}

export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}
