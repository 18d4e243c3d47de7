/** The table of resources and operations; everything else derives from it. */
import type { INodeProperties } from 'n8n-workflow';
import { invalid } from '../base/outcomes';
import { apiKeys, credits } from './credits';
import { audio } from './audio';
import { image } from './image';
import { model } from './model';
import { music } from './music';
import type { Job, Operation, Resource } from './operation';
import { select, shownWhen } from './ui';
import { soundEffect } from './soundEffect';
import { speech } from './speech';
import { task } from './tasks';
import { voice } from './voice';
import { awaitingFields, creatingFields } from './waiting';

/** The editor shows them in this order: first those that make something, then the others, each group in alphabetical order. */
export const resources: readonly Resource[] = [
	...[audio, image, music, soundEffect, speech],
	...[apiKeys, credits, model, task, voice],
];

/** Finds the operation that a node's parameters name. Throws an `invalid` failure for a pair that does not exist. */
export function operationOf(resource: unknown, operation: unknown): Operation {
	const found = resources
		.find(({ value }) => value === resource)
		?.operations.find(({ value }) => value === operation);
	if (found !== undefined) return found;
	const known = resources.flatMap(({ value, operations }) =>
		operations.map((entry) => `${value}: ${entry.value}`),
	);
	throw invalid(
		`The resource "${String(resource)}" has no operation "${String(operation)}"`,
		`Choose 'Resource' and 'Operation' of this node again. There are: ${known.join(', ')}.`,
	);
}

function operationField({
	value: resource,
	operations,
	defaultOperation,
}: Resource): INodeProperties {
	return select('Operation', 'operation', {
		noDataExpression: true,
		default: defaultOperation ?? operations[0].value,
		displayOptions: { show: { resource: [resource] } },
		options: operations.map(({ value, name, action, description }) => {
			return { name, value, action, description };
		}),
	});
}

/** Shows the fields for the operations of this kind; without a kind, for all. */
function fieldsFor(
	{ value, operations }: Resource,
	fields: readonly INodeProperties[] = [],
	kind?: Job['kind'],
): INodeProperties[] {
	const fitting = operations.filter(({ work }) => kind === undefined || work.kind === kind);
	if (fitting.length === 0) return [];
	return shownWhen({ resource: [value], operation: fitting.map((each) => each.value) }, fields);
}

const inTitleCase = (action: string) =>
	action.replace(/\b(?!for\b)[a-z]/g, (letter) => letter.toUpperCase());

const subtitles = Object.fromEntries(
	resources.flatMap(({ value: resource, operations }) =>
		operations.map(({ value, action, subtitle = inTitleCase(action), subtitleField }) => {
			return [`${resource}:${value}`, [subtitle, subtitleField]];
		}),
	),
);

/**
 * Makes e.g. "Speech: en-US-AriaNeural", "4 × Image", "Create Task: /v1m/task/music-generation". The canvas does not know an
 * expression's result. A picked entry is shown by its name, which only the copy of the parameters has.
 */
export const subtitle = `={{ (([label, field]) => ((detail) =>
	typeof detail === "number" ? (detail > 1 ? detail + " × " : "") + label : detail && detail[0] !== "=" ? label + ": " + detail : label
)(field && ($rawParameter.toJSON()[field]?.cachedResultName || $rawParameter[field])))((${JSON.stringify(subtitles)})[$parameter["resource"] + ":" + $parameter["operation"]] ?? [$parameter["operation"]]) }}`;

export const properties: INodeProperties[] = [
	select('Resource', 'resource', {
		noDataExpression: true,
		options: resources.map(({ name, value, displayOptions }) => ({ name, value, displayOptions })),
		default: 'speech',
	}),
	...resources.flatMap((each) => [operationField(each), ...fieldsFor(each, each.fields)]),
	...resources.flatMap((each) => fieldsFor(each, creatingFields(each), 'creates')),
	...fieldsFor(task, awaitingFields, 'awaits'),
];
