/** Runs of the whole node: what goes out for which item, what is paid, and what is said where something goes wrong (README). */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { PLAIN_TASK } from '../model/history';
import { KEY, SECRET } from '../model/n8n';
import { runNode, type Answer, type Given } from './wholeNode';

const sound = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
const speech = { resource: 'speech', operation: 'generateByVoiceId', voiceId: 'v', text: 'Hello' };
const wait = { resource: 'task', operation: 'wait', taskId: 't' };
const notWaiting = { waitForCompletion: false };
const goOn = { onError: 'continueRegularOutput' } as const;
const toBranch = { onError: 'continueErrorOutput' } as const;
const taskWith = (fields: Partial<typeof PLAIN_TASK>) => ({ ...PLAIN_TASK, ...fields });
const refused = { kind: 'refused', created: false, retryAfter: 'none' } as const;
const unclear = { kind: 'HTTP 500', created: true, retryAfter: 'none' } as const;
const good = { kind: 'ok', created: true, retryAfter: 'none' } as const;
const named = { kind: 'refusal with a task', created: true, retryAfter: 'none' } as const;
const ID = '71000000';
const idOf = (number: number) => String(71_000_000 + number);

const textsIn = (bodies: IDataObject[]) => bodies.map(({ text }) => (text as string).trim());
const creations = (requests: string[]) => requests.filter((line) => line.startsWith('POST '));
const sounds = (...texts: string[]) => texts.map((text) => ({ ...sound, text }));
const warnings = (logs: string[]) => logs.filter((line) => line.startsWith('warn: '));

