/** Values of parameters as n8n gives them, and texts as somebody typed them. */
import { invalid } from '../base/outcomes';
import { quote } from '../base/words';
import { isObject, type JsonObject } from '../base/json';

export function expressionIn(typed: unknown): string | undefined {
	return typeof typed === 'string' && typed.startsWith('=') ? typed : undefined;
}

/** Refuses an expression that was typed as plain text. An expression's result is data, and may look like one. */
export function checkTyped(typed: unknown, label: string): void {
	if (typeof typed !== 'string' || expressionIn(typed) !== undefined) return;
	const [found] = /\{\{\s*\$.*?(?:\}\}|$)/s.exec(typed) ?? [];
	if (found === undefined) return;
	throw invalid(
		`'${label}' contains the expression ${quote(found, 60)} as plain text, because the field is set to Fixed`,
		'Switch it to Expression (above the field, on the right). Nothing was sent.',
	);
}

export const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

export function rowsIn(value: unknown, entry: string): JsonObject[] {
	const rows = isObject(value) ? value[entry] : undefined;
	return Array.isArray(rows) ? rows.filter(isObject) : [];
}

export function valueIn(given: unknown): unknown {
	const isLocator = isObject(given) && given.__rl === true;
	return isLocator ? given.value : given;
}
