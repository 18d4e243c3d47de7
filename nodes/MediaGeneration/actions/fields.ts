/** Reads and checks the fields of one item. Every refusal says which field is wrong and what it should be (outcome `invalid`). */
import type {
	IBinaryKeyData,
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import { invalid, messageOf, quote } from '../base/failures';
import { asBoolean, asNumber, asText, isObject, type JsonObject } from '../base/json';
import { isToolRun } from '../n8n/execution';
import { itemFiles } from '../n8n/itemFiles';
import { pathProblem } from '../transport/baseUrl';
import { deepMerge, jsonObject } from './jsonObjects';
import { checkedTaskId, listedTaskIds } from './taskIds';

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

/** This file of an item goes into its request. */
export interface InputFile {
	field: string;
	name: string;
	type: string;
	binary: IBinaryData;
}

/** Options, keyed by the service's names. */
export type SentOptions = Readonly<Record<string, INodeProperties>>;

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

	/** Of the workflow. */
	get timeZone(): string {
		return this.context.getTimezone();
	}

	get isTool(): boolean {
		return isToolRun(this.context);
	}

	/** Returns undefined if the workflow has none, e.g. because the field is hidden. A locator may be a plain text. */
	raw(name: string): unknown {
		// n8n throws for a missing field whose fallback is undefined (`_getNodeParameter`, n8n-core 2.41).
		return valueIn(this.parameter(name, null)) ?? undefined;
	}

	/** n8n resolves the whole collection on each reading (`_getNodeParameter`, n8n-core 2.41); once per item is enough. */
	get options(): JsonObject {
		this.resolved ??= this.parameter('options', {});
		return isObject(this.resolved) ? this.resolved : {};
	}

	/** What a list is narrowed to. */
	get filters(): JsonObject {
		const given = this.raw('filters');
		return isObject(given) ? given : {};
	}

	/** Returns the expression that a field or option has; undefined for a fixed value. */
	private expressionIn(name: string): string | undefined {
		const { parameters } = this.context.getNode();
		const options: JsonObject = isObject(parameters.options) ? parameters.options : {};
		const typed = valueIn(parameters[name] ?? options[name]);
		return typeof typed === 'string' && typed.startsWith('=') ? typed : undefined;
	}

	/** Refuses an expression that was typed as plain text. What an expression leads to is data, and may look like one. */
	private checkTyped(text: string, name: string, label: string): void {
		const [typed] = /\{\{\s*\$.*?(?:\}\}|$)/s.exec(text) ?? [];
		if (typed === undefined || this.expressionIn(name) !== undefined) return;
		const verb = typed === text.trim() ? 'is' : 'has';
		throw invalid(
			`"${label}" ${verb} ${quote(typed, 60)}, word for word: the field is on Fixed`,
			'Switch it to Expression (above the field, on the right). Nothing was sent.',
		);
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

	/** Reads a field that has any number of rows. */
	rows(name: string, entry: string): JsonObject[] {
		const value = this.raw(name);
		const rows = isObject(value) ? value[entry] : undefined;
		return Array.isArray(rows) ? rows.filter(isObject) : [];
	}

	requiredText(name: string, label: string): string {
		const text = this.optionalText(name, label);
		if (text !== undefined) return text;
		throw invalid(
			`The field "${label}" is empty`,
			`Fill in "${label}". If it is an expression, check that this item has a value for it.`,
		);
	}

	/** Returns undefined for an empty field, which is left out of the request. */
	optionalText(name: string, label: string): string | undefined {
		const value = this.raw(name);
		if (value === undefined) return undefined;
		if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
			throw invalid(
				`The field "${label}" is not a text`,
				`Enter text in "${label}". An expression must result in text, not in an object or a list.`,
			);
		const text = String(value);
		this.checkTyped(text, name, label);
		return text.trim() === '' ? undefined : text;
	}

	/** Reads an option leniently: an expression often leads to another simple value. */
	textOption(name: string, label: string): string | undefined {
		const value = this.options[name];
		const text = asText(typeof value === 'boolean' ? String(value) : value);
		if (text !== undefined) this.checkTyped(text, name, label);
		return text;
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

	/** @param own the ID that the item itself has */
	taskIds(own: string | undefined): string[] {
		const value = this.raw('taskId');
		const given = Array.isArray(value) ? value : this.requiredText('taskId', 'Task ID').trim();
		return listedTaskIds(given as readonly unknown[] | string, own);
	}

	boolean(name: string, fallback: boolean): boolean {
		return asBoolean(this.raw(name)) ?? fallback;
	}

	count(name: string, label: string, least = 1): number {
		return fittingNumber(this.raw(name), (value) => Number.isInteger(value) && value >= least, [
			`The field "${label}" must be a whole number of at least ${least}`,
			`Set "${label}" to ${least}, ${least + 1}, ${least + 2}, ...`,
		]);
	}

	/** How many entries are asked for. */
	limit(): number {
		return this.boolean('returnAll', false) ? Infinity : this.count('limit', 'Limit');
	}

	/** @param range `zero`: 0 is allowed and switches the option off */
	numberOption(
		name: string,
		label: string,
		range: { fallback: number; zero?: boolean; most?: number },
	): number {
		const { fallback, zero = false, most = Infinity } = range;
		const given = this.options[name];
		if (given === undefined) return fallback;
		const fits = (value: number) => value <= most && (value > 0 || (zero && value === 0));
		const least = zero ? 'of at least 0' : 'greater than 0';
		const limits = most === Infinity ? least : `${least} and at most ${most}`;
		return fittingNumber(given, fits, [
			`The option "${label}" must be a number ${limits}`,
			`Set "${label}" to such a number, or remove the option to use ${fallback}. Nothing was sent.`,
		]);
	}

	/** Reads options that are sent only if they were added. The service decides which numbers it takes. */
	sentOptions(options: SentOptions): JsonObject {
		const added = Object.entries(options).filter(([, { name }]) =>
			Object.hasOwn(this.options, name),
		);
		const read = ({ name, displayName, type }: INodeProperties) =>
			type === 'boolean'
				? asBoolean(this.options[name])
				: fittingNumber(this.options[name], (value) => !Number.isNaN(value), [
						`The option "${displayName}" must be a number`,
						`Set "${displayName}" to a number, or remove the option. Nothing was sent.`,
					]);
		return Object.fromEntries(added.map(([field, option]) => [field, read(option)]));
	}

	/** Returns the first of the values if the field is not set. */
	choice<const T extends string>(value: unknown, label: string, values: [T, ...T[]]): T {
		if (value === undefined || value === '') return values[0];
		const found = values.find((entry) => entry === value);
		if (found !== undefined) return found;
		throw invalid(
			`"${label}" has an unknown value`,
			`Set "${label}" to one of: ${values.join(', ')}.`,
		);
	}

	/** Reads a field of JSON, or the option of that name. Its placeholder has an example. */
	json({ name, displayName: label, placeholder: example }: INodeProperties): JsonObject {
		const isOption = Object.hasOwn(this.options, name);
		const given = isOption ? this.options[name] : this.raw(name);
		if (typeof given === 'string') this.checkTyped(given, name, label);
		const what = `${isOption ? 'option' : 'field'} "${label}"`;
		return jsonObject(given, { what, example, expression: this.expressionIn(name) });
	}

	/** Merges the option for further fields in. Undefined values are left out when the body becomes JSON. */
	body(fields: JsonObject, extraFields: INodeProperties): IDataObject {
		return deepMerge(deepMerge({}, fields), this.json(extraFields)) as IDataObject;
	}
}

function valueIn(given: unknown): unknown {
	const isLocator = isObject(given) && given.__rl === true;
	return isLocator ? given.value : given;
}
