/** docs/fields.md: what the editor offers for each operation, by the descriptions of the nodes. */
import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyOptions,
	type INodeTypeDescription,
} from 'n8n-workflow';

const node = { typeVersion: 1 };

const escaped = (words: string) => words.replace(/\|/g, '\\|').replace(/\s+/g, ' ');

function choicesOf({ options = [] }: INodeProperties): INodePropertyOptions[] {
	return options.filter((option): option is INodePropertyOptions => 'value' in option);
}

function defaultOf(field: INodeProperties): string {
	const { type, default: given } = field;
	if (type === 'notice') return '(text)';
	if (type === 'resourceLocator') return 'From List';
	if (type === 'collection') return '';
	const names = choicesOf(field).flatMap(({ name, value }) =>
		[given].flat().some((one) => one === value) ? name : [],
	);
	if (names.length > 0) return names.join(', ');
	if (typeof given === 'boolean') return given ? 'on' : 'off';
	if (given === '') return '';
	return typeof given === 'string' || typeof given === 'number' ? `\`${given}\`` : '';
}

/** The conditions of a field, except those that choose the operation. */
function conditionsOf({ displayOptions: { show = {}, hide = {} } = {} }: INodeProperties): string {
	const each = (rules: typeof show, verb: string) =>
		Object.entries(rules)
			.filter(([name]) => !/^\/?(resource|operation)$/.test(name))
			.map(([name, values = []]) => `${verb} \`${name.replace(/^\//, '')}\` ${listOf(values)}`);
	return [...each(show, 'if'), ...each(hide, 'not if')].join('; ');
}

const listOf = (values: readonly unknown[]) => values.map(inWords).join(' or ');

function inWords(value: unknown): string {
	if (value === '') return 'empty';
	const [, rule, limit] = /^{"_cnd":{"(\w+)":(.*)}}$/.exec(JSON.stringify(value)) ?? [];
	const words: Record<string, string> = { lte: 'of at most', not: 'other than' };
	return rule === undefined ? JSON.stringify(value) : `${words[rule] ?? rule} ${limit}`;
}

function rowOf(field: INodeProperties): string {
	const name = field.type === 'notice' ? `*${escaped(field.displayName)}*` : field.displayName;
	const required = field.required === true ? ' *' : '';
	return `| ${name}${required} | \`${field.name}\` | ${escaped(defaultOf(field))} | ${conditionsOf(field)} |`;
}

const HEAD = ['| On screen | Name | Default | Shown |', '|---|---|---|---|'];

function tableOf(
	fields: readonly INodeProperties[],
	belongs: (option: INodeProperties) => boolean = () => true,
): string[] {
	const options = fields.find(({ type }) => type === 'collection');
	const offered = ((options?.options ?? []) as INodeProperties[]).filter(belongs);
	const plain = fields.filter((field) => field !== options);
	const title = options === undefined ? [] : ['', `${options.displayName}:`, ''];
	return [
		...(plain.length === 0 ? ['No fields.'] : [...HEAD, ...plain.map(rowOf)]),
		...title,
		...(offered.length === 0 ? [] : [...HEAD, ...offered.map(rowOf)]),
		'',
	];
}

/** Whether a field belongs to the operation, whatever its other fields say. */
function belongsTo(field: INodeProperties, chosen: INodeParameters, of: INodeTypeDescription) {
	const rules = field.displayOptions?.show ?? {};
	// Inside a collection, the node's own fields are named with a slash.
	const [resource, operation] = ['resource', 'operation'].map((it) => rules[it] ?? rules[`/${it}`]);
	const show = { ...(resource && { resource }), ...(operation && { operation }) };
	const named = { displayOptions: { show } } as INodeProperties;
	return NodeHelpers.displayParameter(chosen, named, node, of);
}

function actionLines(description: INodeTypeDescription): string[] {
	const { properties } = description;
	const resources = properties.filter(({ name }) => name === 'resource').flatMap(choicesOf);
	return resources.flatMap(({ name: resource, value }) => {
		const operations = properties.filter(
			(field) => field.name === 'operation' && belongsTo(field, { resource: value }, description),
		);
		return operations.flatMap(choicesOf).flatMap((operation) => {
			const chosen = { resource: value, operation: operation.value };
			const belongs = (field: INodeProperties) => belongsTo(field, chosen, description);
			const fields = properties.filter(
				(field) => !['resource', 'operation'].includes(field.name) && belongs(field),
			);
			const title = `### ${resource}: ${operation.name}`;
			return [title, '', escaped(operation.description ?? ''), '', ...tableOf(fields, belongs)];
		});
	});
}

export function fieldsPage(action: INodeTypeDescription, trigger: INodeTypeDescription): string {
	return [
		'# What the editor offers',
		'',
		'Generated from the nodes by `npm run fields`; a test compares. The fields of each operation in the order of the screen, with their defaults and conditions. `*` marks what is required, and text in italics is shown as a notice. `@tool`: as a tool of an AI agent.',
		'',
		'## Media Generation',
		'',
		...actionLines(action),
		'## Media Generation Trigger',
		'',
		...tableOf(trigger.properties),
	]
		.join('\n')
		.replace(/\n+$/, '\n');
}