describe('a finished task', () => {
	test('goes out as the service has it, with task_id, outputs and its files', async () => {
		const { output, requests, hints, logs, baseUrl } = await runNode({ parameters: sound });
		const files = baseUrl.replace('api', 'files');
		expect(output).toMatchObject([
			{
				json: {
					id: ID,
					status: 'done',
					task_id: ID,
					outputs: [
						{ url: `${files}/${ID}.wav`, kind: 'audio', binaryProperty: 'data' },
						{ url: `${files}/${ID}.srt`, kind: 'transcript', binaryProperty: 'data_1' },
					],
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(Object.keys(output[0]?.binary ?? {})).toEqual(['data', 'data_1']);
		expect(requests[0]).toBe('POST /v1/task/sound-effect');
		expect(new Set(requests.slice(1))).toEqual(new Set([`GET /v1/task/${ID}`]));
		expect(hints).toEqual(['1 task created, 10 credits according to the service']);
		expect(logs).toEqual([`Media Generation: task ${ID} for item 0 of execution 1`]);
	});

	test('items stand in the order of the input, whichever ends first', async () => {
		const tasks = [40, 1, 8].map((seconds) => taskWith({ seconds }));
		const { output, json } = await runNode({ parameters: sounds('a', 'b', 'c'), tasks });
		expect(json.map(({ task_id }) => task_id)).toEqual([idOf(0), idOf(1), idOf(2)]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	test('Split Files: an item for each file', async () => {
		const { output } = await runNode({ parameters: { ...sound, options: { splitFiles: true } } });
		expect(output.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['data'], ['data']]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
	});

	test('no items, no requests', async () => {
		const { output, requests, error } = await runNode({ parameters: sound, input: [] });
		expect([output, requests, error]).toEqual([[], [], undefined]);
	});

	test('Max Active Tasks is that of the first item', async () => {
		const tasks = Array(3).fill(taskWith({ seconds: 8 })) as Array<typeof PLAIN_TASK>;
		const first = { ...sound, options: { maxActiveTasks: 1 } };
		const { sent } = await runNode({ parameters: [first, sound, sound], tasks });
		const [a = 0, b = 0, c = 0] = sent.map(({ atMs }) => atMs);
		expect(b - a).toBeGreaterThanOrEqual(8_000);
		expect(c - b).toBeGreaterThanOrEqual(8_000);
		const together = await runNode({ parameters: [sound, first, sound], tasks });
		expect(new Set(together.sent.map(({ atMs }) => atMs)).size).toBe(1);
	});
});

test('neither what was sent in the body nor what was sent in the query is taken for a result', async () => {
	const [sent, asked, made] = ['a', 'b', 'c'].map((name) => `https://files.example/${name}.mp3`);
	const metadata = { source_url: sent, from_url: asked, audio_url: made };
	const { json } = await runNode({
		parameters: {
			resource: 'task',
			operation: 'create',
			path: '/v1m/task/dubbing',
			body: { source: sent },
			query: { from: asked },
			downloadOutput: false,
		},
		answer: ({ method }) =>
			method === 'GET' ? { body: { id: ID, status: 'done', metadata } } : undefined,
	});
	expect(json[0]?.outputs).toEqual([{ url: made, kind: 'audio' }]);
});

test('a request has its own fields and no others', async () => {
	const image = { resource: 'image', operation: 'generate', prompt: 'A boat', generationsCount: 1 };
	const create = { resource: 'task', operation: 'create', path: '/v1m/task/x', body: { a: 1 } };
	const ofImage = await runNode({ parameters: image });
	expect(ofImage.bodies).toEqual([{ prompt: 'A boat', generations_count: 1 }]);
	const ofTask = await runNode({ parameters: create });
	expect(ofTask.bodies).toEqual([{ a: 1 }]);
});

describe('not waiting', () => {
	test('the answer of the creation goes out, and nothing is looked at', async () => {
		const { json, output, requests } = await runNode({ parameters: { ...sound, ...notWaiting } });
		expect(json).toEqual([{ task_id: ID, credit_cost: 10 }]);
		expect(output[0]?.pairedItem).toEqual({ item: 0 });
		expect(requests).toEqual(['POST /v1/task/sound-effect']);
	});

	test('the callback URL is signed, and has the reference; it does not go out where the service echoes it', async () => {
		const answer: Given['answer'] = ({ body }) => ({
			body: { task_id: 't', echo: body?.receive_url },
		});
		const { bodies, json } = await runNode({
			parameters: {
				...sound,
				...notWaiting,
				callbackUrl: 'https://n8n.example/webhook/x/callback',
				options: { callbackReference: 'order 7' },
			},
			answer,
		});
		const url = new URL(bodies[0]?.receive_url as string);
		expect(url.origin + url.pathname).toBe('https://n8n.example/webhook/x/callback');
		expect(url.searchParams.get('reference')).toBe('order 7');
		expect(url.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
		expect(json[0]?.task_id).toBe('t');
		expect(JSON.stringify(json)).not.toContain(url.searchParams.get('signature'));
	});

	test('where the item waits there is no callback URL', async () => {
		const callbackUrl = 'https://n8n.example/webhook/x/callback';
		const { bodies } = await runNode({ parameters: { ...sound, callbackUrl } });
		expect(bodies).toEqual([{ text: 'Rain' }]);
	});

	test('a callback URL that can not be called is refused, for its item alone', async () => {
		const bad = { ...sound, ...notWaiting, callbackUrl: 'ftp://n8n.example/x' };
		const { json, requests } = await runNode({
			parameters: [bad, { ...sound, ...notWaiting }],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'invalid' }, { task_id: ID }]);
		expect(json[0]?.error).toMatch(/Callback URL can't be used: .*"ftp:"/);
		expect(requests).toHaveLength(1);
		const stopped = await runNode({ parameters: [{ ...sound, ...notWaiting }, bad] });
		expect(stopped.error?.message).toBe(json[0]?.error);
		expect(stopped.requests).toEqual([]);
	});

	test('a hint warns of test URLs', async () => {
		const parameters = {
			...sound,
			...notWaiting,
			callbackUrl: 'https://n8n.example/webhook-test/x/callback',
		};
		const { hints } = await runNode({ parameters });
		expect(hints[0]).toMatch(/Test URL/i);
		const waiting = await runNode({ parameters: { ...parameters, waitForCompletion: true } });
		expect(waiting.hints.join()).not.toMatch(/Test URL/i);
	});
});

/** The failures of a run of two items, of which the first one fails. */
const failing: Array<[string, Partial<Given>, IDataObject, RegExp]> = [
	[
		'rejected',
		{ creations: [refused] },
		{ error: 'The service refused the task (HTTP 400: bad voice)', http_status: 400 },
		/No task was created and nothing was paid/,
	],
	[
		'unknown',
		{ creations: [unclear] },
		{ http_status: 500 },
		/check at the service|Check at the service/i,
	],
	[
		'failed',
		{ tasks: [taskWith({ end: 'error' })] },
		{ error: `Task ${ID} failed: too loud`, task_id: ID, status: 'error' },
		/^The service ended this task with an error/,
	],
	[
		'timed_out',
		{ tasks: [taskWith({ end: 'never' })] },
		{
			error: `Task ${ID} was not finished after 10 minutes; its last status was "doing"`,
			task_id: ID,
			status: 'doing',
		},
		/"Task: Wait" with this task ID/,
	],
	[
		'undelivered',
		{ files: ['HTTP 404', 'ok'] },
		{ task_id: ID, status: 'done' },
		/outputs|Task: Wait/,
	],
];

describe('On Error', () => {
	test.each(failing)(
		'%s: stops the run and says what to do',
		async (outcome, given, fields, next) => {
			const { error, output, json } = await runNode({ parameters: sound, ...given });
			expect([output, json]).toEqual([[], []]);
			if (fields.error !== undefined) expect(error?.message).toBe(fields.error);
			expect(error?.description).toMatch(next);
			expect(error?.name).toBe('NodeApiError');
			expect(error?.context).toMatchObject({ itemIndex: 0 });
			const went = await runNode({ parameters: sounds('a', 'b'), node: goOn, ...given });
			expect(went.error).toBeUndefined();
			expect(went.json).toMatchObject([
				{ ...fields, outcome, error: went.json[0]?.error },
				{ status: 'done' },
			]);
			expect(went.json[0]?.error).toBe(error?.message);
			expect(went.output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
			expect(went.hints[0]).toBe('1 of 2 items failed, see the field "outcome"');
		},
	);

	test.each(failing)(
		'%s: to the error branch with all its fields',
		async (outcome, given, fields) => {
			const { output, json } = await runNode({ parameters: sound, node: toBranch, ...given });
			expect(json).toMatchObject([{ ...fields, outcome }]);
			const [item] = output;
			expect((item as { error?: Error } | undefined)?.error?.message).toBe(json[0]?.error);
			expect(Object.keys(item ?? {})).not.toContain('error');
		},
	);

	test('a failed item has the fields of its failure, and no others', async () => {
		const keys = async (given: Partial<Given>) => {
			const { json } = await runNode({ parameters: sound, node: goOn, ...given });
			return Object.keys(json[0] ?? {});
		};
		expect(await keys({ creations: [refused] })).toEqual(['error', 'outcome', 'http_status']);
		expect(await keys({ tasks: [taskWith({ end: 'error' })] })).toEqual([
			'error',
			'outcome',
			'task_id',
			'status',
		]);
	});

	test('the hint about failed items is a warning', async () => {
		const { execution } = await runNode({
			parameters: sounds('a', 'b'),
			creations: [refused],
			node: goOn,
		});
		expect(execution.hints.map(({ type }) => type)).toEqual(['warning', 'info']);
	});

	test('an undelivered item has its outputs, and the files that came', async () => {
		const { output } = await runNode({ parameters: sound, node: goOn, files: ['HTTP 404', 'ok'] });
		expect(output).toHaveLength(1);
		const [item] = output;
		const { json, binary }: INodeExecutionData = item ?? { json: {} };
		expect(json.outputs).toMatchObject([{ kind: 'audio' }, { kind: 'transcript' }]);
		expect(Object.keys(binary ?? {})).toHaveLength(1);
	});

	test('with no file at all it has no binary data', async () => {
		const { output } = await runNode({
			parameters: sound,
			node: goOn,
			files: ['HTTP 404', 'HTTP 404'],
		});
		expect(output).toHaveLength(1);
		expect(output[0]?.binary).toBeUndefined();
		expect(output[0]?.json.outputs).toHaveLength(2);
	});

	test('with Split Files the files that came have items of their own', async () => {
		const { output } = await runNode({
			parameters: { ...sound, options: { splitFiles: true } },
			node: goOn,
			files: ['HTTP 404', 'ok'],
		});
		expect(output.map(({ json }) => json.outcome)).toEqual([undefined, 'undelivered']);
		expect(output.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['data'], []]);
		expect(output[1]?.json.outputs).toHaveLength(2);
	});

	test('the first failed item in the order of the input is the one that is thrown', async () => {
		const { error } = await runNode({
			parameters: sounds('a', 'b'),
			tasks: [taskWith({ end: 'error' }), taskWith({ end: 'error' })],
		});
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		const bad = await runNode({ parameters: sounds('a', '', '') });
		expect(bad.error?.message).toBe('The field "Text" is empty');
		expect(bad.error?.context).toMatchObject({ itemIndex: 1 });
		expect(bad.error?.name).toBe('NodeOperationError');
		expect(bad.requests).toEqual([]);
	});

	test('good items are made where bad ones go on as items', async () => {
		const { json, sent, hints } = await runNode({ parameters: sounds('', 'b', ''), node: goOn });
		expect(json.map(({ outcome, status }) => outcome ?? status)).toEqual([
			'invalid',
			'done',
			'invalid',
		]);
		expect(json[0]).toEqual({ error: 'The field "Text" is empty', outcome: 'invalid' });
		expect(sent).toHaveLength(1);
		expect(hints[0]).toBe('2 of 3 items failed, see the field "outcome"');
	});

	test('a field whose expression fails is refused in words', async () => {
		const broken = {
			...sound,
			get text(): string {
				throw new Error('no such node');
			},
		};
		const { json, requests } = await runNode({ parameters: broken, node: goOn });
		expect(json).toEqual([
			{ error: 'A field of this item could not be read: no such node', outcome: 'invalid' },
		]);
		expect(requests).toEqual([]);
	});
});

describe('what a failed run leaves', () => {
	test('the error and the log name the tasks of use, without those that failed', async () => {
		const { error, logs } = await runNode({
			parameters: sounds('a', 'b', 'c'),
			tasks: [taskWith({ seconds: 400 }), taskWith({ end: 'error' }), taskWith({ seconds: 400 })],
		});
		expect(error?.message).toBe(`Task ${idOf(1)} failed: too loud`);
		expect(error?.description).toMatch(
			new RegExp(
				`Task IDs of this run that are paid for and still of use: ${idOf(0)}, ${idOf(2)}\\.`,
			),
		);
		expect(warnings(logs)).toEqual([
			`warn: Media Generation: the run failed; its tasks go on at the service and are paid for: ${idOf(0)}, ${idOf(2)}`,
		]);
	});

	test('the items whose creation is unclear, wherever the first failure is', async () => {
		const { error, logs } = await runNode({
			parameters: sounds('a', 'b', 'c'),
			creations: [refused, unclear, unclear],
		});
		expect(error?.message).toBe('The service refused the task (HTTP 400: bad voice)');
		expect(error?.description).toMatch(/The tasks of items 1, 2 may exist and be paid for/);
		expect(error?.description).not.toMatch(/It named|still of use/);
		expect(warnings(logs)).toEqual([
			'warn: Media Generation: the run failed before the service had answered for items 1, 2; their tasks may exist and be paid for',
		]);
	});

	test('with the task that the refusal of a creation has named', async () => {
		const { error, logs, json } = await runNode({
			parameters: sounds('a', 'b'),
			creations: [refused, named],
		});
		expect(json).toEqual([]);
		expect(error?.description).toMatch(new RegExp(`It named: ${ID}\\.`));
		expect(warnings(logs)).toEqual([
			`warn: Media Generation: task ${ID} for item 1 of execution 1 may exist`,
			`warn: Media Generation: the run failed before the service had answered for items 1; their tasks may exist and be paid for; it named ${ID}`,
		]);
	});

	test.each<[string, string, string]>([
		['that the run has made', ID, ''],
		['that nobody knew, once', 'x-1', ' It named: x-1.'],
	])('a task %s, named by two refusals', async (_, taskId, words) => {
		let creation = 0;
		const { error } = await runNode({
			parameters: sounds('a', 'b', 'c'),
			tasks: [taskWith({ seconds: 400 })],
			answer({ method }) {
				if (method !== 'POST') return undefined;
				creation += 1;
				return creation === 1
					? undefined
					: { status: 409, body: { task_id: taskId, error: 'runs' } };
			},
		});
		const unclearItems =
			'The tasks of items 1, 2 may exist and be paid for, as the answers to their creation never came: check at the service.';
		expect(error?.description).toContain(`${unclearItems}${words} Task IDs of this run`);
	});

	test('what is refused for several items before anything is paid: the first of them is thrown', async () => {
		const asleep = { ...sound, waitMode: 'callback' };
		const bad = { ...sound, ...notWaiting, callbackUrl: 'nowhere' };
		const { error, requests } = await runNode({ parameters: [bad, asleep], asTool: true });
		expect(error?.message).toMatch(/Callback URL can't be used/);
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		expect(requests).toEqual([]);
	});

	test('where failed items go on, the log still says which creation is unclear, and nothing else', async () => {
		const { json, logs } = await runNode({
			parameters: sounds('a', 'b', 'c'),
			creations: [good, unclear, refused],
			node: goOn,
		});
		expect(json.map(({ outcome }) => outcome)).toEqual([undefined, 'unknown', 'rejected']);
		expect(warnings(logs)).toEqual([
			'warn: Media Generation: the run ended before the service had answered for items 1; their tasks may exist and be paid for',
		]);
	});

	test('a stopped execution sends nothing more and logs its tasks', async () => {
		const { execution, logs, requests, json } = await runNode({
			parameters: sounds('a', 'b'),
			tasks: [taskWith({ seconds: 400 }), taskWith({ end: 'error' })],
			node: goOn,
			events: [{ at: 30, kind: 'stop' }],
		});
		expect(execution.status).toBe('canceled');
		expect(creations(requests)).toHaveLength(2);
		expect(json.map(({ outcome }) => outcome)).toEqual(['cancelled', 'failed']);
		expect(warnings(logs)).toEqual([
			`warn: Media Generation: the execution was stopped; its tasks go on at the service and are paid for: ${idOf(0)}`,
		]);
	});

	test.each([
		['ok', 'exists and is paid for'],
		['refusal with a task', 'may exist and be paid for'],
	] as const)('a task whose ID comes after the stop (%s) is logged', async (kind, words) => {
		const { logs } = await runNode({
			parameters: sound,
			creations: [{ ...good, kind }],
			events: [{ at: 0.01, kind: 'stop' }],
		});
		expect(warnings(logs)).toContain(
			`warn: Media Generation: task ${ID} of the stopped execution 1 ${words}`,
		);
	});
});

describe('after the first failure', () => {
	const one = (text: string) => ({ ...sound, text, options: { maxActiveTasks: 1 } });
	const given = { parameters: [one('a'), one('b'), one('c')], creations: [refused] };

	test('nothing more is created', async () => {
		const { requests, error } = await runNode(given);
		expect(requests).toHaveLength(1);
		expect(error?.message).toMatch(/bad voice/);
	});

	test.each<[string, object, Partial<Given>]>([
		['a time-out', { timeout: 5 }, { tasks: [taskWith({ end: 'never' })] }],
		[
			'a task that failed, though a time-out may go on',
			{ onTimeout: 'returnTask' },
			{ tasks: [taskWith({ end: 'error' })] },
		],
		['a missing file', {}, { tasks: [PLAIN_TASK], files: ['HTTP 404', 'HTTP 404'] }],
	])('nothing more is waited for: %s', async (_, options, { tasks = [], files }) => {
		const running = taskWith({ seconds: 4_000 });
		const parameters = [
			{ ...sound, options },
			{ ...sound, options: { timeout: 8_000 } },
		];
		const { endedMs, error, json } = await runNode({
			parameters,
			tasks: [...tasks, running],
			files,
		});
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		expect(json).toEqual([]);
		expect(endedMs).toBeLessThan(60_000);
		const went = await runNode({ parameters, tasks: [...tasks, running], files, node: goOn });
		expect(went.json[1]).toMatchObject({ status: 'done' });
	});

	test('the others are, where failed items go on', async () => {
		const { requests, json } = await runNode({ ...given, node: goOn });
		expect(creations(requests)).toHaveLength(3);
		expect(json.map(({ status }) => status)).toEqual([undefined, 'done', 'done']);
	});
});

describe('On Timeout: Return Task', () => {
	const late = { options: { timeout: 5, onTimeout: 'returnTask' } };

	test('the item goes on as the task that was seen last', async () => {
		const { json, output, hints } = await runNode({
			parameters: [{ ...sound, ...late }, sound],
			tasks: [taskWith({ end: 'never' })],
		});
		expect(json[0]).toMatchObject({ id: ID, status: 'doing', task_id: ID, timed_out: true });
		expect(json[0]).not.toHaveProperty('task_ids');
		expect(json[1]).toMatchObject({ status: 'done' });
		expect(output[0]?.pairedItem).toEqual({ item: 0 });
		expect(hints.join()).not.toMatch(/failed/);
	});

	test('a task that nobody has seen goes on by its ID', async () => {
		const { json } = await runNode({
			parameters: { ...sound, ...late },
			answer: ({ method }) => (method === 'GET' ? { status: 500, body: {} } : undefined),
		});
		expect(json).toEqual([{ task_id: ID, timed_out: true }]);
	});

	test('a creation that was refused is a failure all the same', async () => {
		const { json } = await runNode({
			parameters: { ...sound, ...late },
			creations: [refused],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'rejected' }]);
	});

	test('a task that failed is a failure all the same', async () => {
		const { json } = await runNode({
			parameters: { ...sound, ...late },
			tasks: [taskWith({ end: 'error' })],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'failed' }]);
	});

	test('a long text goes on with the tasks of all its parts', async () => {
		const { json } = await runNode({
			parameters: { ...long('join'), options: { ...late.options, maxCharacters: 60 } },
			tasks: [PLAIN_TASK, taskWith({ end: 'never' })],
		});
		expect(json).toMatchObject([
			{ task_id: idOf(1), task_ids: [idOf(0), idOf(1)], timed_out: true, status: 'doing' },
		]);
	});
});

const PARTS = ['The first part of a text, as long as that.', 'The second part, about as long.'];
const long = (longText: string, fields: object = {}) => ({
	...speech,
	longText,
	text: PARTS.join('\n\n'),
	options: { maxCharacters: 60 },
	...fields,
});

describe('long texts', () => {
	test('joined: one item, one file, and where each part lies', async () => {
		const { json, output, bodies } = await runNode({ parameters: [speech, long('join')] });
		expect(textsIn(bodies)).toEqual(['Hello', ...PARTS]);
		expect(json[1]).toMatchObject({
			status: 'done',
			task_ids: [idOf(1), idOf(2)],
			parts: [
				{ part: 1, task_id: idOf(1), start: 0 },
				{ part: 2, task_id: idOf(2) },
			],
			outputs: [{ kind: 'audio', binaryProperty: 'data' }, { kind: 'transcript' }],
		});
		expect(output[1]?.pairedItem).toEqual({ item: 1 });
	});

	test('as parts: one item for each, numbered', async () => {
		const { json, output } = await runNode({ parameters: [speech, long('parts')] });
		expect(json.slice(1)).toMatchObject([
			{ task_id: idOf(1), part: 1, parts: 2, status: 'done' },
			{ task_id: idOf(2), part: 2, parts: 2, status: 'done' },
		]);
		expect(json[0]).not.toHaveProperty('part');
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 1 },
		]);
	});

	test('as parts that are not waited for', async () => {
		const { json, requests } = await runNode({ parameters: long('parts', notWaiting) });
		expect(json).toMatchObject([
			{ task_id: idOf(0), part: 1, parts: 2 },
			{ task_id: idOf(1), part: 2, parts: 2 },
		]);
		expect(creations(requests)).toHaveLength(requests.length);
	});

	test('a part that fails names itself and the tasks of all', async () => {
		const given = {
			parameters: long('join'),
			tasks: [PLAIN_TASK, taskWith({ end: 'error' as const })],
		};
		const { json } = await runNode({ ...given, node: goOn });
		expect(json).toEqual([
			{
				error: `Part 2 of 2 ("${PARTS[1]}"): Task ${idOf(1)} failed: too loud`,
				outcome: 'failed',
				task_id: idOf(1),
				task_ids: [idOf(0), idOf(1)],
				status: 'error',
				part: 2,
				parts: 2,
			},
		]);
		const { error } = await runNode(given);
		expect(error?.message).toMatch(/^Part 2 of 2/);
		expect(error?.description).toMatch(/pay only for what failed/);
	});

	test('an unclear part speaks for its item, though another one was refused first', async () => {
		const { json } = await runNode({
			parameters: long('join'),
			creations: [refused, unclear],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'unknown', part: 2, task_ids: [] }]);
	});

	test('a part that is refused where nobody waits: the others are named', async () => {
		const { json } = await runNode({
			parameters: long('parts', notWaiting),
			creations: [good, refused],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'rejected', part: 2, task_ids: [ID] }]);
	});

	test('parts that were never made have no ID', async () => {
		const { error, logs, requests } = await runNode({
			parameters: long('join', { options: { maxCharacters: 60, maxActiveTasks: 1 } }),
			creations: [unclear],
		});
		expect(requests).toHaveLength(1);
		expect(error?.message).toMatch(/^Part 1 of 2 /);
		expect(error?.description).toMatch(/check at the service\.$/);
		expect(warnings(logs).join()).not.toMatch(/it named/);
	});

	test('of two that failed the first one speaks', async () => {
		const { json } = await runNode({
			parameters: long('parts'),
			tasks: [taskWith({ end: 'error' }), taskWith({ end: 'error' })],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'failed', part: 1 }]);
	});

	test('a file that is missing ends the run, and the item says so though its other part still runs', async () => {
		const { error } = await runNode({
			parameters: long('join'),
			files: ['HTTP 404', 'HTTP 404'],
			tasks: [taskWith({ seconds: 40 }), taskWith({ seconds: 4_000 })],
		});
		expect(error?.message).toMatch(/^Part 1 of 2 /);
		expect(error?.description).toContain(`still of use: ${idOf(0)}, ${idOf(1)}`);
	});

	test('so it is for the second part', async () => {
		const { error } = await runNode({
			parameters: long('join'),
			files: ['HTTP 404', 'HTTP 404'],
			tasks: [taskWith({ seconds: 4_000 }), taskWith({ seconds: 40 })],
		});
		expect(error?.message).toMatch(/^Part 2 of 2 /);
	});

	test('Retry On Fail keeps the parts of the first try, and pays only for what failed', async () => {
		const { json, sent, bodies } = await runNode({
			parameters: long('join'),
			tasks: [PLAIN_TASK, taskWith({ end: 'error' })],
			node: { tries: 2 },
		});
		expect(json).toMatchObject([{ task_ids: [idOf(0), idOf(2)], status: 'done' }]);
		expect(sent).toHaveLength(3);
		expect(bodies[2]).toEqual(bodies[1]);
	});

	/** Its text differs after the first time that it is read, as with `$now`. */
	const changing = (longText: string) => {
		let reads = 0;
		return {
			...long(longText),
			get text() {
				reads += 1;
				return reads === 1 ? PARTS.join('\n\n') : 'Something else.';
			},
		};
	};

	test('a Retry of the execution speaks the text as it is then', async () => {
		const { json, bodies } = await runNode({
			parameters: changing('join'),
			tasks: [PLAIN_TASK, taskWith({ end: 'error' })],
			retries: [{ changed: true }],
		});
		expect(textsIn(bodies)).toEqual([...PARTS, 'Something else.']);
		expect(json).toMatchObject([{ task_ids: [idOf(2)] }]);
	});

	test.each([
		['Retry On Fail', false],
		['another try of a tool', true],
	])('%s with another text: the parts stay those of the first try', async (_, asTool) => {
		const { json, bodies } = await runNode({
			parameters: changing('join'),
			tasks: [PLAIN_TASK, taskWith({ end: 'error' })],
			node: { tries: 2 },
			asTool,
		});
		expect(textsIn(bodies)).toEqual([...PARTS, PARTS[1]]);
		expect(json).toMatchObject([{ task_ids: [idOf(0), idOf(2)] }]);
	});
});

describe('paid once', () => {
	test('a later try that is refused before it begins names what an earlier one has paid for', async () => {
		let reads = 0;
		const second = {
			...sound,
			get text() {
				reads += 1;
				return reads === 1 ? 'b' : '';
			},
		};
		const { error, sent, logs } = await runNode({
			parameters: [{ ...sound, text: 'a' }, second],
			tasks: [PLAIN_TASK, taskWith({ end: 'error' })],
			node: { tries: 2 },
		});
		expect(error?.message).toMatch(/"Text" is empty/);
		expect(error?.description).toContain(idOf(0));
		expect(error?.description).not.toContain(idOf(1));
		expect(sent).toHaveLength(2);
		expect(logs.at(-1)).toMatch(`paid for: ${idOf(0)}`);
	});

	test('Retry On Fail takes up what exists, and makes again only what failed', async () => {
		const { json, sent, logs } = await runNode({
			parameters: sounds('a', 'b'),
			tasks: [PLAIN_TASK, taskWith({ end: 'error' })],
			node: { tries: 3 },
		});
		expect(json.map(({ task_id }) => task_id)).toEqual([idOf(0), idOf(2)]);
		expect(sent).toHaveLength(3);
		expect(
			logs.filter((line) => line.includes(`task ${idOf(0)} for item 0`)).length,
		).toBeGreaterThan(0);
	});

	test('a task that is taken up gets its whole time again', async () => {
		const { json, sent } = await runNode({
			parameters: { ...sound, options: { timeout: 10 } },
			tasks: [taskWith({ seconds: 18 })],
			node: { tries: 2 },
		});
		expect(json).toMatchObject([{ status: 'done', task_id: ID }]);
		expect(sent).toHaveLength(1);
	});

	test('what is unclear is not sent again', async () => {
		const { error, sent } = await runNode({
			parameters: sound,
			creations: [unclear],
			node: { tries: 4 },
		});
		expect(error?.message).toMatch(/the task may exist/);
		expect(sent).toHaveLength(1);
	});

	test('a Retry of the failed execution takes up the task of the same request', async () => {
		const { executions, json, sent } = await runNode({
			parameters: sound,
			files: ['HTTP 404', 'HTTP 404'],
			retries: [{ changed: false }],
		});
		expect(executions.map(({ status }) => status)).toEqual(['error', 'success']);
		expect(json).toMatchObject([{ task_id: ID }]);
		expect(sent).toHaveLength(1);
	});

	test('a Retry counts what it takes up', async () => {
		const { hints, logs } = await runNode({
			parameters: sounds('a', 'b'),
			tasks: [taskWith({ end: 'error' })],
			retries: [{ changed: false }],
		});
		expect(hints).toEqual(['2 tasks created, 20 credits according to the service']);
		expect(logs).toContain(`Media Generation: task ${idOf(2)} for item 0 of execution 2`);
	});

	test('as a tool, a call takes up what the one before has left, and none what it has handed out', async () => {
		const call = { parameters: sound, asTool: true };
		const missing = ['HTTP 404', 'HTTP 404'] as const;
		const failed = await runNode({ ...call, files: [...missing] });
		expect(failed.error?.description).toContain(ID);
		const taken = await runNode({ ...call, after: failed });
		expect(creations(taken.requests)).toEqual([]);
		expect(taken.requests[0]).toBe(`GET /v1/task/${ID}`);
		const went = await runNode({ ...call, files: [...missing], node: goOn });
		expect(went.json).toMatchObject([{ outcome: 'undelivered' }]);
		expect(creations((await runNode({ ...call, after: went })).requests)).toEqual([]);
		const first = await runNode(call);
		expect(first.json).toMatchObject([{ status: 'done' }]);
		const second = await runNode({ ...call, after: first });
		expect(creations(second.requests)).toHaveLength(1);
	});

	test('a loop that comes by again makes new tasks, a further try of the same run does not', async () => {
		const first = await runNode({ parameters: sound });
		const again = await runNode({ parameters: sound, after: first, runIndex: 1 });
		expect(creations(again.requests)).toHaveLength(1);
		const same = await runNode({ parameters: sound, after: first, runIndex: 0 });
		expect(creations(same.requests)).toHaveLength(0);
	});

	test('as a tool, what was over before the call failed is taken up as well', async () => {
		const parameters = sounds('a', 'b');
		const tasks = [PLAIN_TASK, taskWith({ end: 'error' as const, seconds: 40 })];
		const failed = await runNode({ parameters, tasks, asTool: true });
		expect(failed.error?.message).toMatch(/too loud/);
		const next = await runNode({ parameters, asTool: true, after: failed });
		expect(textsIn(next.bodies)).toEqual(['b']);
	});

	test('two equal items are two tasks', async () => {
		const { json } = await runNode({ parameters: sounds('a', 'a') });
		expect(new Set(json.map(({ task_id }) => task_id)).size).toBe(2);
	});
});

describe('Min Credits', () => {
	const guarded = (minimumCredits: unknown) => ({ ...sound, options: { minimumCredits } });

	test('fewer credits: nothing is created for this item', async () => {
		const { json, sent, requests } = await runNode({
			parameters: [guarded(101), sound, guarded(100), guarded('250.5')],
			node: goOn,
		});
		expect(json.map(({ outcome, status }) => outcome ?? status)).toEqual([
			'invalid',
			'done',
			'done',
			'invalid',
		]);
		expect(json[0]?.error).toBe(
			'The account has 100 credits, fewer than the 101 that Min Credits asks for',
		);
		expect(json[3]?.error).toMatch(/fewer than the 250.5 that/);
		expect(sent).toHaveLength(2);
		expect(requests.filter((line) => line === 'GET /v1/credits')).toHaveLength(1);
	});

	test('without Continue On Fail nothing is created for any', async () => {
		const { error, requests } = await runNode({ parameters: [sound, guarded(101)] });
		expect(error?.description).toBe(
			'Add credits at the service or lower the option Min Credits. Nothing was created for this item.',
		);
		expect(requests).toEqual(['GET /v1/credits']);
	});

	test('an item that is refused anyway needs no balance', async () => {
		const { requests } = await runNode({
			parameters: { ...guarded(5), ...notWaiting, callbackUrl: 'nowhere' },
			node: goOn,
		});
		expect(requests).toEqual([]);
	});

	test('without the option the balance is not read', async () => {
		const { requests } = await runNode({ parameters: [sound, guarded(0)] });
		expect(requests).not.toContain('GET /v1/credits');
	});

	test.each<[string, Answer, RegExp]>([
		['is refused', { status: 401, body: { error: 'expired' } }, /HTTP 401: expired$/],
		['is no balance', { body: { plan: 'x' } }, /: the answer holds no balance$/],
	])('a balance that %s creates nothing', async (_, answered, reason) => {
		const { error, sent } = await runNode({
			parameters: guarded(5),
			answer: ({ method }) => (method === 'GET' ? answered : undefined),
		});
		expect(error?.message).toMatch(
			/^The credit balance could not be read, so nothing was created: /,
		);
		expect(error?.message).toMatch(reason);
		expect(error?.description).toBe('Run again later, or remove the option Min Credits.');
		expect(sent).toEqual([]);
	});

	test('what is paid for already needs no balance', async () => {
		let balance = 100;
		const { json, sent } = await runNode({
			parameters: guarded(50),
			files: ['HTTP 404', 'HTTP 404'],
			node: { tries: 2 },
			answer({ url, method }) {
				if (method === 'POST') balance = 0;
				return url.endsWith('/v1/credits') ? { body: { credits: balance } } : undefined;
			},
		});
		expect(json).toMatchObject([{ status: 'done' }]);
		expect(sent).toHaveLength(1);
	});
});

describe('Max Credits', () => {
	const limited = (maximumCredits: number, text = 'Rain') => ({
		...sound,
		text,
		options: { maximumCredits },
	});

	test('no further task once they cost that much', async () => {
		const { json, sent, hints } = await runNode({
			parameters: [limited(15), sound, sound, sound],
			node: goOn,
		});
		expect(json.map(({ outcome, status }) => outcome ?? status)).toEqual([
			'done',
			'done',
			'invalid',
			'invalid',
		]);
		expect(json[2]?.error).toBe(
			'Max Credits is reached: the tasks of this run cost 20 credits, and the option allows 15',
		);
		expect(sent).toHaveLength(2);
		expect(hints).toEqual([
			'2 of 4 items failed, see the field "outcome"',
			'2 tasks created, 20 credits according to the service',
		]);
	});

	test('of 0 creates nothing at all', async () => {
		const { error, sent } = await runNode({ parameters: limited(0) });
		expect(error?.message).toMatch(/cost 0 credits, and the option allows 0$/);
		expect(sent).toEqual([]);
	});

	test('what the service names no cost of is looked at, and else known by the balance', async () => {
		let balance = 100;
		const { hints, requests, json } = await runNode({
			parameters: [limited(15), sound, sound],
			tasks: Array(3).fill(taskWith({ cost: -1 })) as Array<typeof PLAIN_TASK>,
			node: goOn,
			answer({ method, url }, count) {
				if (url.endsWith('/v1/credits')) return { body: { credits: balance } };
				if (method !== 'POST') return undefined;
				balance -= 10;
				return { body: { task_id: `t${count}`, ec_remain_credits: balance } };
			},
		});
		expect(requests[0]).toBe('GET /v1/credits');
		expect(json.map(({ outcome }) => outcome)).toEqual(['unreachable', 'unreachable', 'invalid']);
		expect(hints).toContain('2 tasks created, 20 credits according to the service');
	});

	test('with Min Credits the balance is read once for both', async () => {
		const { requests } = await runNode({
			parameters: { ...sound, options: { minimumCredits: 5, maximumCredits: 15 } },
		});
		expect(requests.filter((line) => line === 'GET /v1/credits')).toHaveLength(1);
	});

	test('the balance that Min Credits has read counts', async () => {
		const { hints } = await runNode({
			parameters: { ...sound, ...notWaiting, options: { minimumCredits: 5, maximumCredits: 15 } },
			answer: ({ method, url }) =>
				method === 'POST'
					? { body: { task_id: 't', ec_remain_credits: 88 } }
					: url.endsWith('/v1/credits')
						? undefined
						: { body: { id: 't', status: 'doing' } },
		});
		expect(hints).toEqual(['1 task created, 12 credits according to the service']);
	});

	test.each<[string, () => Answer | Promise<never>]>([
		['an error', () => ({ status: 500, body: { credits: 100 } })],
		['no balance', () => ({ body: { plan: 'x' } })],
		['nothing', async () => await new Promise<never>(() => undefined)],
	])(
		'where the question for the balance has %s for an answer, the run goes on without',
		async (_, balance) => {
			const { hints, sent, requests, error } = await runNode({
				parameters: { ...sound, ...notWaiting, options: { maximumCredits: 15 } },
				tasks: [taskWith({ cost: -1 })],
				answer: ({ method, url }) =>
					url.endsWith('/v1/credits')
						? balance()
						: method === 'POST'
							? { body: { task_id: 't', ec_remain_credits: 88 } }
							: { body: { id: 't', status: 'doing' } },
			});
			expect(error).toBeUndefined();
			expect(sent).toEqual([]);
			expect(requests.filter((line) => line === 'GET /v1/credits')).toHaveLength(1);
			expect(hints[0]).toBe('1 task created; its cost is not known');
		},
	);

	test('the look for a cost takes the route that Poll Route says', async () => {
		const { requests } = await runNode({
			parameters: { ...sound, ...notWaiting, options: { maximumCredits: 15, pollRoute: 'v1e' } },
			tasks: [taskWith({ cost: -1 })],
		});
		expect(requests.slice(2)).not.toHaveLength(0);
		expect(new Set(requests.slice(2))).toEqual(new Set([`GET /v1e/task/${ID}`]));
	});

	test('the output waits until the cost is known', async () => {
		const { hints } = await runNode({
			parameters: { ...sound, ...notWaiting, options: { maximumCredits: 15 } },
			answer: ({ method }, count) =>
				method === 'POST'
					? { body: { task_id: 't' } }
					: count < 4
						? { status: 404, body: {} }
						: { body: { id: 't', status: 'doing', credit_cost: 7 } },
		});
		expect(hints).toEqual(['1 task created, 7 credits according to the service']);
	});

	test('a cost that nobody names is said not to be counted', async () => {
		const { hints } = await runNode({
			parameters: limited(15),
			tasks: [taskWith({ cost: -1 })],
		});
		expect(hints).toEqual([
			'1 task created; its cost is not known',
			'Max Credits could not count 1 task, as the service named no cost for it',
		]);
	});

	test('the tries of a run count together', async () => {
		const { error, sent } = await runNode({
			parameters: [limited(15), sound],
			tasks: [taskWith({ end: 'error' }), taskWith({ end: 'error' })],
			node: { tries: 3 },
		});
		expect(sent.length).toBeLessThanOrEqual(2);
		expect(error?.message).toMatch(/Max Credits is reached|failed/);
	});
});

describe('the credential', () => {
	test.each<[IDataObject, RegExp]>([
		[{ apiKey: 'key' }, /does not start with "sk_"/],
		[{ baseUrl: 'nowhere' }, /is not a URL/],
	])('%j is refused for each item before anything is sent', async (credential, words) => {
		const { json, requests } = await runNode({
			parameters: sounds('a', 'b'),
			credential,
			node: goOn,
		});
		expect(json.map(({ outcome }) => outcome)).toEqual(['invalid', 'invalid']);
		expect(json[0]?.error).toMatch(words);
		const { error } = await runNode({ parameters: sound, credential });
		expect(error?.message).toMatch(words);
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(requests).toEqual([]);
	});

	test('one that is not there fails the run, whatever On Error says', async () => {
		for (const node of [{}, goOn]) {
			const { error, json } = await runNode({
				parameters: sound,
				credential: new Error('no credential is set'),
				node,
			});
			expect(error?.message).toBe('The credential could not be read: no credential is set');
			expect(error?.name).toBe('NodeOperationError');
			expect(error?.description).toBe(
				'Select a Media Generation API credential in this node. Nothing was sent.',
			);
			expect(json).toEqual([]);
		}
	});

	test('key and secret are in nothing that goes out', async () => {
		const { json, hints, logs, error } = await runNode({
			parameters: sounds('a', 'b'),
			creations: [{ ...good, kind: 'key echoed' }],
			looks: [{ kind: 'key echoed', retryAfter: 'none' }],
		});
		const all = JSON.stringify([json, hints, logs, String(error)]);
		expect(json).toHaveLength(2);
		expect(all).not.toContain(KEY);
		expect(all).not.toContain(SECRET);
	});
});

describe('Task: Wait', () => {
	const from = (...json: IDataObject[]): INodeExecutionData[] =>
		json.map((fields) => ({ json: fields }));
	const doneTask = (baseUrl: string) => ({
		id: 't',
		status: 'done',
		metadata: { audio_url: `${baseUrl}/t.wav` },
	});
	const known: Given['answer'] = ({ url }) => ({
		body: doneTask(new URL(url).origin.replace('api', 'files')),
	});

	test('waits for a task made earlier, fetches its files, and pays nothing', async () => {
		const { json, requests, hints, logs, endedMs } = await runNode({
			parameters: wait,
			answer: known,
		});
		// It is looked at at once, as it may be over already.
		expect(endedMs).toBeLessThan(500);
		expect(json).toMatchObject([
			{ task_id: 't', outputs: [{ kind: 'audio', binaryProperty: 'data' }] },
		]);
		expect(requests).toEqual(['GET /v1/task/t']);
		expect(hints).toEqual([]);
		expect(logs).toEqual([]);
	});

	test('the option Poll Route says where to ask', async () => {
		const { requests } = await runNode({
			parameters: { ...wait, options: { pollRoute: 'v1e' } },
			answer: known,
		});
		expect(requests).toEqual(['GET /v1e/task/t']);
	});

	test('a finished item passes through as it is, without a request', async () => {
		const binary = { data: { data: '', mimeType: 'audio/wav' } };
		const complete = {
			json: {
				task_id: 't',
				status: 'done',
				outputs: [{ url: 'x', binaryProperty: 'data' }],
				own: 1,
			},
			binary,
			pairedItem: { item: 7 },
		};
		const { output, requests } = await runNode({ parameters: wait, input: [complete] });
		expect(output).toEqual([{ ...complete, pairedItem: { item: 0 } }]);
		expect(requests).toEqual([]);
	});

	const complete = {
		task_id: 't',
		status: 'done',
		outputs: [{ url: 'x', binaryProperty: 'data' }],
	};
	test.each<[string, IDataObject, object]>([
		['has no file in its binary data', complete, {}],
		['names no files', { ...complete, outputs: [] }, {}],
		['has no list of files', { ...complete, outputs: 'x' }, {}],
		['has a file without a field', { ...complete, outputs: [{ url: 'x' }] }, {}],
		['has an odd file', { ...complete, outputs: ['x'] }, {}],
		['has no list of files', { ...complete, outputs: 'x' }, { downloadOutput: false }],
		['has null for a file', { ...complete, outputs: [null] }, {}],
		['still runs', { ...complete, status: 'doing' }, { downloadOutput: false }],
		['has no status', { task_id: 't', outputs: complete.outputs }, { downloadOutput: false }],
		['has an outcome', { ...complete, outcome: 'undelivered' }, { downloadOutput: false }],
		['is of another task', { ...complete, task_id: 'u' }, { downloadOutput: false }],
		['names no file without a download', { ...complete, outputs: [] }, { downloadOutput: false }],
	])('an item that %s is asked for', async (_, json, fields) => {
		const { requests } = await runNode({
			parameters: { ...wait, ...fields },
			input: from(json),
			answer: known,
		});
		expect(requests).toEqual(['GET /v1/task/t']);
	});

	test('an item of which one file is missing is asked for', async () => {
		const outputs = [
			{ url: 'x', binaryProperty: 'data' },
			{ url: 'y', binaryProperty: 'data_1' },
		];
		const binary = { data: { data: '', mimeType: 'audio/wav' } };
		const { requests } = await runNode({
			parameters: wait,
			input: [{ json: { ...complete, outputs }, binary }],
			answer: known,
		});
		expect(requests).toEqual(['GET /v1/task/t']);
	});

	test('it waits, whatever a hidden field says', async () => {
		const { json } = await runNode({ parameters: { ...wait, ...notWaiting }, answer: known });
		expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
	});

	test('without a download the addresses are enough', async () => {
		const { json, requests } = await runNode({
			parameters: { ...wait, downloadOutput: false },
			input: from(complete),
		});
		expect(json).toEqual([complete]);
		expect(requests).toEqual([]);
	});

	const failed = {
		task_id: 't',
		outcome: 'failed',
		error: 'Task t failed: too loud',
		status: 'error',
	};
	test.each<[string, IDataObject, IDataObject]>([
		['a failed task', failed, failed],
		[
			'a failed task that was asleep',
			{
				error: 'Task t failed: too loud',
				details: { task_id: 't', outcome: 'failed', status: 'error' },
			},
			{ error: 'Task t failed: too loud', outcome: 'failed', task_id: 't', status: 'error' },
		],
		[
			'what was rejected, with its status',
			{ outcome: 'rejected', error: 'no', http_status: 422 },
			{ outcome: 'rejected', error: 'no', http_status: 422 },
		],
		[
			'what is unclear, without words',
			{ outcome: 'unknown', http_status: '500' },
			{ outcome: 'unknown', error: 'The item failed in a node before this one (unknown)' },
		],
		[
			'what was bad',
			{ outcome: 'invalid', error: 'empty' },
			{ outcome: 'invalid', error: 'empty' },
		],
	])('%s stays a failure, and nothing is asked', async (_, json, expected) => {
		const { json: out, requests } = await runNode({
			parameters: { ...wait, taskId: json.task_id ?? '' },
			input: from(json),
			node: goOn,
		});
		expect(out).toEqual([expected]);
		expect(requests).toEqual([]);
	});

	test.each(['timed_out', 'unreachable', 'cancelled', 'undelivered', 'nonsense'])(
		'an item that is %s is waited for',
		async (outcome) => {
			const { json } = await runNode({
				parameters: wait,
				input: from({ task_id: 't', outcome, error: 'x' }),
				answer: known,
			});
			expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
		},
	);

	test('a task that was refused but named is waited for', async () => {
		const { json } = await runNode({
			parameters: wait,
			input: from({ task_id: 't', outcome: 'rejected' }),
			answer: known,
		});
		expect(json).toMatchObject([{ status: 'done' }]);
	});

	test('the failure of another task than the one that is wanted does not count', async () => {
		const { json } = await runNode({
			parameters: wait,
			input: from({ ...failed, task_id: 'u' }),
			answer: known,
		});
		expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
	});

	test('what to do about a failure from before', async () => {
		const again = await runNode({ parameters: wait, input: from(failed) });
		expect(again.error?.description).toMatch(/^The service ended this task with an error\./);
		const none = await runNode({ parameters: wait, input: from({ outcome: 'rejected' }) });
		expect(none.error?.description).toBe(
			'No task of this item is known, so there is nothing to wait for. See the node that made it.',
		);
	});

	test('a bad Task ID is refused', async () => {
		const { error, requests } = await runNode({ parameters: { ...wait, taskId: 'a/b' } });
		expect(error?.message).toMatch(/^The Task ID can't be used/);
		expect(requests).toEqual([]);
	});

	test('a task that is unknown to the service', async () => {
		const { json } = await runNode({ parameters: wait, node: goOn });
		expect(json).toMatchObject([{ outcome: 'unreachable', task_id: 't', http_status: 404 }]);
	});
});

describe('sleeping', () => {
	const asleep = { ...sound, waitMode: 'callback', options: { gracePeriod: 0 } };

	test('the service calls back at the resume URL, which wakes the execution with the results', async () => {
		const { execution, json, bodies } = await runNode({
			parameters: [asleep, asleep],
			tasks: [taskWith({ seconds: 40 }), taskWith({ seconds: 400 })],
		});
		const { pathname, searchParams } = new URL(bodies[0]?.receive_url as string);
		expect(pathname).toBe('/webhook-waiting/1/node-1');
		// n8n's own token, and nothing of ours.
		expect([...searchParams.keys()]).toEqual(['signature']);
		expect(searchParams.get('signature')).toHaveLength(32);
		expect(execution.woken).toBe(true);
		expect(json).toMatchObject([
			{ task_id: idOf(0), status: 'done' },
			{ task_id: idOf(1), status: 'done' },
		]);
	});

	test('what ends before the sleep needs none', async () => {
		const { execution, json } = await runNode({
			parameters: { ...asleep, options: { gracePeriod: 30 } },
			tasks: [taskWith({ seconds: 8 })],
		});
		expect(execution.saved).toBeUndefined();
		expect(json).toMatchObject([{ status: 'done' }]);
	});

	test('the longest of the times before the sleep counts for all', async () => {
		const { execution, json } = await runNode({
			parameters: [asleep, { ...asleep, options: { gracePeriod: 30 } }],
			tasks: [taskWith({ seconds: 20 }), taskWith({ seconds: 8 })],
		});
		expect(execution.saved).toBeUndefined();
		expect(json).toMatchObject([{ status: 'done' }, { status: 'done' }]);
	});

	test('items that poll are waited for first, and sleep along as complete', async () => {
		const { execution, json } = await runNode({
			parameters: [sound, asleep],
			tasks: [taskWith({ seconds: 8 }), taskWith({ seconds: 400 })],
		});
		expect(execution.woken).toBe(true);
		expect(json).toMatchObject([
			{ task_id: idOf(0), status: 'done' },
			{ task_id: idOf(1), status: 'done' },
		]);
	});

	test('a failure before the sleep ends the run, and is an item that sleeps along where it may go on', async () => {
		const given = {
			parameters: [asleep, asleep],
			creations: [good, refused],
			tasks: [taskWith({ seconds: 400 })],
		};
		const stopped = await runNode(given);
		expect(stopped.error?.message).toMatch(/bad voice/);
		expect(stopped.execution.saved).toBeUndefined();
		const went = await runNode({ ...given, node: goOn });
		expect(went.execution.woken).toBe(true);
		expect(went.json).toMatchObject([{ status: 'done' }, { outcome: 'rejected' }]);
	});

	test('the log says which creation is unclear before the execution sleeps', async () => {
		const { logs } = await runNode({
			parameters: [asleep, sound],
			creations: [good, unclear],
			tasks: [taskWith({ seconds: 400 })],
			node: goOn,
		});
		expect(warnings(logs)).toEqual([
			'warn: Media Generation: the execution went to sleep before the service had answered for items 1; their tasks may exist and be paid for',
		]);
	});

	test('without any callback the deadline wakes it, with the task as it was seen', async () => {
		const { json, execution, endedMs } = await runNode({
			parameters: { ...asleep, options: { gracePeriod: 0, timeout: 60, watchWhileAsleep: false } },
			tasks: [taskWith({ end: 'never' })],
		});
		expect(execution.woken).toBe(false);
		expect(endedMs).toBeGreaterThanOrEqual(60_000);
		expect(json).toMatchObject([{ task_id: ID, status: 'doing', timed_out: true }]);
	});

	test.each([
		[true, 'done'],
		[false, 'doing'],
	])(
		'where callbacks get lost, Watch While Asleep (%j) decides who wakes it',
		async (watchWhileAsleep, status) => {
			const { json, execution, requests } = await runNode({
				parameters: { ...asleep, options: { gracePeriod: 0, timeout: 600, watchWhileAsleep } },
				tasks: [taskWith({ seconds: 40, callbacks: [] })],
			});
			expect(execution.woken).toBe(watchWhileAsleep);
			expect(json).toMatchObject([{ task_id: ID, status }]);
			// Without it: the creation, and the look before the sleep.
			expect(requests.length > 2).toBe(watchWhileAsleep);
		},
	);

	test('the deadline comes before all parts are over: what goes out is one that is not, and names them all', async () => {
		const { json } = await runNode({
			parameters: {
				...long('join'),
				waitMode: 'callback',
				options: { gracePeriod: 0, timeout: 60, maxCharacters: 60, watchWhileAsleep: false },
			},
			tasks: [taskWith({ seconds: 0 }), taskWith({ end: 'never' })],
		});
		expect(json).toMatchObject([
			{
				id: idOf(1),
				task_id: idOf(1),
				task_ids: [idOf(0), idOf(1)],
				status: 'doing',
				timed_out: true,
			},
		]);
	});

	test('a task that fails in the last look before the sleep is made again by the next try', async () => {
		const { json, sent } = await runNode({
			parameters: asleep,
			tasks: [taskWith({ end: 'error', seconds: 0 }), taskWith({ seconds: 40 })],
			node: { tries: 2 },
		});
		expect(json).toMatchObject([{ status: 'done' }]);
		expect(sent).toHaveLength(2);
	});

	test.each<[string, Partial<Given>, RegExp]>([
		['as a tool of an agent', { asTool: true }, /can't be suspended while the node runs as a tool/],
		[
			'where nobody can reach this n8n and it may not look',
			{ node: { reachable: false } },
			/can't be suspended/,
		],
	])(
		'is refused %s before anything is paid, for those that would sleep',
		async (_, given, words) => {
			const unwatched = { ...asleep, options: { gracePeriod: 0, watchWhileAsleep: false } };
			const { node, ...rest } = given;
			const { json, sent } = await runNode({
				parameters: [sound, unwatched],
				...rest,
				node: { ...goOn, ...node },
			});
			expect(json).toMatchObject([{ status: 'done' }, { outcome: 'invalid' }]);
			expect(json[1]?.error).toMatch(words);
			expect(sent).toHaveLength(1);
			const stopped = await runNode({ parameters: [sound, unwatched], ...given });
			expect(stopped.error?.message).toMatch(words);
			expect(stopped.sent).toEqual([]);
		},
	);

	const longAsleep = { ...long('join'), waitMode: 'callback' };
	const asleepFor = (...seconds: number[]) => seconds.map((each) => taskWith({ seconds: each }));

	test('parts of one item: what is over before the sleep waits for the rest', async () => {
		const { json, execution, sent } = await runNode({
			parameters: { ...longAsleep, options: { gracePeriod: 0, maxCharacters: 60 } },
			tasks: asleepFor(0, 400),
		});
		expect(execution.woken).toBe(true);
		expect(json).toMatchObject([{ status: 'done', task_ids: [idOf(0), idOf(1)] }]);
		expect(sent).toHaveLength(2);
	});

	test('parts of one item: one that failed before the sleep fails it at once', async () => {
		const { json, endedMs } = await runNode({
			parameters: { ...longAsleep, options: { gracePeriod: 0, maxCharacters: 60 } },
			tasks: [taskWith({ seconds: 0, end: 'error' }), taskWith({ seconds: 400 })],
			node: goOn,
		});
		expect(endedMs).toBeLessThan(400_000);
		expect(json).toMatchObject([{ outcome: 'failed', part: 1, task_ids: [idOf(0), idOf(1)] }]);
	});

	test('what is over in the last look is delivered without a sleep', async () => {
		const { json, execution, output } = await runNode({
			parameters: [asleep, asleep],
			tasks: asleepFor(0, 0),
		});
		expect(execution.saved).toBeUndefined();
		expect(json).toMatchObject([{ status: 'done' }, { status: 'done' }]);
		expect(Object.keys(output[1]?.binary ?? {})).toEqual(['data', 'data_1']);
	});

	test('an item that sleeps and is over is fetched together with the rest', async () => {
		const { json, execution } = await runNode({
			parameters: [asleep, asleep],
			tasks: asleepFor(0, 400),
		});
		expect(execution.woken).toBe(true);
		expect(json).toMatchObject([
			{ task_id: idOf(0), status: 'done', outputs: [{ kind: 'audio' }, { kind: 'transcript' }] },
			{ task_id: idOf(1), status: 'done' },
		]);
	});

	test('one item that may not be looked at: where no callback can come, none may sleep', async () => {
		const unwatched = { ...asleep, options: { gracePeriod: 0, watchWhileAsleep: false } };
		const { json, requests } = await runNode({
			parameters: [asleep, unwatched],
			node: { ...goOn, reachable: false },
		});
		expect(json.map(({ outcome }) => outcome)).toEqual(['invalid', 'invalid']);
		expect(requests).toEqual([]);
	});

	test('a stop in the sleep cancels it, and what was asleep was logged when it was created', async () => {
		const { execution, logs } = await runNode({
			parameters: asleep,
			tasks: asleepFor(400),
			events: [{ at: 30, kind: 'stop' }],
		});
		expect(execution.status).toBe('canceled');
		expect(logs).toEqual([`Media Generation: task ${ID} for item 0 of execution 1`]);
	});

	test('where nobody can reach this n8n it looks by itself, and no callback URL is sent', async () => {
		const { bodies, json, execution } = await runNode({
			parameters: { ...asleep, options: { gracePeriod: 0, extraFields: '{"receive_url": 7}' } },
			tasks: [taskWith({ seconds: 400 })],
			node: { reachable: false },
		});
		expect(bodies).toEqual([{ text: 'Rain', receive_url: 7 }]);
		expect(execution.woken).toBe(true);
		expect(json).toMatchObject([{ status: 'done' }]);
	});
});

test('an operation that does not exist is refused in words', async () => {
	const { error } = await runNode({ parameters: { resource: 'song', operation: 'sing' } });
	expect(error?.message).toBe('There is no operation "sing" of the resource "song"');
	expect(error?.name).toBe('NodeOperationError');
	const broken = {
		get resource(): string {
			throw new Error('no such node');
		},
	};
	expect((await runNode({ parameters: broken })).error?.message).toBe('no such node');
});
