/** Values of parameters as n8n gives them, and texts as somebody typed them. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { invalid, messageOf } from '../base/outcomes';
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

/**
 * The parameters of the node, for all items of a run. n8n copies the whole node on each `getNode`, and takes as long for a fixed value as for
 * an expression (`_getNodeParameter`, n8n-core 2.41), so the node, and what is the same for all items, is read once.
 */
export class NodeParameters {
	private readonly node: JsonObject;
	private readonly fixed = new Map<string, unknown>();

	constructor(private readonly context: IExecuteFunctions) {
		this.node = context.getNode().parameters;
	}

	/** Returns what the workflow has for a field, option or filter: a fixed value, or an expression. */
	typed(name: string): unknown {
		const { options, voiceSettings, filters } = this.node;
		const places = [this.node, options, voiceSettings, filters].map(objectIn);
		return valueIn(places.find((place) => Object.hasOwn(place, name))?.[name]);
	}

	/** @param fallback if the workflow has none, e.g. because it is hidden; n8n throws if that is undefined */
	read(name: string, itemIndex: number, fallback: null | object): unknown {
		if (this.fixed.has(name)) return this.fixed.get(name);
		try {
			const value: unknown = this.context.getNodeParameter(name, itemIndex, fallback);
			const isFixed = !JSON.stringify(this.node[name] ?? null).includes('"=');
			if (isFixed) this.fixed.set(name, value);
			return value;
		} catch (error) {
			throw invalid(
				`A field of this item could not be read: ${messageOf(error)}`,
				'Check the expressions in the fields of the node. Nothing was sent.',
			);
		}
	}
}
