/** Reads and checks the fields of one item. Every refusal says which field is wrong and what it should be (outcome `invalid`). */
import type { IBinaryData, IDataObject, INodeProperties } from 'n8n-workflow';
import { invalid } from '../base/outcomes';
import { asBoolean, asNumber, asText, type JsonObject } from '../base/json';
import { idProblem } from '../base/url';
import { deepMerge, jsonList, jsonObject } from './jsonObjects';
import { GivenValues } from './givenValues';
import { checkTyped, expressionIn } from './parameters';
import * as ui from './ui';

/** A file of an item that goes into its request. */
export interface InputFile {
	field: string;
	name: string;
	type: string;
	binary: IBinaryData;
}

export class ItemFields extends GivenValues {
	/** Returns undefined for an empty field. Only a text of several rows keeps the spaces and line ends around it. */
	text({ displayName, name, typeOptions }: INodeProperties): string | undefined {
		const value = this.raw(name) ?? '';
		const text = typeof value === 'boolean' || value === '' ? String(value) : asText(value);
		if (text === undefined)
			throw invalid(
				`The field '${displayName}' is not text`,
				`Enter text in '${displayName}'. An expression must return text, not an object or a list.`,
			);
		checkTyped(this.parameters.typed(name), displayName);
		// Characters without a width alone, as copied pages have them, would be paid for.
		const trimmed = /[^\s\p{Cf}]/u.test(text) ? text.trim() : '';
		return typeOptions?.rows === undefined || trimmed === '' ? trimmed || undefined : text;
	}

	requiredText(field: INodeProperties): string {
		const text = this.text(field);
		if (text !== undefined) return text;
		throw invalid(
			`The field '${field.displayName}' is empty`,
			`Fill in '${field.displayName}'. If it is an expression, check that this item has a value for it.`,
		);
	}

	pathPart(field: INodeProperties): string {
		const text = this.requiredText(field);
		const problem = idProblem(text);
		if (problem === undefined) return text;
		throw invalid(
			`The field '${field.displayName}' can't be used in an address: it ${problem}`,
			'Enter the ID as the service shows it.',
		);
	}

	/** @param missing what counts if the field is hidden or empty, or the option was not added */
	boolean({ displayName, name, ...field }: INodeProperties, missing = field.default): boolean {
		const value = this.raw(name) ?? '';
		const isOn = value === '' ? missing === true : asBoolean(value);
		if (isOn !== undefined) return isOn;
		throw invalid(
			`'${displayName}' must be true or false`,
			`Turn '${displayName}' on or off. An expression must return true or false. Nothing was sent.`,
		);
	}

	/** The default counts if the field is hidden, or the option was not added. A field without decimals is for whole numbers. */
	number({ displayName, name, typeOptions = {}, default: usual }: INodeProperties): number {
		const { minValue: least = -Infinity, maxValue: most = Infinity } = typeOptions;
		const isInteger = typeOptions.numberPrecision === 0;
		const value = asNumber(this.has(name) ? this.raw(name) : usual) ?? NaN;
		if (value >= least && value <= most && (!isInteger || Number.isInteger(value))) return value;
		const kind = isInteger ? 'a whole number' : 'a number';
		const from = least === -Infinity ? '' : ` of at least ${least}`;
		const range = most === Infinity ? from : ` from ${least} to ${most}`;
		throw invalid(
			`'${displayName}' must be ${kind}${range}`,
			`Set '${displayName}' to such a number. Nothing was sent.`,
		);
	}

	/** Returns how many entries the user asks for. */
	limit(): number {
		return this.boolean(ui.returnAllField) ? Infinity : this.number(ui.limitField);
	}

	/** Returns the default if none is set. */
	choice({ displayName, name, options = [], ...field }: INodeProperties): unknown {
		const values = options.map((option) => 'value' in option && option.value);
		const value = this.raw(name) || field.default;
		if (values.some((each) => each === value)) return value;
		throw invalid(
			`'${displayName}' has an unknown value`,
			`Set '${displayName}' to one of: ${values.filter(Boolean).join(', ')}.`,
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
		const typed = this.parameters.typed(name);
		checkTyped(typed, label);
		return { given: this.raw(name), label, example, expression: expressionIn(typed) };
	}

	/** Returns undefined for an empty field, and for a switch or a number that is hidden or was not added. */
	private valueFor(field: INodeProperties): unknown {
		const { name, type, required, allowArbitraryValues } = field;
		if (type === 'options' && !allowArbitraryValues) return this.choice(field) || undefined;
		const isText = type !== 'boolean' && type !== 'number';
		if (isText) return required ? this.requiredText(field) : this.text(field);
		if (!this.has(name)) return undefined;
		return type === 'boolean' ? this.boolean(field, false) : this.number(field);
	}

	/** Reads what a request sends. Returns undefined if nothing is set. */
	private sent(fields: ui.SentFields): JsonObject | undefined {
		const entries = Object.entries(fields).flatMap(([name, field]) => {
			const value = ui.isField(field) ? this.valueFor(field) : this.sent(field);
			return value === undefined ? [] : [[name, value] as const];
		});
		return entries.length === 0 ? undefined : Object.fromEntries(entries);
	}

	/**
	 * Makes the body of a request, and the names on screen of what it sends. Undefined values are left out when the body becomes JSON.
	 * @param apart what is not sent as its field has it
	 */
	sends(fields: ui.SentFields, extraFields: INodeProperties, apart: JsonObject = {}) {
		const asTheyAre = Object.entries(fields).filter(([name]) => !Object.hasOwn(apart, name));
		const sent = this.sent(Object.fromEntries(asTheyAre));
		const body = deepMerge({ ...sent, ...apart }, this.json(extraFields));
		return { body: body as IDataObject, labels: ui.labelsOf(fields) };
	}
}
