/** What an operation is, and the pieces that all resources build their fields from. */
import type { IDataObject, IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { JsonObject } from '../service/json';
import type { ItemFields } from './fields';

export interface CreationRequest {
	/** What siblings are compared by, and what a poll route is remembered for. */
	kind: string;
	/** Begins with a slash, its parts URL-encoded. */
	path: string;
	qs?: IDataObject;
	body: IDataObject;
	/** What the path says of the request, by the name that the service has for it. */
	pathFields?: JsonObject;
	/** The task's type, where the service documents it. */
	type?: string;
}

/** What an operation does. */
export type Work =
	/** Creates a task, and so costs money. The request of one item; throws an `invalid` failure for bad input. */
	| { kind: 'creates'; request(fields: ItemFields): CreationRequest }
	/** Waits for a task made earlier. */
	| { kind: 'awaits' }
	/** Joins files of its input; needs no credential. */
	| { kind: 'joins' }
	/** Looks at a task once. */
	| { kind: 'looks' }
	/** Reads the account's list of tasks. */
	| { kind: 'lists' }
	/** Reads something else: `items` of the answer's body, or undefined where it has an unexpected shape. */
	| { kind: 'reads'; path: string; items(body: unknown): JsonObject[] | undefined };

/** One entry of the table: what workflows carry, what the editor shows, what it does. */
export interface Operation {
	/** As workflows carry it. */
	value: string;
	name: string;
	action: string;
	description: string;
	/** What the canvas says below the node's name. */
	subtitle: string;
	work: Work;
}

export interface Resource {
	/** As workflows carry it. */
	value: string;
	name: string;
	/** By use. */
	operations: readonly Operation[];
	/** The first one, unless given. Never to be changed: workflows are saved without a field that has its default value. */
	defaultOperation?: string;
	/** The fields of its operations, without those that several resources share. */
	fields: readonly INodeProperties[];
}

export function shownFor(resource: string, ...operations: string[]): IDisplayOptions {
	return { show: { resource: [resource], operation: operations } };
}

export function optionsField(
	options: INodeProperties[],
	displayOptions?: IDisplayOptions,
): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options,
		displayOptions,
	};
}

export const MAX_FILE_MB = 500;

export const maxFileSizeOption: INodeProperties = {
	displayName: 'Max File Size (MB)',
	name: 'maxFileSize',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: MAX_FILE_MB,
};
