/** What the editor shows of the two nodes: n8n's rules for words on screen, and everything that must fit together. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
} from 'n8n-workflow';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';

const node = new MediaGeneration();
const action = node.description;
const trigger = new MediaGenerationTrigger().description;
const folder = join(__dirname, '../../nodes/MediaGeneration');

type Entry = INodeProperties | INodePropertyOptions | INodePropertyCollection;

/** All fields, those in collections included. */
function fieldsIn(entries: readonly Entry[]): INodeProperties[] {
	return entries.flatMap((entry) =>
		'type' in entry ? [entry, ...fieldsIn(entry.options ?? [])] : [],
	);
}
const fields = [action, trigger].flatMap(({ properties }) => fieldsIn(properties));

/** The entries of an options field. */
const choicesOf = ({ options = [] }: INodeProperties) =>
	options.filter((option): option is INodePropertyOptions => 'value' in option);

/** The resource that a field is shown for; empty for a field of the whole node. */
function resourceOf({ displayOptions }: INodeProperties): string {
	const [resource] = displayOptions?.show?.resource ?? [];
	return typeof resource === 'string' ? resource : '';
}

const operations = action.properties
	.filter(({ name }) => name === 'operation')
	.flatMap((field) => {
		const resource = resourceOf(field);
		return choicesOf(field).map((choice) => ({ resource, ...choice }));
	});

describe('words on screen', () => {
	test('hints fit into 120 characters', () => {
		const hints = fields.flatMap(({ hint }) => hint ?? []);
		expect(hints.length).toBeGreaterThan(0);
		expect(hints.filter((hint) => hint.length > 120)).toEqual([]);
	});

	test('names are in title case', () => {
		const small = /^(a|an|and|as|at|by|for|from|in|into|of|on|or|per|the|to|with)$/;
		const names = fields
			.filter(({ type }) => type !== 'notice')
			.map(({ displayName }) => displayName);
		const wrong = names.filter((name) =>
			name
				.split(/[\s(]+/)
				.some((word, index) => /^[a-z]/.test(word) && (index === 0 || !small.test(word))),
		);
		expect(wrong).toEqual([]);
	});

	test('booleans say "Whether"', () => {
		const booleans = fields.filter(({ type }) => type === 'boolean');
		expect(booleans.length).toBeGreaterThan(3);
		for (const { description } of booleans) expect(description).toMatch(/^Whether /);
	});

	test('placeholders are examples, and those of collections say what to do', () => {
		const placeholders = fields.flatMap(({ type, placeholder, modes = [] }) => [
			...(placeholder === undefined ? [] : [{ type, placeholder }]),
			...modes.flatMap((mode) =>
				mode.placeholder === undefined ? [] : [{ type, placeholder: mode.placeholder }],
			),
		]);
		expect(placeholders.length).toBeGreaterThan(5);
		for (const { type, placeholder } of placeholders)
			expect(placeholder).toMatch(type === 'collection' ? /^Add / : /^e\.g\. /);
	});

	test('actions are in sentence case and without articles', () => {
		for (const { action: words = '' } of operations) {
			expect(words).toMatch(/^[A-Z][a-z]+( [a-z]+| ID| API)+s?$/);
			expect(words).not.toMatch(/\b(a|an|the)\b/i);
		}
	});

	test('choices stand in the order of their names', () => {
		const sorted = (names: string[]) =>
			[...names].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase()));
		for (const field of action.properties.filter(({ name }) =>
			/^(resource|operation)$/.test(name),
		)) {
			const names = choicesOf(field).map(({ name }) => name);
			expect(names).toEqual(sorted(names));
		}
		for (const field of fields.filter(({ type }) => type === 'collection')) {
			const names = (field.options ?? []).map((option) =>
				'displayName' in option ? option.displayName : option.name,
			);
			expect(names).toEqual(sorted(names));
		}
	});

	test('the node panel, which lists both nodes as one, says what both are for', () => {
		// n8n's editor merges a trigger into the node whose name it has, and shows the trigger's sentence.
		expect(trigger.name.replace('Trigger', '')).toBe(action.name);
		expect(trigger.description).toMatch(
			/^Generate speech, sound effects and images, or start a workflow/,
		);
	});

	test.each(['MediaGeneration', 'MediaGenerationTrigger'])(
		'%s is in categories that n8n has',
		(name) => {
			const { categories } = JSON.parse(
				readFileSync(join(folder, `${name}.node.json`), 'utf8'),
			) as { categories: string[] };
			// n8n's documentation, "Codex files", "Node categories"; and AI.
			const known = [
				'AI',
				'Analytics',
				'Communication',
				'Data & Storage',
				'Development',
				'Finance & Accounting',
				'Marketing & Content',
				'Miscellaneous',
				'Productivity',
				'Sales',
				'Utility',
			];
			expect(categories.length).toBeGreaterThan(0);
			expect(categories.filter((category) => !known.includes(category))).toEqual([]);
		},
	);
});

