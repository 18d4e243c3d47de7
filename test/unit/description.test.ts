/** What the editor shows of the two nodes: n8n's rules for words on screen, and everything that must fit together. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type INode,
	type INodeTypes,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
} from 'n8n-workflow';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';
import { fieldsPage } from '../../scripts/fieldsPage';

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
		const placeholders = fields.flatMap(({ type, modes = [], ...field }) =>
			[field, ...modes.filter(({ name }) => name !== 'list')].flatMap(({ placeholder }) =>
				placeholder === undefined ? [] : [{ type, placeholder }],
			),
		);
		expect(placeholders.length).toBeGreaterThan(5);
		for (const { type, placeholder } of placeholders)
			expect(placeholder).toMatch(/ollection$/.test(type) ? /^Add / : /^e\.g\. /);
	});

	test('actions are in sentence case and without articles', () => {
		for (const { action: words = '' } of operations) {
			expect(words).toMatch(/^[A-Z][a-z]+( [a-z]+| ID| API)+s?$/);
			expect(words).not.toMatch(/\b(a|an|the)\b/i);
		}
	});

	test('JSON fields show an example that they would take, and say what is refused', () => {
		const json = fields.filter(({ type }) => type === 'json');
		expect(json.map(({ name }) => name)).toContain('extraFields');
		for (const { description = '' } of json) {
			const [, example = ''] = /<code>(.*)<\/code>/.exec(description) ?? [];
			expect(Object.keys(JSON.parse(example) as object)).toHaveLength(1);
			expect(description).toMatch(/a list, a text or a number is refused/);
		}
		const extra = json.filter(({ name }) => name === 'extraFields');
		expect(new Set(extra.map(({ description }) => description)).size).toBe(extra.length);
	});

	test.each([
		['MediaGeneration', action],
		['MediaGenerationTrigger', trigger],
	])('the panel finds %s by the words that people search for', (name, { version }) => {
		const codex = JSON.parse(readFileSync(join(folder, `${name}.node.json`), 'utf8')) as {
			nodeVersion: string;
			alias: string[];
		};
		expect(Number(codex.nodeVersion)).toBe(Math.max(...[version].flat()));
		const words =
			'text to speech,sound effect,image,audio,AI voice,mp3,wav,AI image,generate image,captions,music,join audio,long text,audiobook';
		expect(codex.alias).toEqual(expect.arrayContaining(words.split(',')));
	});
});

describe('what workflows are saved without', () => {
	test('the defaults of resource and operation: a saved workflow has none of them', () => {
		const defaults = action.properties
			.filter(({ name }) => name === 'resource' || name === 'operation')
			.map((field) => `${resourceOf(field)}:${field.default as string}`);
		const [resource, ...others] = defaults.sort();
		expect(resource).toBe(':speech');
		expect(others.join(' ')).toBe(
			'apiKey:getAll audio:join credits:get image:generate soundEffect:generate speech:generateByVoiceId task:get',
		);
	});

	/** Without the fields that choose the operation, and values that say nothing. */
	const byName = (of: (field: INodeProperties) => unknown): Record<string, unknown> => {
		const others = fields.filter(({ noDataExpression }) => noDataExpression !== true);
		const values = others.map((field) => [field.name, of(field)] as const);
		const empty = new Set<unknown>([undefined, '', 0, false, '{}']);
		return Object.fromEntries(values.filter(([, value]) => !empty.has(value)));
	};

	test('the values that a choice can have', () => {
		const values = (field: INodeProperties) => choicesOf(field).map(({ value }) => value);
		expect(byName((field) => /ptions$/.test(field.type) && values(field))).toEqual({
			longText: ['join', 'off', 'parts'],
			outputFormat: ['', 'mp3_44100_128', 'mp3_44100_192'],
			aspectRatio: ['', '1:1', '16:9', '9:16'],
			resolution: ['', '1K', '2K', '4K'],
			bodyContentType: ['json', 'multipart-form-data'],
			speechRoute: ['auto', 'v1', 'v3'],
			waitMode: ['poll', 'callback'],
			onTimeout: ['error', 'returnTask'],
			statuses: ['done', 'error'],
		});
		const open = byName(({ allowArbitraryValues: isOpen }) => isOpen);
		expect(open).toEqual({ outputFormat: true, aspectRatio: true, resolution: true });
	});
});

