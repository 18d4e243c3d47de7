/** The one walk through JSON from outside, for whatever looks for something in it. */
import { isObject, parseJson, type JsonObject } from '../base/json';

export interface Found {
	/** The field that holds the value. An entry of a list has the name of the list; the root has none. */
	name: string;
	value: unknown;
	/** The object of that field. */
	holder?: (Found & { value: JsonObject }) | undefined;
	/** How many objects and lists are around it. */
	depth: number;
}

type Field = [name: string, value: unknown];

interface Walk {
	/** The depth of the last objects and lists that are entered. */
	maxDepth: number;
	/** Returns the fields of an object that are entered. The default is all. */
	fieldsOf?: (object: JsonObject) => Field[];
	entersLists?: boolean;
	/** Whether a text that holds JSON stands for what it holds. */
	unpacks?: boolean;
	/** How many values of the same depth are looked at. The default is all: answers and requests have bounds of their own. */
	most?: number;
}

/** Lists the values in a value, itself first, each before what is in it. */
export function walk(root: unknown, options: Walk): Found[] {
	const { maxDepth, fieldsOf = Object.entries, entersLists = true, unpacks } = options;
	const { most = Infinity } = options;
	const all: Found[] = [];
	const counts: number[] = [];
	const look = (found: Found) => {
		const { name, holder, depth } = found;
		const count = (counts[depth] ?? 0) + 1;
		if (count > most) return;
		counts[depth] = count;
		if (unpacks) found.value = unpacked(found.value);
		const { value } = found;
		all.push(found);
		if (depth > maxDepth || (counts[depth + 1] ?? 0) >= most) return;
		if (Array.isArray(value) && entersLists)
			for (const each of value as unknown[]) look({ name, value: each, holder, depth: depth + 1 });
		if (isObject(value)) {
			const self = { ...found, value };
			for (const [field, each] of fieldsOf(value))
				look({ name: field, value: each, holder: self, depth: depth + 1 });
		}
	};
	look({ name: '', value: root, depth: 0 });
	return all;
}

/** Lists the same values without their places. */
export const valuesWithin = (root: unknown, options: Walk): unknown[] =>
	walk(root, options).map(({ value }) => value);

/** Lists the same values, the outermost first, for those who look for one of several. */
export const fromOutside = (root: unknown, options: Walk): Found[] =>
	walk(root, options).sort((one, other) => one.depth - other.depth);

/** Enters only fields of these names, in this order. */
export const fieldsNamed =
	(names: readonly string[]) =>
	(object: JsonObject): Field[] =>
		names.map((name) => [name, object[name]]);

function unpacked(value: unknown): unknown {
	return typeof value === 'string' && /^\s*[[{]/.test(value) ? (parseJson(value) ?? value) : value;
}