describe('what workflows are saved without', () => {
	test('the defaults of resource and operation: a saved workflow has none of them', () => {
		const defaults = action.properties
			.filter(({ name }) => name === 'resource' || name === 'operation')
			.map((field) => [resourceOf(field), field.default]);
		expect(Object.fromEntries(defaults)).toEqual({
			'': 'speech',
			apiKey: 'getAll',
			audio: 'join',
			credits: 'get',
			image: 'generate',
			soundEffect: 'generate',
			speech: 'generateByVoiceId',
			task: 'get',
		});
	});

	test('defaults of Task: Create, transcripts and pickers', () => {
		const defaultsOf = (name: string) =>
			action.properties.filter((field) => field.name === name).map((field) => field.default);
		expect(defaultsOf('path')).toEqual(['']);
		expect(defaultsOf('query')).toEqual(['{}']);
		expect(defaultsOf('body')).toEqual(['{}']);
		expect(defaultsOf('withTranscript')).toEqual([false]);
		expect(defaultsOf('voiceId')).toEqual([{ mode: 'id', value: '' }]);
		expect(defaultsOf('modelId')).toEqual(Array(2).fill({ mode: 'id', value: '' }));
	});
});

describe('pickers', () => {
	const pickers = fields.filter(({ type }) => type === 'resourceLocator');

	test('by ID comes first, as plain texts of older workflows are taken for the first mode', () => {
		expect(pickers.map(({ name }) => name).sort()).toEqual(['modelId', 'modelId', 'voiceId']);
		for (const { modes = [] } of pickers)
			expect(modes.map(({ name }) => name)).toEqual(['id', 'list']);
	});

	test('the node answers every list that a picker asks for, and no other', () => {
		const asked = pickers.flatMap(({ modes = [] }) =>
			modes.flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
		);
		expect(asked.sort()).toEqual(Object.keys(node.methods.listSearch).sort());
	});
});

/** The values of a node whose fields all have their defaults but for these. */
function valuesWith({ resource, operation, ...others }: INodeParameters): INodeParameters {
	const values: INodeParameters = { resource, operation };
	for (const field of action.properties.filter(({ displayOptions: { show = {} } = {} }) =>
		[show.resource ?? [resource], show.operation ?? [operation]].every((shown, index) =>
			(shown as unknown[]).includes([resource, operation][index]),
		),
	))
		values[field.name] ??= field.default;
	return { ...values, ...others };
}

/** The fields that the editor shows for these values, without the two that choose the operation. */
function shownFor(parameters: INodeParameters): INodeProperties[] {
	const values = valuesWith(parameters);
	return action.properties.filter(
		(field) =>
			!['resource', 'operation'].includes(field.name) &&
			NodeHelpers.displayParameter(values, field, { typeVersion: 1 }, action),
	);
}
const namesFor = (parameters: INodeParameters) => shownFor(parameters).map(({ name }) => name);

/** The options that the editor offers. */
function optionsFor(parameters: INodeParameters): string[] {
	const values = valuesWith(parameters);
	const { options = [] } = shownFor(parameters).find(({ name }) => name === 'options') ?? {};
	return (options as INodeProperties[])
		.filter((option) =>
			NodeHelpers.displayParameter({}, option, { typeVersion: 1 }, action, values),
		)
		.map(({ name }) => name);
}

