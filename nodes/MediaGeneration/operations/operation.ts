import type { IDataObject, IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { JsonObject } from '../service/json';
import type { Reading } from '../service/reading';
import type { ItemFields } from './fields';

export interface CreationRequest {
	/** What siblings are compared by, and what a poll route is remembered for. */
	kind: string;
	/** Its parts URL-encoded. */
	path: string;
	qs?: IDataObject;
	body: IDataObject;
	/** What the path says of the request, by the name that the service has for it. */
	pathFields?: JsonObject;
	/** Where the service documents it. */
	type?: string;
}

export type Work =
	/** Costs money. The request throws an `invalid` failure for bad input. */
	| { kind: 'creates'; request(fields: ItemFields): CreationRequest }
	| { kind: 'awaits' }
	| { kind: 'joins' }
	/** Costs nothing, so a request that fails for the moment is repeated. Throws a FailureError. */
	| { kind: 'reads'; read(from: Source, fields: ItemFields): Promise<JsonObject[]> };

export type Source = Pick<Reading, 'client' | 'signal'>;

export interface Operation {
	/** As workflows carry it. */
	value: string;
	name: string;
	action: string;
	description: string;
	/** Unless it is the action. */
	subtitle?: string;
	work: Work;
}

export interface Resource {
	value: string;
	name: string;
	operations: readonly [Operation, ...Operation[]];
	/** The first one, unless given. Never to be changed: workflows are saved without a field that has its default value. */
	defaultOperation?: string;
	/** Without those that several resources share. Shown for all of its operations, unless a field lists some. */
	fields?: readonly INodeProperties[];
	/** What services take beyond these, as an example in JSON (docs/service.md, "Values"). Of a resource that creates tasks. */
	extraFields?: string;
}

/** Fields that are shown only under a condition, beside those that they have themselves. */
export function shownWhen(condition: IDisplayOptions['show'], fields: readonly INodeProperties[]) {
	return fields.map((field) => ({
		...field,
		displayOptions: { show: { ...condition, ...field.displayOptions?.show } },
	}));
}

/** A field of the editor, by its name on screen and the name that workflows carry. Empty or off, unless its details say otherwise. */
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
export const toggle = fieldOf('boolean', false);
export const select = fieldOf('options', '');
export const notice = fieldOf('notice', '');
/** One of those that a select offers. */
export const choice = (name: string, value: string, description: string) => {
	return { name, value, description };
};
const json = fieldOf('json', '{}');
const collection = fieldOf('collection', {});
const picker = fieldOf('resourceLocator', { mode: 'id', value: '' });

export function jsonField(
	displayName: string,
	name: string,
	{ what, example }: { what: string; example: string },
): INodeProperties {
	return json(displayName, name, {
		placeholder: `e.g. ${example}`,
		description: `${what}, e.g. <code>${example}</code>. Must be a JSON object; a list, a text or a number is refused.`,
	});
}

export function optionsField(options: INodeProperties[]): INodeProperties {
	return collection('Options', 'options', { placeholder: 'Add option', options });
}

export const MAX_FILE_MB = 500;

export function maxFileSizeOption(description: string): INodeProperties {
	const details = { typeOptions: { minValue: 0 }, default: MAX_FILE_MB, description };
	return amount('Max File Size (MB)', 'maxFileSize', details);
}

export type ListName = 'searchImageModels' | 'searchSpeechModels' | 'searchVoices';

/** The list comes first from version 1.1 on; in version 1 the ID, as the editor reads the plain text of older workflows in the first mode. */
export function locator(
	displayName: string,
	name: string,
	{ list, placeholder, ...details }: Partial<INodeProperties> & { list: ListName },
): INodeProperties[] {
	const idFirst = picker(displayName, name, {
		...details,
		modes: [
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder },
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod: list, searchable: true },
			},
		],
	});
	const modes = [...(idFirst.modes ?? [])].reverse();
	const listFirst: INodeProperties = { ...idFirst, default: { mode: 'list', value: '' }, modes };
	return [
		...shownWhen({ '@version': [1] }, [idFirst]),
		...shownWhen({ '@version': [1.1] }, [listFirst]),
	];
}

/** Offers known values and takes any other, which workflows carry as a plain text. */
export function openChoice(
	displayName: string,
	name: string,
	{ options = [], description, ...details }: Partial<INodeProperties>,
): INodeProperties {
	return select(displayName, name, {
		...details,
		allowArbitraryValues: true,
		options: [{ name: 'Not Set', value: '', description: 'Left out of the request' }, ...options],
		description: `${description} For a value that is not in the list, switch to Expression and enter it.`,
	});
}
