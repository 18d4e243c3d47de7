/** The fields of requests that are forms (docs/service.md, "Forms and files"). A file that can't be sent is refused before anything is sent. */
import type { IBinaryData, INodeProperties } from 'n8n-workflow';
import { getOrCreate } from '../base/boundedMap';
import { invalid } from '../base/outcomes';
import { asText, trimmedText, type JsonObject } from '../base/json';
import { quote } from '../base/words';
import { fileNamed } from '../n8n/itemFiles';
import type { InputFile, ItemFields } from './fields';
import * as ui from './ui';

const FORM = 'multipart-form-data';

export const bodyTypeField = ui.select('Body Content Type', 'bodyContentType', {
	options: [
		ui.choice(
			'Form-Data',
			FORM,
			'What some newer endpoints expect. Files are always sent this way.',
		),
		ui.choice('JSON', 'json', 'What most endpoints expect'),
	],
	default: 'json',
	description: 'How the body of the request is sent',
});

export function isForm(item: ItemFields): boolean {
	return item.choice(bodyTypeField) === FORM;
}

const formTextsField = ui.rowsField('Fields', 'fields', {
	entry: 'field',
	placeholder: 'Add Field',
	description:
		'Fields of the form, in addition to those of Body. A field given here overrides one of Body.',
	values: [
		ui.text('Name', 'name', { placeholder: 'e.g. target_lang', description: 'Name of the field' }),
		ui.text('Value', 'value', { placeholder: 'e.g. de', description: 'Value of the field' }),
	],
});
const fileNameInItem = ui.text('Input Data Field Name', 'inputDataFieldName', {
	default: 'data',
	placeholder: 'e.g. data',
	description: 'The name of the input data field that holds the file',
});
const formFilesField = ui.rowsField('Files', 'files', {
	entry: 'file',
	placeholder: 'Add File',
	description: 'Files of the form, from input data fields of the item; at most 100 MB together',
	values: [
		ui.text('Name', 'name', {
			default: 'file',
			placeholder: 'e.g. file',
			description: 'Name of the field in the form. Several files may share it.',
		}),
		fileNameInItem,
		ui.text('File Name', 'fileName', {
			placeholder: 'e.g. interview.mp3',
			description: 'Name to send the file under. Leave empty for its own.',
		}),
		ui.text('MIME Type', 'mimeType', {
			placeholder: 'e.g. audio/mpeg',
			description: 'Type to send the file as. Leave empty for its own.',
		}),
	],
});
export const formFields: INodeProperties[] = ui.shownWhen({ bodyContentType: [FORM] }, [
	formTextsField,
	...ui.hiddenWhen(ui.AS_TOOL, [formFilesField]),
]);

/** Finds a file of an item. @param naming the field of the node that names it */
export function itemFile(
	item: ItemFields,
	field: string,
	{ displayName }: INodeProperties,
): IBinaryData {
	const { files } = item;
	const found = fileNamed(files, field);
	if (found !== undefined) return found;
	const present = Object.keys(files).join(', ');
	const failure = quote(asText(item.input.json.error));
	const advice =
		failure === undefined
			? 'Add a node before this one that outputs a file: Read Files from Disk, HTTP Request, Google Drive, or another Media Generation.'
			: `An earlier node failed for this item (${failure}). Repair that, or filter such items out before this node.`;
	throw invalid(
		`Item ${item.itemIndex} has no file in the field "${field}"`,
		present === ''
			? `${advice} Nothing was sent.`
			: `Set '${displayName}' to one of those that the item has: ${present}. Nothing was sent.`,
	);
}

/** @param row the file's name in the form, and the item's field that contains it */
export function inputFile(item: ItemFields, row: JsonObject, naming: INodeProperties): InputFile {
	const name = trimmedText(row.name);
	if (name === undefined) throw namelessRow(formFilesField);
	const property = trimmedText(row.inputDataFieldName) ?? '';
	const binary = itemFile(item, property, naming);
	return {
		field: name,
		name: trimmedText(row.fileName) ?? trimmedText(binary.fileName) ?? property,
		type: trimmedText(row.mimeType) ?? trimmedText(binary.mimeType) ?? 'application/octet-stream',
		binary,
	};
}

const namelessRow = ({ displayName }: INodeProperties) =>
	invalid(
		`A row of the field '${displayName}' has no name`,
		'Enter the name that the service documents for it, or remove the row. Nothing was sent.',
	);

/** Reads the texts of the form. Several rows may share a name: the field is then sent several times. */
export function formTexts(item: ItemFields): { texts: JsonObject; repeated: string[] } {
	const rows = item
		.rows(formTextsField)
		.map(({ name, value }) => [trimmedText(name), value] as const);
	if (rows.some(([name]) => name === undefined)) throw namelessRow(formTextsField);
	const values = new Map<string, unknown[]>();
	for (const [name = '', value] of rows) getOrCreate(values, name, () => []).push(value ?? '');
	const all = [...values];
	return {
		texts: Object.fromEntries(all.map(([name, list]) => [name, list.length > 1 ? list : list[0]])),
		repeated: all.flatMap(([name, list]) => (list.length > 1 ? [name] : [])),
	};
}

export function formFiles(item: ItemFields): InputFile[] {
	return item.rows(formFilesField).map((row) => inputFile(item, row, fileNameInItem));
}
