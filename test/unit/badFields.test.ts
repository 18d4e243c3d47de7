/** Every field of every operation that creates tasks, as the editor shows it: what it can't be is refused before anything is sent, in words that name it. */
import type { INodeProperties } from 'n8n-workflow';
import { operationOf, properties } from '../../nodes/MediaGeneration/actions';
import { readRunSettings } from '../../nodes/MediaGeneration/actions/creditLimits';
import { includeInputOption, readItemSettings } from '../../nodes/MediaGeneration/actions/waiting';
import { creating, USABLE } from '../support/operations';
import { empty, fieldsWith, noText, refusalOf } from './itemFields';

type Fields = Record<string, unknown>;

interface Shown {
	field: INodeProperties;
	/** The collection that it is in. */
	within?: string;
	/** The values of other fields that show it. */
	among: Fields;
}

const showOf = ({ displayOptions: { show = {} } = {} }: INodeProperties) =>
	Object.entries(show).map(([name, values = []]) => [name.replace('/', ''), values] as const);

/** The fields of an operation, those in collections included. */
function fieldsOf(chosen: Fields, given: readonly INodeProperties[], within?: string): Shown[] {
	return given.flatMap((field) => {
		const show = showOf(field);
		const isOther = show.some(
			([name, values]) => name in chosen && !(values as unknown[]).includes(chosen[name]),
		);
		if (isOther || ['notice', 'fixedCollection'].includes(field.type)) return [];
		if (field.type === 'collection')
			return fieldsOf(chosen, (field.options ?? []) as INodeProperties[], field.name);
		const others = show.filter(([name]) => !(name in chosen)).map(([name, [one]]) => [name, one]);
		const among = Object.fromEntries(others) as Fields;
		return [{ field, among, ...(within !== undefined && { within }) }];
	});
}

const binary = { data: { data: '', mimeType: 'audio/mpeg' } };

/** Reads all that a run reads of an item before it sends anything. */
function readAll(chosen: Fields, given: Fields): void {
	const { work } = operationOf(chosen.resource, chosen.operation);
	if (work.kind !== 'creates') throw new Error(work.kind);
	const item = fieldsWith({ generationsCount: 1, ...USABLE, ...chosen, ...given }, { binary });
	work.files?.(item);
	work.request(item);
	readItemSettings(item, false, work.callsBack);
	readRunSettings(item);
	item.boolean(includeInputOption, false);
}

const expression = '{{ $json.a }}';

/** What a field can't be, and how it is refused. */
function badValuesOf(field: INodeProperties): Array<[unknown, string[]]> {
	const { displayName: label, name, type, typeOptions = {}, placeholder = '' } = field;
	const typed: [unknown, string[]] = [
		`Dear ${expression}`,
		[
			`'${label}' contains the expression ${expression} as plain text, because the field is set to Fixed`,
			'Switch it to Expression (above the field, on the right). Nothing was sent.',
		],
	];
	if (type === 'boolean')
		return ['no', 7].map((value) => [
			value,
			[
				`'${label}' must be true or false`,
				`Turn '${label}' on or off. An expression must return true or false. Nothing was sent.`,
			],
		]);
	if (type === 'number') {
		const { minValue: least = NaN, maxValue: most, numberPrecision } = typeOptions;
		const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
		const kind = numberPrecision === 0 ? 'whole number' : 'number';
		const words = [
			`'${label}' must be a ${kind} ${range}`,
			`Set '${label}' to such a number. Nothing was sent.`,
		];
		const broken = numberPrecision === 0 ? [least + 0.5] : [];
		const beyond = most === undefined ? [] : [most + 1];
		return ['', null, 'much', {}, least - 1, ...beyond, ...broken].map((value) => [value, words]);
	}
	if (type === 'options' && !field.allowArbitraryValues) {
		const values = (field.options ?? []).map((each) => 'value' in each && each.value);
		const known = values.filter((value) => value !== '').join(', ');
		const words = [`'${label}' has an unknown value`, `Set '${label}' to one of: ${known}.`];
		return ['x', 7].map((value) => [value, words]);
	}
	if (type === 'json') {
		const isList = name === 'linesJson';
		const [wrong, noSuch] = isList
			? ['{}', `Enter a list in brackets, ${placeholder}.`]
			: ['[1]', `Enter an object in braces, ${placeholder}, not a list, a text or a number.`];
		return [
			typed,
			[7, [`The field '${label}' is not a JSON ${isList ? 'list' : 'object'}`, noSuch]],
			[wrong, [`The field '${label}' is not a JSON ${isList ? 'list' : 'object'}`, noSuch]],
			[
				'{a: 1}',
				[
					`The field '${label}' is not valid JSON`,
					`Enter a JSON ${isList ? 'list' : 'object'}, ${placeholder}. Names and text values need double quotes.`,
				],
			],
		];
	}
	// Files have a field in any case.
	const isNeeded = field.required && name !== 'outputBinaryField';
	const nothing = isNeeded ? [undefined, '', ' \n', '\u200b\ufeff '] : [];
	return [
		typed,
		...[NaN, {}, ['a']].map((value): [unknown, string[]] => [value, noText(label)]),
		...nothing.map((value): [unknown, string[]] => [value, empty(label)]),
	];
}

test.each(creating)('$resource: $operation', (chosen) => {
	const shown = fieldsOf(chosen, properties).filter(
		({ field }) => !['resource', 'operation'].includes(field.name),
	);
	expect(shown.length).toBeGreaterThan(15);
	const needed = shown.flatMap(({ field }) => (field.required ? field.name : []));
	const unknown = needed.filter((name) => !(name in USABLE));
	expect(unknown.map((name) => `Add ${name} to USABLE of test/support/operations`)).toEqual([]);
	expect(() => readAll(chosen, {})).not.toThrow();
	for (const { field, within, among } of shown)
		for (const [value, [message, description]] of badValuesOf(field)) {
			const own = { [field.name]: value };
			const given = within === undefined ? own : { [within]: own };
			const where = JSON.stringify(given);
			const refusal = refusalOf(() => readAll(chosen, { ...among, ...given }));
			expect({ where, ...refusal }).toEqual({ where, message, description });
		}
});
