/** What an operation is, and the pieces that all resources build their fields from. */
import type {
	IDataObject,
	IDisplayOptions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import type { JsonObject } from '../service/json';
import type { ItemFields } from './fields';

export interface CreationRequest {
	/** What siblings are compared by, and what a poll route is remembered for. */
	kind: string;
	/** Begins with a slash, its parts URL-encoded. */
	path: string;
	qs?: IDataObject;
	body: IDataObject;
}

/** An operation that creates a task, and so costs money. */
export interface GeneratingOperation {
	resource: string;
	operation: string;
	/** The creation request of one item. Throws an `invalid` failure for bad input. */
	request(fields: ItemFields): CreationRequest;
}

/** An operation that only reads. */
export interface ReadingOperation {
	resource: string;
	operation: string;
	path(fields: ItemFields): string;
	/** The items in the answer's body, or undefined where it is not what it should be. */
	items(body: unknown): JsonObject[] | undefined;
}

export function shownFor(resource: string, ...operations: string[]): IDisplayOptions {
	return { show: { resource: [resource], operation: operations } };
}

export function operationField(
	resource: string,
	defaultValue: string,
	options: INodePropertyOptions[],
): INodeProperties {
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
		options,
		default: defaultValue,
	};
}
