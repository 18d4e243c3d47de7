/** docs/fields.md: what the editor offers for each operation, by the descriptions of the nodes. */
import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyOptions,
	type INodeTypeDescription,
} from 'n8n-workflow';

const node = { typeVersion: 1 };

/** Said once, at the beginning of the page. */
const OF_JSON =
	/ Must be a JSON (object; a list, a text or a number is refused|list)\.|( Nested objects are merged, and a field given here overrides the same field above\.)/g;

const escaped = (words: string) =>
	words
		.replace(/\s+/g, ' ')
		.replace(/<\/?code>/g, '`')
		.replace(OF_JSON, '');

function choicesOf({ options = [] }: INodeProperties): INodePropertyOptions[] {
	return options.filter((option): option is INodePropertyOptions => 'value' in option);
}

function defaultOf(field: INodeProperties): string {
	const { type, default: given } = field;
	if (type === 'resourceLocator') return 'From List';
	const names = choicesOf(field).flatMap(({ name, value }) =>
		[given].flat().some((one) => one === value) ? name : [],
	);
	if (names.length > 0) return names.join(', ');
	if (typeof given === 'boolean') return given ? 'on' : 'off';
	const isShown = typeof given === 'number' || (typeof given === 'string' && given !== '');
	return isShown ? `\`${given}\`` : '';
}

/** The conditions of a field, except those that choose the operation. */
function conditionsOf({ displayOptions: { show = {}, hide = {} } = {} }: INodeProperties): string {
	const each = (rules: typeof show, verb: string) =>
		Object.entries(rules)
			.filter(([name]) => !/^\/?(resource|operation)$/.test(name))
			.map(([name, values = []]) => `${verb} \`${name.replace(/^\//, '')}\` ${listOf(values)}`);
	return [...each(show, 'if'), ...each(hide, 'not if')].join('; ');
}

const listOf = (values: readonly unknown[]) => values.map(valueInWords).join(' or ');

function valueInWords(value: unknown): string {
	if (value === '') return 'empty';
	const [, rule, limit] = /^{"_cnd":{"(\w+)":(.*)}}$/.exec(JSON.stringify(value)) ?? [];
	const words: Record<string, string> = { lte: 'of at most', not: 'other than' };
	return rule === undefined ? JSON.stringify(value) : `${words[rule] ?? rule} ${limit}`;
}

const isNotice = ({ type }: INodeProperties) => type === 'notice';

function entryOf({ field, path }: Entry, isTwice = false): string[] {
	const { displayName, name, description = '', hint = '' } = field;
	if (isNotice(field)) return [`- _${escaped(displayName)}_`];
	const shown = isTwice ? ` Shown ${conditionsOf(field)}.` : '';
	const given = defaultOf(field);
	const notes = [field.required === true ? 'required' : '', given && `default: ${given}`];
	const noted = notes.filter(Boolean).join(', ');
	const sentence = (words: string) =>
		words === '' ? '' : ` ${escaped(words).replace(/\.?$/, '.')}`;
	const said = `${sentence(description)}${sentence(hint)}${shown}`;
	const head = `- **${displayName}** \`${path}${name}\`${noted === '' ? '' : ` (${noted})`}`;
	const choices = choicesOf(field).reduce((lines, each) => {
		const about = each.description === undefined ? '' : `: ${escaped(each.description)}`;
		const value = each.value === '' ? 'empty' : `\`${String(each.value)}\``;
		return lines.set(about, [...(lines.get(about) ?? []), `${each.name} (${value})`]);
	}, new Map<string, string[]>());
	const rows = rowsOf(field).map((row) => `  ${entryOf({ field: row, path: '' })[0]}`);
	// Choices that say the same of themselves share a line.
	const listed = [...choices].map(([about, names]) => `  - ${names.join('; ')}${about}`);
	return [`${head}.${said}`, ...listed, ...rows];
}

/** The fields of each row, of a field that has rows. */
function rowsOf({ type, options = [] }: INodeProperties): INodeProperties[] {
	if (type !== 'fixedCollection') return [];
	return options.flatMap((option) => ('values' in option ? option.values : []));
}

interface Entry {
	field: INodeProperties;
	/** What comes before its name in a workflow. */
	path: string;
}

