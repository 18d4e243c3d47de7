/** Reads and checks the fields of one item. Every refusal says which field is wrong and what it should be (outcome `invalid`). */
import type {
	IBinaryData,
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';
import { invalid, messageOf } from '../base/failures';
import { asNumber, asText, isObject, parseJson, type JsonObject } from '../base/json';
import { isToolRun } from '../n8n/execution';
import { fileNamed, itemFiles } from '../n8n/itemFiles';
import { pathProblem } from '../transport/baseUrl';

const MAX_TASK_ID = 4_000;

export function taskIdProblem(taskId: string): string | undefined {
	const problem = pathProblem(taskId);
	if (problem !== undefined) return `it ${problem}`;
	return taskId.length > MAX_TASK_ID ? `it is longer than ${MAX_TASK_ID} characters` : undefined;
}

/** Returns a number that fits, or throws an `invalid` failure in these words. @param fits false for NaN */
export function fittingNumber(
	given: unknown,
	fits: (value: number) => boolean,
	[message, advice]: [message: string, advice: string],
): number {
	const value = asNumber(given) ?? NaN;
	if (fits(value)) return value;
	throw invalid(message, advice);
}

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

/** JSON.stringify overflows the stack far beyond this depth. */
const MAX_FIELD_DEPTH = 100;

function nestedDeeperThan(levels: number, value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some((entry) => nestedDeeperThan(levels - 1, entry));
}

/** This file of an item goes into its request. */
export interface InputFile {
	field: string;
	name: string;
	type: string;
	binary: IBinaryData;
}

export class ItemFields {
	private resolved: unknown;

	constructor(
		private readonly context: IExecuteFunctions,
		readonly itemIndex: number,
	) {}

	get input(): INodeExecutionData {
		return this.context.getInputData()[this.itemIndex] ?? { json: {} };
	}

	get files(): IBinaryKeyData {
		return itemFiles(this.context, this.itemIndex);
	}

	/** Returns undefined where the workflow has none, e.g. because the field is hidden. A locator may be a plain text. */
	raw(name: string): unknown {
		// n8n throws for a missing field whose fallback is undefined (`_getNodeParameter`, n8n-core 2.41).
		const value = this.parameter(name, null);
		const isLocator = isObject(value) && value.__rl === true;
		return (isLocator ? value.value : value) ?? undefined;
	}

	private parameter(name: string, fallback: null | object): unknown {
		try {
			return this.context.getNodeParameter(name, this.itemIndex, fallback);
		} catch (error) {
			throw invalid(
				`A field of this item could not be read: ${messageOf(error)}`,
				'Check the expressions in the fields of the node. Nothing was sent.',
			);
		}
	}

	/** Finds a file of the item. @param label of the field that names it */
	binary(field: string, label: string): IBinaryData {
		if (isToolRun(this.context))
			throw invalid(
				'A tool of an AI agent has no files: an agent passes only text',
				`Leave "${label}" empty, or use this node outside the agent. Nothing was sent.`,
			);
		const binary = this.files;
		const found = fileNamed(binary, field);
		if (found !== undefined) return found;
		const present = Object.keys(binary);
		throw invalid(
			`Item ${this.itemIndex} has no binary field "${field}"`,
			present.length === 0
				? 'The item has no binary data. Put a file there first, e.g. with "Download Output" or a node that reads files.'
				: `Set "${label}" to one of those that the item has: ${present.join(', ')}.`,
		);
	}

	/** Reads a field that has any number of rows. */
	rows(name: string, entry: string): JsonObject[] {
		const value = this.raw(name);
		const rows = isObject(value) ? value[entry] : undefined;
		return Array.isArray(rows) ? rows.filter(isObject) : [];
	}

	/** n8n resolves the whole collection on each reading (`_getNodeParameter`, n8n-core 2.41); once per item is enough. */
	get options(): JsonObject {
		this.resolved ??= this.parameter('options', {});
		return isObject(this.resolved) ? this.resolved : {};
	}

	requiredText(name: string, label: string): string {
		const text = this.optionalText(name, label);
		if (text !== undefined) return text;
		throw invalid(
			`The field "${label}" is empty`,
			`Fill in "${label}". If it is an expression, check that this item has a value for it.`,
		);
	}

	/** Returns undefined where the field is empty, so that it is left out of the request. */
	optionalText(name: string, label: string): string | undefined {
		const value = this.raw(name);
		if (value === undefined) return undefined;
		if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
			throw invalid(
				`The field "${label}" is not a text`,
				`Enter text in "${label}". An expression must result in text, not in an object or a list.`,
			);
		const text = String(value);
		return text.trim() === '' ? undefined : text;
	}

	pathPart(name: string, label: string): string {
		const text = this.requiredText(name, label).trim();
		const problem = pathProblem(text);
		if (problem === undefined) return encodeURIComponent(text);
		throw invalid(
			`The field "${label}" can't be used in an address: it ${problem}`,
			'Enter the ID as the service shows it.',
		);
	}

	taskId(): string {
		return checkedTaskId(this.requiredText('taskId', 'Task ID').trim());
	}

	/** Reads a list, or a text in which commas separate the IDs. @param own the ID that the item itself has: it may hold a comma */
	taskIds(own: string | undefined): string[] {
		const value = this.raw('taskId');
		const text = Array.isArray(value) ? '' : this.requiredText('taskId', 'Task ID').trim();
		const taskIds = Array.isArray(value)
			? value.map((entry) => asText(entry)?.trim() ?? '')
			: (text === own ? [text] : text.split(',').map((part) => part.trim())).filter(Boolean);
		if (taskIds.length === 0 || taskIds.includes(''))
			throw invalid(
				'The field "Task ID" is empty or contains an invalid ID',
				'Enter the task_id of each task in "Task ID".',
			);
		return [...new Set(taskIds)].map(checkedTaskId);
	}

	boolean(name: string, fallback: boolean): boolean {
		const value = this.raw(name);
		if (value === 'true' || value === 'false') return value === 'true';
		return typeof value === 'boolean' ? value : fallback;
	}

	count(name: string, label: string, least = 1): number {
		return fittingNumber(this.raw(name), (value) => Number.isInteger(value) && value >= least, [
			`The field "${label}" must be a whole number of at least ${least}`,
			`Set "${label}" to ${least}, ${least + 1}, ${least + 2}, ...`,
		]);
	}

	/** @param zero whether it may be 0 as well, which switches the option off */
	numberOption(
		name: string,
		label: string,
		{
			fallback,
			zero = false,
			most = Infinity,
		}: { fallback: number; zero?: boolean; most?: number },
	): number {
		const given = this.options[name];
		if (given === undefined) return fallback;
		const fits = (value: number) => value <= most && (value > 0 || (zero && value === 0));
		const least = zero ? 'of at least 0' : 'greater than 0';
		const range = most === Infinity ? least : `${least} and at most ${most}`;
		return fittingNumber(given, fits, [
			`The option "${label}" must be a number ${range}`,
			`Set "${label}" to such a number, or remove the option to use ${fallback}. Nothing was sent.`,
		]);
	}

	/** Returns the first one of the values where the field is not set. */
	choice<const T extends string>(value: unknown, label: string, values: [T, ...T[]]): T {
		if (value === undefined || value === '') return values[0];
		const found = values.find((entry) => entry === value);
		if (found !== undefined) return found;
		throw invalid(
			`"${label}" has an unknown value`,
			`Set "${label}" to one of: ${values.join(', ')}.`,
		);
	}

	/** Merges the extra fields in. Undefined values are left out where the body becomes JSON. */
	body(fields: JsonObject): IDataObject {
		const { extraFields } = this.options;
		const example = '{"voice_settings": {"speed": 1.1}}';
		const extra = jsonObject(extraFields, 'option "Extra Body Fields"', example);
		return deepMerge(deepMerge({}, fields), extra) as IDataObject;
	}
}

export function checkedTaskId(taskId: string): string {
	const problem = taskIdProblem(taskId);
	if (problem === undefined) return taskId;
	throw invalid(
		`The Task ID can't be used: ${problem}`,
		'Enter the task_id that the service returned when the task was created, and nothing else.',
	);
}

/** Reads JSON, or what an expression leads to; an object without fields where nothing is set. Throws an `invalid` failure. */
export function jsonObject(given: unknown, what: string, example: string): JsonObject {
	const value = typeof given === 'string' ? parseJson(given.trim() || '{}') : (given ?? {});
	if (value === undefined)
		throw invalid(
			`The ${what} is not valid JSON`,
			`Enter a JSON object, e.g. ${example}. Names and texts need double quotes.`,
		);
	if (!isObject(value))
		throw invalid(
			`The ${what} is not a JSON object`,
			`Enter an object in braces, e.g. ${example}, not a list, a text or a number.`,
		);
	if (nestedDeeperThan(MAX_FIELD_DEPTH, value))
		throw invalid(
			`The ${what} is nested deeper than ${MAX_FIELD_DEPTH} levels`,
			'Enter a flatter JSON object.',
		);
	return value;
}
