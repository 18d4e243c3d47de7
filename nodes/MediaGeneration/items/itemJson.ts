/** Keeps apart what meets in an item's JSON: the service's own fields, the names of this package, and the JSON of the input item. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../base/json';
import { withoutEmptyError } from '../n8n/errorItems';

/** Leaves out the fields that have no value. */
export function present(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Names to which n8n or this package give a meaning. A task's own fields of these names get the prefix `task_`. */
const OWN_NAMES = [
	...['error', 'outcome', 'outputs', 'unfinished', 'task_ids', 'part', 'parts', 'joined'],
	'_files',
];

/** Gives the fields of a task, or of the answer to a creation, names that mean nothing else. */
export function fieldsOf(raw: JsonObject): IDataObject {
	const fields: IDataObject = { ...withoutEmptyError(raw) };
	for (const name of OWN_NAMES) {
		if (!Object.hasOwn(fields, name)) continue;
		fields[`task_${name}`] = fields[name];
		delete fields[name];
	}
	return fields;
}

/**
 * Gives an item the JSON of the input item, as "Include Input" asks for. In place, because a failed item has a hidden property that a copy
 * lacks. @param input undefined if the option is off
 */
export function carryInput(
	item: INodeExecutionData,
	input: IDataObject | undefined,
): INodeExecutionData {
	if (input === undefined) return item;
	const { input: own, ...json } = item.json;
	// An item that "Task: Wait" passes through is its own input.
	const hasOwn = own !== undefined && item.json !== input;
	// The binary mode "combined" keeps the files there.
	const { _files: _notCarried, ...carried } = input;
	item.json = { ...json, ...(hasOwn ? { task_input: own } : {}), input: carried };
	return item;
}
