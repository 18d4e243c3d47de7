/** Makes the fields of the editor: from their name on screen and their name in workflows. */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { Labels } from '../answers/request';

const addCondition =
	(rule: 'show' | 'hide') =>
	(condition: IDisplayOptions['show'], fields: readonly INodeProperties[]): INodeProperties[] =>
		fields.map(({ displayOptions = {}, ...field }) => ({
			...field,
			displayOptions: { ...displayOptions, [rule]: { ...condition, ...displayOptions[rule] } },
		}));

/** Shows fields only under a condition, in addition to their own. */
export const shownWhen = addCondition('show');
/** Hides fields under a condition. n8n drops the values of hidden fields (`getNodeParameters`, n8n-workflow 2.41), and an expression hides nothing. */
export const hiddenWhen = addCondition('hide');

/** True for a tool of an agent. Older versions of n8n do not know this condition (`getPropertyValues`, n8n-workflow 2.41): for them it is false. */
export const AS_TOOL = { '@tool': [true] };

/** Makes fields of the editor from their name on screen and their name in workflows. They are empty or off, unless the details say otherwise. */
const fieldOf =
	(type: INodeProperties['type'], empty: INodeProperties['default']) =>
	(displayName: string, name: string, details: Partial<INodeProperties> = {}): INodeProperties => ({
		displayName,
		name,
		type,
		default: empty,
		...details,
	});

export const text = fieldOf('string', '');
export const amount = fieldOf('number', 0);
/** Makes a field for a number from 0 to 1. */
export const fraction: typeof amount = (displayName, name, details) => {
	const typeOptions = { minValue: 0, maxValue: 1, numberPrecision: 2 };
	return amount(displayName, name, { typeOptions, ...details });
};
export const toggle = fieldOf('boolean', false);
export const select = fieldOf('options', '');
export const notice = fieldOf('notice', '');
export const dateTime = fieldOf('dateTime', '');
type Choice = Record<'name' | 'value' | 'description', string>;

export function choice(name: string, value: string, description: string): Choice {
	return { name, value, description };
}
const json = fieldOf('json', '{}');
export const collection = fieldOf('collection', {});
const rows = fieldOf('fixedCollection', {});
const picker = fieldOf('resourceLocator', { mode: 'list', value: '' });

/** Says what a creation costs: agents choose by the descriptions of operations. @param unit e.g. "per image" */
export const costing = (what: string, unit: string) =>
	`${what}. Costs credits ${unit}. Never repeat it blindly: "Task: Get" shows what became of a task.`;

const jsonOf =
	(rule: string, details: Partial<INodeProperties> = {}) =>
	(displayName: string, name: string, { what, example }: Record<'what' | 'example', string>) =>
		json(displayName, name, {
			placeholder: `e.g. ${example}`,
			description: `${what}, e.g. <code>${example}</code>. Must be a JSON ${rule}.`,
			...details,
		});

export const jsonField = jsonOf('object; a list, a text or a number is refused');
export const jsonListField = jsonOf('list', { default: '[]', required: true });

/** Makes the option that {@link ItemFields.sends} reads. @param example of what services take beyond the fields (docs/service.md, "Values") */
export function extraFieldsOption(example: string): INodeProperties {
	const what = 'Further fields for the body of the request';
	const field = jsonField('Extra Body Fields', 'extraFields', { what, example });
	const description = `${field.description} Nested objects are merged, and a field given here overrides the same field above.`;
	return { ...field, description };
}

/** Fields of a request, by the service's names. An object of its own holds those that are sent within one. */
export interface SentFields {
	readonly [name: string]: INodeProperties | SentFields;
}

export const isField = (given: INodeProperties | SentFields): given is INodeProperties =>
	typeof given.displayName === 'string';

/** Maps the service's names of fields to those on screen, if they differ. */
export function labelsOf(fields: SentFields): Labels {
	const labels: Record<string, string | string[]> = {};
	for (const [name, field] of Object.entries(fields))
		if (!isField(field)) {
			const within = labelsOf(field);
			Object.assign(labels, within, { [name]: Object.values(within).flat() });
		} else if (field.displayName.toLowerCase() !== name) labels[name] = field.displayName;
	return labels;
}

