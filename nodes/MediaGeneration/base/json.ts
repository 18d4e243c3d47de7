/** Reads values from outside, of which nothing is known. */

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const isGiven = <T>(value: T | undefined): value is T => value !== undefined;

/** Returns a non-empty string, or a number as one. */
export function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value === '' ? undefined : value;
	return Number.isFinite(value) ? String(value) : undefined;
}

/** Like {@link asText}, without spaces around it; undefined if nothing else is left. */
export function trimmedText(value: unknown): string | undefined {
	return asText(value)?.trim() || undefined;
}

/** Returns the texts of a list, without its other entries. */
export function textsIn(value: unknown): string[] {
	return Array.isArray(value) ? value.flatMap((entry) => asText(entry) ?? []) : [];
}

/** Reads texts that commas separate. */
export function textsBetweenCommas(list: string): string[] {
	return list
		.split(',')
		.map((text) => text.trim())
		.filter(Boolean);
}

/** Returns a finite number, also from a numeric string. */
export function asNumber(value: unknown): number | undefined {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return Number.isFinite(number) ? (number as number) : undefined;
}

/** Returns a boolean, also from its name. Spreadsheets write it in capitals. */
export function asBoolean(value: unknown): boolean | undefined {
	const name = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
	if (name === 'true' || name === 'false') return name === 'true';
	return typeof value === 'boolean' ? value : undefined;
}

/** Rounds, because sums of fractions have tiny errors. */
export function sumOf(numbers: readonly number[]): number {
	return Math.round(numbers.reduce((sum, number) => sum + number, 0) * 1_000) / 1_000;
}

export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}
