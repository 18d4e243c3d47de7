/** Values that come from outside: what they are before anything is believed of them. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A non-empty string, or a number as one. */
export function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value === '' ? undefined : value;
	return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/** A finite number, also from a numeric string. */
export function asNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The records of a list: the value itself, or what stands in it under one of the names. */
export function recordsIn(
	value: unknown,
	names: readonly string[],
	depth = 0,
): unknown[] | undefined {
	if (Array.isArray(value)) return value as unknown[];
	if (!isObject(value) || depth > 5) return undefined;
	for (const name of names) {
		const found = recordsIn(value[name], names, depth + 1);
		if (found !== undefined) return found;
	}
	return undefined;
}

export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}
