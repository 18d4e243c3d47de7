/** The one table of resources and operations. Whatever depends on which there are is derived from it. */
import type { INodeProperties } from 'n8n-workflow';
import { invalid } from '../service/failures';
import { apiKeys, credits } from './account';
import { audio } from './audio';
import { image } from './image';
import { select, type Operation, type Resource } from './operation';
import { soundEffect } from './soundEffect';
import { speech } from './speech';
import { task } from './task';
import { waitingFields } from './waitingFields';

/** By use: what makes something comes first. The editor lists the actions of the node in this order. */
const resources: readonly Resource[] = [speech, image, soundEffect, audio, task, credits, apiKeys];

/** The operation that a node's parameters name. Throws an `invalid` failure for a pair that does not exist. */
export function operationOf(resource: unknown, operation: unknown): Operation {
	const found = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === operation);
	if (found !== undefined) return found;
	const known = resources.flatMap(({ value, operations }) =>
		operations.map((entry) => `${value}: ${entry.value}`),
	);
	throw invalid(
		`There is no operation "${String(operation)}" of the resource "${String(resource)}"`,
		`Choose Resource and Operation again in this node. There are: ${known.join(', ')}.`,
	);
}

const resourceField = select('Resource', 'resource', {
	noDataExpression: true,
	options: resources.map(({ name, value }) => ({ name, value })),
	default: 'speech',
});

function operationField({ value, operations, defaultOperation }: Resource): INodeProperties {
	return select('Operation', 'operation', {
		noDataExpression: true,
		default: defaultOperation ?? operations[0].value,
		displayOptions: { show: { resource: [value] } },
		options: operations.map(({ subtitle: _, work: __, ...shown }) => shown),
	});
}

function fieldsOf({ value, operations, fields = [] }: Resource): INodeProperties[] {
	const always = { resource: [value], operation: operations.map((each) => each.value) };
	return fields.map((field) => {
		const show = { ...always, ...field.displayOptions?.show };
		return { ...field, displayOptions: { show } };
	});
}

const subtitles = Object.fromEntries(
	resources.flatMap(({ value: resource, operations }) =>
		operations.map(({ value, action, subtitle }) => [`${resource}:${value}`, subtitle ?? action]),
	),
);

export const subtitle = `={{ (${JSON.stringify(subtitles)})[$parameter["resource"] + ":" + $parameter["operation"]] ?? $parameter["operation"] }}`;

export const properties: INodeProperties[] = [
	resourceField,
	...resources.flatMap((resource) => [operationField(resource), ...fieldsOf(resource)]),
	...waitingFields(resources),
];
