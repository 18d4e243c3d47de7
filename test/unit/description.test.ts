/** What the editor shows of the two nodes: n8n's rules for words on screen, and everything that must fit together. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	NodeHelpers,
	Workflow,
	type INode,
	type INodeTypes,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
} from 'n8n-workflow';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';
import { resources } from '../../nodes/MediaGeneration/actions';
import { fieldsPage } from '../../scripts/fieldsPage';
import { schemaFiles } from '../../scripts/schemas.cjs';

const node = new MediaGeneration();
const action = node.description;
const trigger = new MediaGenerationTrigger().description;

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
		const placeholders = fields.flatMap(({ type, modes = [], ...field }) =>
			[field, ...modes.filter(({ name }) => name !== 'list')].flatMap(({ placeholder }) =>
				placeholder === undefined ? [] : [{ type, placeholder }],
			),
		);
		expect(placeholders.length).toBeGreaterThan(5);
		for (const { type, placeholder } of placeholders)
			expect(placeholder).toMatch(/ollection$/.test(type) ? /^Add / : /^e\.g\. /);
	});

	test('names of fields stand in single quotes', () => {
		const names = new Set(fields.map(({ displayName }) => displayName));
		const texts = fields.flatMap((field) =>
			[field, ...choicesOf(field)].flatMap(({ description = '' }) => description),
		);
		const notices = fields.filter(({ type }) => type === 'notice').map((each) => each.displayName);
		const quoted = [...texts, ...notices].flatMap((text) =>
			[...text.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
		);
		expect(quoted).toContain('Task: Wait');
		expect(quoted.filter((name) => names.has(name))).toEqual([]);
	});

	test('actions are in sentence case and without articles', () => {
		for (const { action: words = '' } of operations) {
			expect(words).toMatch(/^[A-Z][a-z]+( [a-z]+| ID| API)+s?$/);
			expect(words).not.toMatch(/\b(a|an|the)\b/i);
		}
	});

	test('options are in alphabetical order, and an operation of the same resource, too', () => {
		const lists = fields
			.filter(({ type }) => type === 'collection')
			.map(({ options = [] }) => options);
		expect(lists.length).toBeGreaterThan(3);
		for (const options of lists) {
			const names = options.map((option) => ('displayName' in option ? option.displayName : ''));
			expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')));
		}
		const names = operations
			.filter(({ resource }) => resource === 'task')
			.map(({ value }) => value);
		// The door to all other endpoints is not the one to begin with.
		expect(names).toEqual([...names.filter((name) => name !== 'create').sort(), 'create']);
	});

	test('a switch that was added is on where off would do nothing', () => {
		const added = fields
			.filter(({ name }) => name === 'options')
			.flatMap(({ options = [] }) => options.filter((option) => 'type' in option));
		const switches = added.filter(({ type }) => type === 'boolean');
		const off = new Set(switches.filter((each) => each.default === false).map(({ name }) => name));
		// These two delete, or pay twice.
		expect([...off].sort()).toEqual(['deleteFinished', 'sendUnclearAgain']);
	});

	test('JSON fields show an example that they would take, and say what is refused', () => {
		const json = fields.filter(({ type, name }) => type === 'json' && name !== 'linesJson');
		expect(json.map(({ name }) => name)).toContain('extraFields');
		for (const { description = '' } of json) {
			const [, example = ''] = /<code>(.*)<\/code>/.exec(description) ?? [];
			expect(Object.keys(JSON.parse(example) as object)).toHaveLength(1);
			expect(description).toMatch(/a list, a text or a number is refused/);
		}
		const extra = json.filter(({ name }) => name === 'extraFields');
		// Get Price has that of Generate.
		const own = extra.length - 1;
		expect(new Set(extra.map(({ description }) => description)).size).toBe(own);
	});

	test.each([
		['MediaGeneration', action],
		['MediaGenerationTrigger', trigger],
	])('the panel knows the version of %s', (name, { version }) => {
		const file = join(__dirname, `../../nodes/MediaGeneration/${name}.node.json`);
		const codex = JSON.parse(readFileSync(file, 'utf8')) as { nodeVersion: string };
		expect(Number(codex.nodeVersion)).toBe(version);
	});
});

describe('pickers', () => {
	const pickers = fields.filter(({ type }) => type === 'resourceLocator');

	test('the list of the service comes first', () => {
		expect(pickers.length).toBeGreaterThan(2);
		for (const picker of pickers) {
			expect(picker.modes?.map(({ name }) => name)).toEqual(['list', 'id']);
			expect(picker.default).toEqual({ mode: 'list', value: '' });
			// The editor shows it in an empty list: what is sent then.
			const placeholder = picker.required ? undefined : 'Service Default';
			expect(picker.modes?.[0]?.placeholder).toBe(placeholder);
		}
	});

	const speaks = { resource: 'speech', operation: 'generateByVoiceId', text: 'Hi' };
	const paints = { resource: 'image', operation: 'generate', prompt: 'A boat' };
	const voice = '21m00Tcm4TlvDq8ikWAM';
	test.each<[field: string, refused: string[], accepted: string[]]>([
		[
			'voiceId',
			['a/b', 'a\\b', 'a?b', 'a#b', 'a%2Fb', 'a b', 'https://x.example/v', 'http:x'],
			[voice, `elevenlabs_${voice}`, 'edge_en-US-AriaNeural', ` ${voice}\n`, '={{ $json.a }} /'],
		],
		[
			'modelId',
			['https://x.example/m', 'a b', 'a?b', 'a#b', 'a%b', 'a\\b'],
			['', 'eleven_v3', 'house/model:1.5', ' eleven_v3 ', '={{ $json.model }}'],
		],
		['aspectRatio', [], ['', '16:9', '1024 x 768', '={{ $json.ratio }}']],
	])('By ID of %s refuses what can not be one, in words', (name, refused, accepted) => {
		const values = name === 'aspectRatio' ? paints : { ...speaks, voiceId: voice };
		const problems = (value: string) => {
			const parameters = valuesWith({ ...values, [name]: { __rl: true, mode: 'id', value } });
			const issues = NodeHelpers.getNodeParametersIssues(
				action.properties,
				{ parameters, typeVersion: 1 } as unknown as INode,
				action,
			);
			return issues?.parameters?.[name];
		};
		for (const value of refused)
			expect(problems(value)).toEqual([expect.stringMatching(/^Enter the ID alone: no address, /)]);
		expect(accepted.map(problems)).toEqual(accepted.map(() => undefined));
	});

	test('the node answers every list that a picker asks for, and no other', () => {
		const asked = pickers.flatMap(({ modes = [] }) =>
			modes.flatMap(({ typeOptions }) => typeOptions?.searchListMethod ?? []),
		);
		expect([...new Set(asked)].sort()).toEqual(Object.keys(node.methods.listSearch).sort());
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
		// As n8n does where a node is added.
		values[field.name] ??=
			field.type === 'resourceLocator'
				? { __rl: true, ...(field.default as object) }
				: field.default;
	return { ...values, ...others };
}

describe('which fields are shown', () => {
	const byId = { resource: 'speech', operation: 'generateByVoiceId' };
	const sound = { resource: 'soundEffect', operation: 'generate' };
	const image = { resource: 'image', operation: 'generate' };

	/** What a run gets: n8n drops the values of hidden fields. */
	const forRun = (values: INodeParameters, description = action) =>
		NodeHelpers.getNodeParameters(
			action.properties,
			valuesWith(values),
			true,
			false,
			{ typeVersion: 1 },
			description,
		);

	/** The fields and options of this name that the editor shows. */
	const shownAs = (name: string, parameters: INodeParameters) => {
		const values = valuesWith(parameters);
		return fields.filter(
			(field) =>
				field.name === name &&
				NodeHelpers.displayParameter(values, field, { typeVersion: 1 }, action, values),
		);
	};

	test('what cannot be combined is dropped before the run', () => {
		const sleeping = { waitMode: 'callback', options: { splitFiles: true } };
		expect(forRun({ ...sound, ...sleeping })).toMatchObject({ waitMode: 'callback' });
		expect(forRun({ ...sound, ...sleeping })).toHaveProperty('options', {});
		expect(forRun({ ...byId, longText: 'parts', ...sleeping })).not.toHaveProperty('waitMode');
		const joined = forRun({ ...byId, longText: 'join', waitForCompletion: false, ...sleeping });
		expect(joined).not.toHaveProperty('waitForCompletion');
		expect(joined).toHaveProperty('waitMode', 'callback');
		// What speech has left hides nothing elsewhere.
		const left = { ...sound, waitForCompletion: false, longText: 'join' };
		expect(forRun(left)).toHaveProperty('waitForCompletion', false);
		const wait = { resource: 'task', operation: 'wait', waitMode: 'callback', longText: 'parts' };
		expect(forRun(wait)).toHaveProperty('waitMode', 'callback');
		const tool = { ...action, name: 'mediaGenerationTool' };
		expect(forRun({ ...sound, ...sleeping }, tool)).not.toHaveProperty('waitMode');
		const withFiles = { ...image, options: { referenceImages: 'data' } };
		expect(forRun(withFiles)).toMatchObject({ options: { referenceImages: 'data' } });
		expect(forRun(withFiles, tool)).toHaveProperty('options', {});
	});

	test('what means nothing is not offered', () => {
		const notWaiting = { ...sound, waitForCompletion: false };
		const options = { timeout: 7, maxActiveTasks: 3, fileName: 'a', splitFiles: true };
		expect(forRun({ ...notWaiting, options })).toHaveProperty('options', {});
		expect(forRun({ ...notWaiting, options })).not.toHaveProperty('downloadOutput');
		expect(shownAs('transcriptInOutput', byId)).toEqual([]);
		expect(shownAs('transcriptInOutput', { ...byId, withTranscript: true })).toHaveLength(1);
		const create = { resource: 'task', operation: 'create' };
		const extra = { extraFields: '{"a": 1}' };
		expect(forRun({ ...create, options: extra })).toHaveProperty('options', {});
		expect(forRun(create)).not.toHaveProperty('fields');
		for (const bodyContentType of ['json', '={{ $json.type }}', 'multipart-form-data'])
			expect(shownAs('body', { ...create, bodyContentType })).toHaveLength(1);
	});

	test.each(operations)('$resource: $value has the fields that its options depend on', (each) => {
		const { resource, value: operation } = each;
		const values = valuesWith({ resource, operation });
		const collections = action.properties.filter(
			(field) =>
				field.type === 'collection' &&
				NodeHelpers.displayParameter(values, field, { typeVersion: 1 }, action, values),
		);
		const shows = fieldsIn(collections).map(({ displayOptions: { show = {} } = {} }) => show);
		const missing = shows
			.filter((show) => (show['/operation'] ?? [operation]).some((shown) => shown === operation))
			.flatMap((show) => Object.keys(show).map((name) => name.replace(/^\//, '')))
			.filter((name) => !name.startsWith('@') && !(name in values));
		expect(missing).toEqual([]);
	});

	test('a tool of an agent has no fields for files, and a word on what limits its cost', () => {
		const tool = { ...action, name: 'mediaGenerationTool' };
		const ofTool = Object.keys(forRun(sound, tool) ?? {});
		expect(ofTool).not.toContain('downloadOutput');
		expect(ofTool).not.toContain('outputBinaryField');
		expect(forRun({ ...sound, options: { fileName: 'a' } }, tool)).toHaveProperty('options', {});
		expect(ofTool).toContain('toolNotice');
		expect(Object.keys(forRun(sound) ?? {})).not.toContain('toolNotice');
	});
});

test('a resource keeps its default operation, without which workflows are saved', () => {
	const given = action.properties.filter(({ name }) => name === 'operation');
	expect(Object.fromEntries(given.map((each) => [resourceOf(each), each.default]))).toEqual({
		...{ apiKey: 'getAll', credits: 'get', model: 'getAll', task: 'get', voice: 'getAll' },
		...{ audio: 'transcribe', image: 'generate', music: 'generate', soundEffect: 'generate' },
		speech: 'generateByVoiceId',
	});
});

test('docs/fields.md shows all of it (npm run fields)', () => {
	const page = readFileSync(join(__dirname, '../../docs/fields.md'), 'utf8');
	expect(fieldsPage(action, trigger)).toBe(page);
});

const { subtitle } = action;
const speech = (by: string) => ({ resource: 'speech', operation: `generateByVoice${by}` });
const listed = { __rl: true, mode: 'list', value: 'v7' };
const nodeTypes = { getByNameAndVersion: () => node } as unknown as INodeTypes;

test.each<[INodeParameters, string]>([
	[{ ...speech('Name'), voice: 'en-US-AriaNeural' }, 'Speech: en-US-AriaNeural'],
	[{ ...speech('Id'), voiceId: { ...listed, mode: 'id' } }, 'Speech: v7'],
	[{ ...speech('Id'), voiceId: { ...listed, cachedResultName: 'Aria' } }, 'Speech: Aria'],
	[{ ...speech('Id'), voiceId: { ...listed, value: '={{ $json.voice }}' } }, 'Speech'],
	[{ ...speech('Name'), voice: '={{ $json.voice }}' }, 'Speech'],
	[{ resource: 'image', operation: 'generate', generationsCount: 4 }, '4 × Image'],
	[{ resource: 'task', operation: 'create', path: '/v1/dub' }, 'Create Task: /v1/dub'],
	[{ resource: 'task', operation: 'wait', taskId: 't1' }, 'Wait for Task'],
])(
	'the canvas says in words what a node does, and what tells it apart: %j',
	(parameters, words) => {
		const added = { id: '1', name: 'Media', typeVersion: 1, position: [0, 0], type: 'media' };
		const one = { ...added, parameters } as INode;
		const workflow = new Workflow({ nodes: [one], connections: {}, active: false, nodeTypes });
		const shown = workflow.expression.getSimpleParameterValue(one, subtitle, 'internal', {});
		expect(shown).toBe(words);
	},
);

describe('output schemas', () => {
	const files = schemaFiles(resources, Number(trigger.version));

	test('every operation has one: of a task, but for those that say what else they put out', () => {
		const names = operations.map((each) => `v1.0.0/${each.resource}/${String(each.value)}.json`);
		expect(Object.keys(files).sort()).toEqual([...names, 'v1.1.0/output.json'].sort());
		const task = files['v1.0.0/soundEffect/generate.json'];
		expect(Object.keys(task?.properties ?? {})).toEqual(
			expect.arrayContaining(['task_id', 'status', 'outputs', 'metadata']),
		);
		const read = { value: 'get', work: { kind: 'reads' } };
		expect(() => schemaFiles([{ value: 'tempo', operations: [read] }], 1)).toThrow(/tempo:get/);
	});
});