describe('pickers', () => {
	const pickers = fields.filter(({ type }) => type === 'resourceLocator');

	test('the list of the service comes first', () => {
		expect(pickers.map(({ name }) => name).sort()).toEqual(['modelId', 'modelId', 'voiceId']);
		for (const picker of pickers) {
			expect(picker.modes?.map(({ name }) => name)).toEqual(['list', 'id']);
			expect(picker.default).toEqual({ mode: 'list', value: '' });
			// The editor shows it in an empty list: what is sent then.
			const placeholder = picker.required ? undefined : 'Service default';
			expect(picker.modes?.[0]?.placeholder).toBe(placeholder);
		}
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
				NodeHelpers.displayParameter({}, field, { typeVersion: 1 }, action, values),
		);
	};

	test('Timeout offers a day under Suspend, and ten minutes otherwise', () => {
		const offered = (parameters: INodeParameters) => [
			...new Set(shownAs('timeout', parameters).map((field) => field.default)),
		];
		expect(offered(sound)).toEqual([600]);
		expect(offered({ ...sound, waitMode: 'callback' })).toEqual([86_400]);
		expect(offered({ ...sound, waitMode: '={{ $json.mode }}' })).toEqual([600]);
		const asleepFor = { ...sound, waitMode: 'callback', options: { timeout: 7 } };
		expect(forRun(asleepFor)).toMatchObject({ options: { timeout: 7 } });
	});

	test('what cannot be combined is dropped before the run', () => {
		const sleeping = { waitMode: 'callback', options: { splitFiles: true } };
		expect(forRun({ ...sound, ...sleeping })).toMatchObject({ waitMode: 'callback', options: {} });
		expect(forRun({ ...byId, longText: 'parts', ...sleeping })).not.toHaveProperty('waitMode');
		const joined = forRun({ ...byId, longText: 'join', waitForCompletion: false, ...sleeping });
		expect(joined).not.toHaveProperty('waitForCompletion');
		expect(joined).toHaveProperty('waitMode', 'callback');
		const tool = { ...action, name: 'mediaGenerationTool' };
		expect(forRun({ ...sound, ...sleeping }, tool)).not.toHaveProperty('waitMode');
		const withFiles = { ...image, options: { referenceImages: 'data' } };
		expect(forRun(withFiles)).toMatchObject({ options: { referenceImages: 'data' } });
		expect(forRun(withFiles, tool)).toMatchObject({ options: {} });
	});

	test('what cannot be done is not offered: audio to a tool, as an agent hands over no files, and joining without waiting', () => {
		const hidden = (name: string) => {
			const choices = fields.filter((field) => field.name === name).flatMap(choicesOf);
			return choices.filter(({ displayOptions }) => displayOptions !== undefined);
		};
		expect(hidden('resource')).toMatchObject([
			{ value: 'audio', displayOptions: { hide: { '@tool': [true] } } },
		]);
		expect(hidden('longText')).toMatchObject([
			{ value: 'join', displayOptions: { hide: { waitForCompletion: [false] } } },
		]);
	});

	test('an expression shows what any of its values needs', () => {
		const either = { ...sound, waitForCompletion: '={{ $json.wait }}' };
		for (const name of ['onTimeout', 'callbackReference'])
			expect(shownAs(name, either)).not.toEqual([]);
	});
});

test('docs/fields.md shows all of it (npm run fields)', () => {
	const page = readFileSync(join(__dirname, '../../docs/fields.md'), 'utf8');
	expect(page).toBe(fieldsPage(action, trigger));
});

describe('webhooks', () => {
	test('a sleeping execution is woken at an address that no ID of a node can break', () => {
		expect(action.webhooks).toEqual([
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: '',
				path: 'media-generation',
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

	test('nothing is registered at the service, as the URL travels with each task', async () => {
		const steps = Object.values(new MediaGenerationTrigger().webhookMethods.default);
		const done = await Promise.all(steps.map(async (step) => await step()));
		expect(done).toEqual([true, true, true]);
	});
});

const { subtitle } = action;
const speech = (by: string) => ({ resource: 'speech', operation: `generateByVoice${by}` });
const nodeTypes = { getByNameAndVersion: () => node } as unknown as INodeTypes;

test.each<[INodeParameters, string]>([
	[{ ...speech('Name'), voice: 'en-US-AriaNeural' }, 'Speech: en-US-AriaNeural'],
	[{ ...speech('Id'), voiceId: { __rl: true, mode: 'id', value: 'v7' } }, 'Speech: v7'],
	[speech('Id'), 'Speech'],
	[{ ...speech('Name'), voice: '={{ $json.voice }}' }, 'Speech'],
	[{ resource: 'image', operation: 'generate', generationsCount: 4 }, '4 × Image'],
	[{ resource: 'image', operation: 'generate' }, 'Image'],
	[{ resource: 'task', operation: 'create', path: '/v1/dub' }, 'Create task: /v1/dub'],
	[{ resource: 'task', operation: 'wait', taskId: 't1' }, 'Wait for task'],
	[{ resource: 'credits', operation: 'get' }, 'Get credits'],
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
	const files = join(folder, '__schema__', 'v1.0.0');

	test('every operation has one, but for the keys, whose records are the service’s own', () => {
		const missing = operations
			.map(({ resource, value }) => join(resource, `${String(value)}.json`))
			.filter((file) => !existsSync(join(files, file)));
		expect(missing).toEqual([join('apiKey', 'getAll.json')]);
	});

	test('that of the trigger has what it adds to a task, and fits the sample of the example', () => {
		const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;
		const schema = read(join(folder, '__schema__', 'v1.1.0', 'output.json'));
		const fields = Object.keys((schema as { properties: object }).properties);
		const added = ['task_id', 'outputs', 'verified', 'reference', 'reference_verified'];
		const example = read(join(__dirname, '../../examples/on-completion.json'));
		const { pinData } = example as { pinData: Record<string, Array<{ json: IDataObject }>> };
		const [sample] = Object.values(pinData).flat();
		expect(sample?.json.status).toBe('done');
		expect(fields).toEqual(expect.arrayContaining([...added, ...Object.keys(sample?.json ?? {})]));
	});
});