/** All fields, with those in collections behind them. */
function entriesIn(
	fields: readonly INodeProperties[],
	belongs: (field: INodeProperties) => boolean = () => true,
): Entry[] {
	return fields
		.filter(belongs)
		.flatMap((field) =>
			field.type === 'collection'
				? ((field.options ?? []) as INodeProperties[])
						.filter(belongs)
						.map((option) => ({ field: option, path: `${field.name}.` }))
				: [{ field, path: '' }],
		);
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

interface Section {
	title: string;
	about: string;
	/** Lines of each field. */
	entries: Array<{ name: string; lines: string }>;
}

/** When a field is shown is said only if another one has its name. */
function inWords(entries: readonly Entry[]): Section['entries'] {
	const keyOf = ({ field, path }: Entry) => path + field.name;
	return entries.map((entry) => {
		const { length } = entries.filter((each) => keyOf(each) === keyOf(entry));
		const isTwice = length > 1 && !isNotice(entry.field);
		return { name: entry.field.displayName, lines: entryOf(entry, isTwice).join('\n') };
	});
}

function actionSections(description: INodeTypeDescription): Section[] {
	const { properties } = description;
	const resources = properties.filter(({ name }) => name === 'resource').flatMap(choicesOf);
	return resources.flatMap(({ name: resource, value }) => {
		const operations = properties.filter(
			(field) => field.name === 'operation' && belongsTo(field, { resource: value }, description),
		);
		return operations.flatMap(choicesOf).map((operation): Section => {
			const chosen = { resource: value, operation: operation.value };
			const fields = properties.filter(({ name }) => !['resource', 'operation'].includes(name));
			const entries = entriesIn(fields, (field) => belongsTo(field, chosen, description));
			return {
				title: `### ${resource}: ${operation.name}`,
				about: escaped(operation.description ?? '').replace(/ Never repeat it blindly.*/, ''),
				entries: inWords(entries),
			};
		});
	});
}

/** What several operations have is explained once. */
function commonIn(sections: readonly Section[]): Set<string> {
	const all = sections.flatMap(({ entries }) => entries.map(({ lines }) => lines));
	const counts = new Map<string, number>();
	for (const lines of all) counts.set(lines, (counts.get(lines) ?? 0) + 1);
	return new Set(all.filter((lines) => (counts.get(lines) ?? 0) > 1));
}

const namesOf = ({ entries }: Section, common: ReadonlySet<string>): string[] => [
	...new Set(
		entries
			.filter(({ lines }) => common.has(lines) && !lines.startsWith('- _'))
			.map(({ name }) => name),
	),
];

/** Common to all operations that wait. */
function waitingNames(sections: readonly Section[], common: ReadonlySet<string>): string[] {
	const all = sections.map((section) => namesOf(section, common));
	const [first = [], ...others] = all.filter((names) => names.includes('Wait for Completion'));
	return first.filter((name) => others.every((names) => names.includes(name)));
}

function linesOf(
	section: Section,
	common: ReadonlySet<string>,
	waiting: readonly string[],
): string[] {
	const { title, about, entries } = section;
	const own = entries.filter(({ lines }) => !common.has(lines)).map(({ lines }) => lines);
	const shared = namesOf(section, common);
	const waits = waiting.every((name) => shared.includes(name));
	const names = [
		...(waits ? ['those of all creations'] : []),
		...shared.filter((name) => !waits || !waiting.includes(name)),
	].join(', ');
	return [
		...[title, '', about, ''],
		...(own.length === 0 ? [] : [...own, '']),
		...(names === '' ? [] : [`[Common](#common-fields-and-options): ${names}.`, '']),
		...(entries.length === 0 ? ['No fields.', ''] : []),
	];
}

export function fieldsPage(action: INodeTypeDescription, trigger: INodeTypeDescription): string {
	const sections = actionSections(action);
	const started: Section = {
		title: '## Media Generation Trigger',
		about: trigger.description,
		entries: inWords(entriesIn(trigger.properties)),
	};
	const common = commonIn([...sections, started]);
	const waiting = waitingNames(sections, common);
	return (
		[
			'# What the editor offers',
			'',
			'Generated from the nodes by `npm run fields`; a test compares. Each field with its name on screen and in workflows, its default, and what it does. The default of an option holds without it, too, with these exceptions: Include Input, Split Files and Transcript in Output are then off, Stop After Credits sets no limit, and settings of a voice or a sound are not sent. JSON fields take an object (Lines: a list), nothing else; in Extra Body Fields nested objects are merged, and a field overrides the same one above it.',
			'',
			'## Common fields and options',
			'',
			`All creations have ${waiting.join(', ')}.`,
			'',
			...common,
			'',
			'## Media Generation',
			'',
			...sections.flatMap((section) => linesOf(section, common, waiting)),
			...linesOf(started, common, waiting),
		]
			.join('\n')
			.replace(/\n+$/, '') + '\n'
	);
}
