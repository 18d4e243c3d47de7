/** Reads and checks the fields of one item. Every refusal says which field is wrong and what it should be (outcome `invalid`). */
import type {
	IBinaryKeyData,
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import { invalid, messageOf } from '../base/outcomes';
import { asBoolean, asNumber, asText, type JsonObject } from '../base/json';
import { itemFiles } from '../n8n/itemFiles';
import { idProblem } from '../base/pathPart';
import { deepMerge, jsonList, jsonObject } from './jsonObjects';
import { checkTyped, expressionIn, objectIn, rowsIn, valueIn } from './parameters';
import { checkedTaskId, listedTaskIds } from './taskIds';

/** What a number has to be. An option that is not set counts as the fallback. */
interface NumberRange {
	fallback?: number;
	least?: number | undefined;
	most?: number | undefined;
	whole?: boolean;
}

/** A file of an item that goes into its request. */
export interface InputFile {
	field: string;
	name: string;
	type: string;
	binary: IBinaryData;
}

/** Options, keyed by the service's names. */
export type SentOptions = Readonly<Record<string, INodeProperties>>;

export class ItemFields {
	private resolved: JsonObject | undefined;

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

	/** Reads a field, or the option or filter of that name. Returns undefined if the workflow has none, e.g. because it is hidden. A locator may be a plain text. */
	raw(name: string): unknown {
		const isOption = Object.hasOwn(this.options, name);
		// n8n throws for a missing field whose fallback is undefined (`_getNodeParameter`, n8n-core 2.41).
		return valueIn(isOption ? this.options[name] : this.parameter(name, null)) ?? undefined;
	}

	/** Options, filters and voice settings. n8n resolves a whole collection on each reading (`_getNodeParameter`, n8n-core 2.41); once per item is enough. */
	get options(): JsonObject {
		const collection = (name: string) => objectIn(this.parameter(name, {}));
		this.resolved ??= {
			...collection('filters'),
			...collection('voiceSettings'),
			...collection('options'),
		};
		return this.resolved;
	}

	/** Returns what the workflow has for a field, option or filter: a fixed value, or an expression. */
	private typed(name: string): unknown {
		const { parameters } = this.context.getNode();
		const { filters, options, voiceSettings } = parameters;
		const added = { ...objectIn(filters), ...objectIn(voiceSettings), ...objectIn(options) };
		return valueIn({ ...added, ...parameters }[name]);
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

	rows(name: string, entry: string, label: string): JsonObject[] {
		const typed = rowsIn(this.typed(name), entry);
		for (const value of typed.flatMap((row) => Object.values(row))) checkTyped(value, label);
		return rowsIn(this.raw(name), entry);
	}

	/** Returns '' for an empty field. */
	private given(name: string, label: string): string {
		const value = this.raw(name) ?? '';
		const text = typeof value === 'boolean' || value === '' ? String(value) : asText(value);
		if (text === undefined)
			throw invalid(
				`The field "${label}" is not a text`,
				`Enter text in "${label}". An expression must result in text, not in an object or a list.`,
			);
		checkTyped(this.typed(name), label);
		return text;
	}

	/** Returns undefined for an empty field, which is left out of the request. */
	optionalText(name: string, label: string): string | undefined {
		return this.given(name, label).trim() || undefined;
	}

	requiredText(name: string, label: string): string {
		return this.wholeText(name, label).trim();
	}

	/** Keeps spaces and line ends around the text. */
	wholeText(name: string, label: string): string {
		const text = this.given(name, label);
		if (text.trim() !== '') return text;
		throw invalid(
			`The field "${label}" is empty`,
			`Fill in "${label}". If it is an expression, check that this item has a value for it.`,
		);
	}

	pathPart(name: string, label: string): string {
		const text = this.requiredText(name, label);
		const problem = idProblem(text);
		if (problem === undefined) return encodeURIComponent(text);
		throw invalid(
			`The field "${label}" can't be used in an address: it ${problem}`,
			'Enter the ID as the service shows it.',
		);
	}

	taskId(): string {
		return checkedTaskId(this.requiredText('taskId', 'Task ID'));
	}

	/** @param own the ID that the item itself has */
	taskIds(own: string | undefined): string[] {
		const value = this.raw('taskId');
		const given = Array.isArray(value) ? value : this.requiredText('taskId', 'Task ID');
		return listedTaskIds(given as readonly unknown[] | string, own);
	}

	boolean(name: string, label: string, fallback = false): boolean {
		const value = this.raw(name) ?? '';
		const read = value === '' ? fallback : asBoolean(value);
		if (read !== undefined) return read;
		throw invalid(
			`"${label}" must be true or false`,
			`Turn "${label}" on or off. An expression must result in true or false. Nothing was sent.`,
		);
	}

	number(name: string, label: string, range: NumberRange = {}): number {
		const { fallback, least = -Infinity, most = Infinity, whole = false } = range;
		if (fallback !== undefined && !Object.hasOwn(this.options, name)) return fallback;
		const value = asNumber(this.raw(name)) ?? NaN;
		if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
		const kind = whole ? 'a whole number' : 'a number';
		const from = least === -Infinity ? '' : ` of at least ${least}`;
		const to = most === Infinity ? '' : ` and at most ${most}`;
		const other = fallback === undefined ? '' : `, or remove the option to use ${fallback}`;
		throw invalid(
			`"${label}" must be ${kind}${from}${to}`,
			`Set "${label}" to such a number${other}. Nothing was sent.`,
		);
	}

	/** Returns how many entries the user asks for. */
	limit(): number {
		return this.boolean('returnAll', 'Return All')
			? Infinity
			: this.number('limit', 'Limit', { least: 1, whole: true });
	}

	/** Reads options that are sent only if they were added; undefined if none was. */
	sentOptions(options: SentOptions): IDataObject | undefined {
		const added = Object.entries(options).filter(([, { name }]) =>
			Object.hasOwn(this.options, name),
		);
		const read = ({ name, displayName, type, typeOptions = {} }: INodeProperties) => {
			if (type === 'boolean') return this.boolean(name, displayName);
			if (type === 'string') return this.optionalText(name, displayName);
			const { minValue: least, maxValue: most } = typeOptions;
			return this.number(name, displayName, { least, most });
		};
		return added.length === 0
			? undefined
			: Object.fromEntries(added.map(([field, option]) => [field, read(option)]));
	}

	/** Returns the first of the values if none is set. */
	choice<const T extends string>(name: string, label: string, values: [T, ...T[]]): T {
		const value = this.raw(name) ?? '';
		if (value === '') return values[0];
		const found = values.find((entry) => entry === value);
		if (found !== undefined) return found;
		throw invalid(
			`"${label}" has an unknown value`,
			`Set "${label}" to one of: ${values.join(', ')}.`,
		);
	}

	/** Reads JSON. The placeholder has an example. */
	json(field: INodeProperties): JsonObject {
		return jsonObject(this.jsonIn(field));
	}

	jsonList(field: INodeProperties): unknown[] {
		return jsonList(this.jsonIn(field));
	}

	private jsonIn({ name, displayName: label, placeholder: example }: INodeProperties) {
		const typed = this.typed(name);
		checkTyped(typed, label);
		return { given: this.raw(name), label, example, expression: expressionIn(typed) };
	}

	/** Merges fields with the option for further ones. Undefined values are left out when the body becomes JSON. */
	body(fields: JsonObject, extraFields: INodeProperties): IDataObject {
		return deepMerge(deepMerge({}, fields), this.json(extraFields)) as IDataObject;
	}
}