/** Offers any number of rows with the same fields, which workflows store as `{ [entry]: [row, ...] }`. */
export function rowsField(
	displayName: string,
	name: string,
	{
		entry,
		values,
		...details
	}: Partial<INodeProperties> & { entry: string; values: INodeProperties[] },
): INodeProperties {
	return rows(displayName, name, {
		...details,
		typeOptions: { multipleValues: true },
		options: [{ name: entry, displayName: displayName.replace(/s$/, ''), values }],
	});
}

/** In a collection, a slash before a name refers to the node's own field (`getPropertyValues`, n8n-workflow 2.41). */
function inCollection({ displayOptions = {}, ...option }: INodeProperties): INodeProperties {
	const rules = Object.entries(displayOptions as Record<string, object>).map(
		([rule, conditions]) => {
			const named = Object.entries(conditions).map(([name, values]) => {
				return [name.startsWith('@') ? name : `/${name}`, values] as const;
			});
			return [rule, Object.fromEntries(named)] as const;
		},
	);
	return { ...option, displayOptions: Object.fromEntries(rules) };
}

/** Offers options in alphabetical order, as n8n's guidelines ask. Their conditions are about the node's own fields. */
export function optionsField(given: readonly INodeProperties[]): INodeProperties {
	const options = given
		.map(inCollection)
		.sort((one, other) => one.displayName.localeCompare(other.displayName, 'en'));
	return collection('Options', 'options', { placeholder: 'Add option', options });
}

export const returnAllField = toggle('Return All', 'returnAll', {
	description: 'Whether to return all results or only up to a given limit',
});
export const limitField = amount('Limit', 'limit', {
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 50,
	description: 'Max number of results to return',
	displayOptions: { show: { returnAll: [false] } },
});
export const limitFields: readonly INodeProperties[] = [returnAllField, limitField];

export function filtersField(options: INodeProperties[]): INodeProperties {
	return collection('Filters', 'filters', { placeholder: 'Add Filter', options });
}

/** What the IDs of each list can't have besides spaces. A voice's ID becomes part of a path; values that are no IDs are few, and not searched. */
const NOT_IN_ID = {
	searchAspectRatios: undefined,
	searchImageModels: '\\?#%',
	searchResolutions: undefined,
	searchSpeechModels: '\\?#%',
	searchVoices: '/\\?#%',
};
export type ListName = keyof typeof NOT_IN_ID;

/** n8n looks at neither expressions nor plain texts. */
function idCheck(signs: string) {
	const regex = `\\s*(?!https?:)[^\\s${signs.replace('\\', '\\\\')}]*\\s*`;
	const errorMessage = `Enter the ID alone: no address, no spaces, and none of ${[...signs].join(' ')}`;
	return { validation: [{ type: 'regex', properties: { regex, errorMessage } }] };
}

/** Offers a list of the service first. The editor reads a plain text as an ID. */
export function locator(
	displayName: string,
	name: string,
	{ list, placeholder, ...details }: Partial<INodeProperties> & { list: ListName },
): INodeProperties {
	const signs = NOT_IN_ID[list];
	return picker(displayName, name, {
		...details,
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				// An empty list shows what is sent then.
				...(details.required ? {} : { placeholder: SERVICE_DEFAULT.name }),
				typeOptions: { searchListMethod: list, searchable: signs !== undefined },
			},
			{
				displayName: 'By ID',
				name: 'id',
				type: 'string',
				placeholder,
				...(signs && idCheck(signs)),
			},
		],
	});
}

/** First entry of each list whose field may be left out: the field is then not sent. */
export const SERVICE_DEFAULT = choice('Service Default', '', 'Let the service choose');

/** Offers known values and takes any other, which workflows store as a plain text. */
export function openChoice(
	displayName: string,
	name: string,
	{ options = [], description, ...details }: Partial<INodeProperties>,
): INodeProperties {
	return select(displayName, name, {
		...details,
		allowArbitraryValues: true,
		options: [SERVICE_DEFAULT, ...options],
		description: `${description} For a value that is not in the list, switch to Expression and enter it.`,
	});
}