describe('which fields are shown', () => {
	const byId = { resource: 'speech', operation: 'generateByVoiceId' };
	const byName = { resource: 'speech', operation: 'generateByVoiceName' };
	const sound = { resource: 'soundEffect', operation: 'generate' };
	const image = { resource: 'image', operation: 'generate' };
	const create = { resource: 'task', operation: 'create' };
	const wait = { resource: 'task', operation: 'wait' };

	/** Those of one operation alone. */
	const own: Array<[INodeParameters, string[]]> = [
		[byId, ['voiceId', 'text', 'longText', 'modelId', 'outputFormat', 'withTranscript']],
		[byName, ['voice', 'text', 'longText', 'withTranscript']],
		[sound, ['text']],
		[image, ['prompt', 'modelId', 'generationsCount', 'aspectRatio', 'resolution']],
		[create, ['path', 'body', 'query']],
	];
	const waiting = ['waitMode', 'downloadOutput', 'binaryPropertyName', 'options'];
	const mode = ['waitMode', 'suspendNotice', 'downloadOutput', 'binaryPropertyName', 'options'];

	test.each(own)('for what creates a task: %j', (operation, fields) => {
		const shown = (more: INodeParameters = {}) => namesFor({ ...operation, ...more });
		expect(shown()).toEqual([...fields, 'waitForCompletion', ...waiting]);
		expect(shown({ waitMode: 'callback' })).toEqual([...fields, 'waitForCompletion', ...mode]);
		expect(shown({ downloadOutput: false })).toEqual([
			...fields,
			'waitForCompletion',
			...waiting.filter((name) => name !== 'binaryPropertyName'),
		]);
		expect(shown({ waitForCompletion: false, waitMode: 'callback' })).toEqual([
			...fields,
			'waitForCompletion',
			'callbackUrl',
			'options',
		]);
	});

	test.each<[INodeParameters, string[]]>([
		[wait, ['taskId', ...waiting]],
		[{ ...wait, waitMode: 'callback' }, ['taskId', ...mode]],
		[{ ...wait, downloadOutput: false }, ['taskId', 'waitMode', 'downloadOutput', 'options']],
		[{ resource: 'task', operation: 'get' }, ['taskId']],
		[{ resource: 'credits', operation: 'get' }, []],
		[{ resource: 'apiKey', operation: 'getAll' }, []],
		[{ resource: 'task', operation: 'getAll' }, ['returnAll', 'limit', 'options']],
		[{ resource: 'task', operation: 'getAll', returnAll: true }, ['returnAll', 'options']],
		[
			{ resource: 'audio', operation: 'join' },
			['inputBinaryField', 'groupBy', 'fileName', 'binaryPropertyName', 'options'],
		],
	])('for what creates none: %j', (parameters, fields) => {
		expect(namesFor(parameters)).toEqual(fields);
	});

	const whileWaiting = [
		'maxFileSize',
		'onTimeout',
		'pollRoute',
		'gracePeriod',
		'splitFiles',
		'timeout',
		'watchWhileAsleep',
	];
	const creating = [
		...whileWaiting,
		'callbackReference',
		'extraFields',
		'maxActiveTasks',
		'maximumCredits',
		'minimumCredits',
	];
	test.each<[INodeParameters, string[]]>([
		[sound, creating],
		[image, creating],
		[create, creating],
		[{ ...create, waitForCompletion: false }, creating],
		[wait, whileWaiting],
		[byId, [...creating, 'transcriptInOutput']],
		[{ ...byId, longText: 'parts' }, [...creating, 'transcriptInOutput', 'maxCharacters']],
		[
			{ ...byName, longText: 'join' },
			[...creating, 'transcriptInOutput', 'maxCharacters', 'pauseBetweenParts'],
		],
		[{ resource: 'audio', operation: 'join' }, ['pauseBetweenParts']],
		[{ resource: 'credits', operation: 'get' }, []],
	])('options for %j', (parameters, options) => {
		expect(optionsFor(parameters).sort()).toEqual([...options].sort());
	});

	test('of the trigger', () => {
		const [, , , , , options] = trigger.properties;
		expect(trigger.properties.map(({ name }) => name)).toEqual([
			'urlNotice',
			'statuses',
			'verifyWithService',
			'downloadOutput',
			'binaryPropertyName',
			'options',
		]);
		expect(fieldsIn(options?.options ?? []).map(({ name }) => name)).toEqual([
			'deduplicate',
			'maxFileSize',
			'types',
		]);
	});
});

describe('webhooks', () => {
	test('a sleeping execution is woken at the address of its node', () => {
		expect(action.webhooks).toEqual([
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				path: '={{ $nodeId }}',
				isFullPath: true,
				restartWebhook: true,
			},
		]);
	});

	test('callbacks are posted to the path "callback", which saved URLs end in', () => {
		expect(trigger.webhooks).toMatchObject([
			{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'callback' },
		]);
	});
});

test('the canvas says in words what a node does', () => {
	const [, table = ''] = /^=\{\{ \((\{.*\})\)\[/.exec(String(action.subtitle)) ?? [];
	const subtitles = JSON.parse(table) as Record<string, string>;
	expect(Object.keys(subtitles)).toEqual(
		operations.map(({ resource, value }) => `${resource}:${String(value)}`),
	);
	expect(subtitles['task:create']).toBe('Create task');
	expect(action.subtitle).toMatch(
		/\[\$parameter\["resource"\] \+ ":" \+ \$parameter\["operation"\]\] \?\? \$parameter\["operation"\] \}\}$/,
	);
});

describe('output schemas', () => {
	const files = join(folder, '__schema__', 'v1.0.0');

	test('every operation has one, but for the keys, whose records are the service’s own', () => {
		const missing = operations
			.map(({ resource, value }) => join(resource, `${String(value)}.json`))
			.filter((file) => !existsSync(join(files, file)));
		expect(missing).toEqual([join('apiKey', 'getAll.json')]);
	});

	test('there is none for what the node does not have', () => {
		const known = operations.map(({ resource, value }) => `${resource}/${String(value)}.json`);
		const present = readdirSync(files).flatMap((resource) =>
			readdirSync(join(files, resource)).map((file) => `${resource}/${file}`),
		);
		expect(present.filter((file) => !known.includes(file))).toEqual([]);
	});
});
