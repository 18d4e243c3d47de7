/** How n8n handles items that have an `error` (`handleNodeErrorOutput` and `workflow-execute`, n8n-core 2.41.1). */
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../base/json';

/** Returns whether items with an error leave by a branch of their own. */
const hasErrorBranch = ({ onError }: INode) => onError === 'continueErrorOutput';

/** The fields that "Task: Wait" reads of an item with an error, and of one whose text has several parts. */
const FIELDS = { outcome: null, task_id: null, task_ids: null, unfinished: null };
const FIELDS_OF_PARTS = { part: null, parts: null, long_text: null };

/**
 * Makes n8n send an item to the error branch, with all of its fields. n8n fills fields that such an item lacks from the node's input, e.g.
 * the ID of a task that is done, so the item has those that "Task: Wait" reads; the others keep the row's value. n8n decides by the item's
 * `error`, but then reduces the JSON of every item that still has one to its message. It copies the item in between, and a copy loses a
 * hidden property.
 */
export function toErrorBranch(
	node: INode,
	item: INodeExecutionData,
	error: () => Error,
): INodeExecutionData {
	if (!hasErrorBranch(node)) return item;
	const ofParts = Object.hasOwn(item.json, 'task_ids') ? FIELDS_OF_PARTS : {};
	const sent = { ...item, json: { ...FIELDS, ...ofParts, ...item.json } };
	return Object.defineProperty(sent, 'error', { value: error() });
}

/**
 * The same for an item that n8n saves with a sleeping execution, or gets from its webhook. It copies such items, so no hidden property
 * survives, and sends an item to the error branch only if its JSON has nothing but `error`, `message` and `details`.
 */
export function toErrorBranchAsleep(node: INode, item: INodeExecutionData): INodeExecutionData {
	if (!hasErrorBranch(node)) return { ...item };
	const { error } = item.json;
	return { ...item, json: { error, details: item.json } };
}

function saysNothing(error: unknown): boolean {
	if (typeof error === 'string') return error.trim() === '';
	if (typeof error === 'object') return error === null || Object.keys(error).length === 0;
	return error === undefined || error === false || error === 0;
}

/** Drops an `error` that says nothing: n8n repeats a node whose first item has one, unless it is undefined, null or false. */
export function withoutEmptyError(fields: JsonObject): IDataObject {
	// Most have none, and an answer of 100,000 fields should not be copied in vain.
	if (!Object.hasOwn(fields, 'error') || !saysNothing(fields.error)) return fields as IDataObject;
	const { error: _nothing, ...others } = fields;
	return others as IDataObject;
}
