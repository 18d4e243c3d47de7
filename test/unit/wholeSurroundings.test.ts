/**
 * Runs of the whole node and what is around them: the pauses and addresses that runs of one account share, costs, stops, and what goes
 * out or is saved with an execution.
 */
import type { IDataObject } from 'n8n-workflow';
import { PLAIN_TASK } from '../model/history';
import { runNode, type Answer, type Given } from './wholeNode';

const sound = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
const speech = { resource: 'speech', operation: 'generateByVoiceId', voiceId: 'v', text: 'Hello' };
const wait = { resource: 'task', operation: 'wait', taskId: 't' };
const get = { resource: 'task', operation: 'get', taskId: 't' };
const credits = { resource: 'credits', operation: 'get' };
const notWaiting = { waitForCompletion: false };
const goOn = { onError: 'continueRegularOutput' } as const;
const taskWith = (fields: Partial<typeof PLAIN_TASK>) => ({ ...PLAIN_TASK, ...fields });
const ID = '71000000';

const creations = (requests: string[]) => requests.filter((line) => line.startsWith('POST '));
const sounds = (...texts: string[]) => texts.map((text) => ({ ...sound, text }));
const warnings = (logs: string[]) => logs.filter((line) => line.startsWith('warn: '));
/** Answers in this order; the last one repeats. */
const answers =
	(...given: Answer[]): Given['answer'] =>
	(_, count) =>
		given[Math.min(count, given.length - 1)];

describe('Poll Route: Automatic', () => {
	/** A service that knows tasks under /v1e only. */
	const onlyV1e: Given['answer'] = ({ method, url }) =>
		method === 'GET' && !url.includes('/v1e/')
			? { status: 404, body: { error: 'no such task' } }
			: undefined;
	const firstLook = ({ requests }: { requests: string[] }) =>
		requests.find((line) => line.startsWith('GET '));

	test('the address that answered is asked first from then on, for tasks of that kind', async () => {
		const first = await runNode({ parameters: sound, answer: onlyV1e });
		expect(firstLook(first)).toBe(`GET /v1/task/${ID}`);
		const same = await runNode({ parameters: sound, after: first, runIndex: 1 });
		expect(firstLook(same)).toBe(`GET /v1e/task/${ID}`);
		const other = await runNode({ parameters: speech, after: first, runIndex: 2 });
		expect(firstLook(other)).toBe(`GET /v1/task/${ID}`);
	});

	test('"Task: Get" asks first where "Task: Wait" has found its task', async () => {
		const described: Given['answer'] = ({ url }) =>
			url.includes('/v1e/')
				? { body: { id: 't', status: 'done', metadata: { audio_url: 'https://x.example/a.wav' } } }
				: { status: 404, body: {} };
		const parameters = { ...wait, downloadOutput: false };
		const waited = await runNode({ parameters, answer: described });
		expect(waited.requests).toEqual(['GET /v1/task/t', 'GET /v1e/task/t']);
		const got = await runNode({
			parameters: get,
			answer: described,
			after: waited,
		});
		expect(got.requests).toEqual(['GET /v1e/task/t']);
	});
});

describe('a pause that the service asks for', () => {
	test('holds for the looks at all tasks', async () => {
		const looks: number[] = [];
		const { json } = await runNode({
			parameters: sounds('a', 'b', 'c'),
			tasks: [5, 5, 5].map((seconds) => taskWith({ seconds })),
			answer({ method }) {
				if (method !== 'GET') return undefined;
				looks.push(Date.now());
				return looks.length === 1
					? { status: 429, body: {}, headers: { 'retry-after': '20' } }
					: undefined;
			},
		});
		expect(json.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
		const [first = 0, second = 0] = looks;
		expect(second - first).toBeGreaterThanOrEqual(20_000);
	});

	test('holds for the look for a cost, too', async () => {
		const looks: number[] = [];
		const { hints } = await runNode({
			parameters: { ...sound, ...notWaiting, options: { maximumCredits: 15 } },
			answer({ method, url }) {
				if (method === 'POST') return { body: { task_id: 't' } };
				if (url.endsWith('/v1/credits')) return undefined;
				looks.push(Date.now());
				return looks.length === 1
					? { status: 429, body: {}, headers: { 'retry-after': '5' } }
					: { body: { id: 't', status: 'doing', credit_cost: 7 } };
			},
		});
		expect(hints).toEqual(['1 task created, 7 credits according to the service']);
		const [first = 0, second = 0] = looks;
		expect(second - first).toBeGreaterThanOrEqual(5_000);
	});

	test('when a run reads the balance, it holds for the readings of the next one', async () => {
		const slow = { status: 429, body: {}, headers: { 'retry-after': '20' } };
		const run = await runNode({
			parameters: { ...sound, options: { maximumCredits: 50 } },
			answer: ({ url }) => (url.endsWith('/v1/credits') ? slow : undefined),
		});
		expect(run.json).toMatchObject([{ status: 'done' }]);
		// Its clock begins at the same moment, and its account is the same.
		const { json, endedMs } = await runNode({
			parameters: credits,
			answer: answers({ status: 500 }, { body: { credits: 7 } }),
			after: run,
		});
		expect(json).toEqual([{ credits: 7 }]);
		expect(endedMs).toBeGreaterThanOrEqual(19_000);
	});
});

describe('where n8n gives no signal of a stop', () => {
	test('tasks are made and waited for, and a failure ends the run', async () => {
		const { json } = await runNode({ parameters: sounds('a', 'b'), withoutSignal: true });
		expect(json.map(({ status }) => status)).toEqual(['done', 'done']);
		const { error, endedMs } = await runNode({
			parameters: sounds('a', 'b'),
			tasks: [taskWith({ end: 'error' }), taskWith({ seconds: 400 })],
			withoutSignal: true,
		});
		expect(error?.message).toBe(`Task ${ID} failed: too loud`);
		expect(error?.description).not.toContain('may exist');
		expect(endedMs).toBeLessThan(60_000);
	});

	test('a service that is busy is asked again', async () => {
		const { json } = await runNode({
			parameters: get,
			answer: answers({ status: 503, body: {} }, { body: { id: 't', status: 'doing' } }),
			withoutSignal: true,
		});
		expect(json).toMatchObject([{ id: 't', status: 'doing' }]);
	});
});

test('a stop ends the downloads', async () => {
	const { execution, endedMs } = await runNode({
		parameters: sound,
		files: Array<'HTTP 503'>(20).fill('HTTP 503'),
		events: [{ at: 6, kind: 'stop' }],
	});
	expect(execution.status).toBe('canceled');
	expect(endedMs).toBe(6_000);
});

test.each<[string, object, Partial<typeof PLAIN_TASK>]>([
	['a time-out', { timeout: 5 }, { end: 'never' }],
	[
		'a task that failed, though a time-out may go on',
		{ onTimeout: 'returnTask' },
		{ end: 'error' },
	],
])(
	'after a failure that ends the run its slot goes to no other task: %s',
	async (_, options, task) => {
		const first = { ...sound, options: { ...options, maxActiveTasks: 1 } };
		const { error, requests } = await runNode({
			parameters: [first, sound, sound],
			tasks: [taskWith(task)],
		});
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		expect(creations(requests)).toHaveLength(1);
	},
);

test.each<[string, object, number]>([
	['with Split Files', { ...sound, options: { splitFiles: true } }, 2],
	['of a long text that is joined', { ...speech, longText: 'join' }, 2],
])('an item %s none of whose files came has their addresses', async (_, parameters, files) => {
	const { output } = await runNode({ parameters, files: ['HTTP 404', 'HTTP 404'], node: goOn });
	expect(output).toHaveLength(1);
	expect(output[0]?.json).toMatchObject({ outcome: 'undelivered', task_id: ID });
	expect(output[0]?.json.outputs).toHaveLength(files);
	expect(output[0]?.binary).toBeUndefined();
});

test('the log has both tasks that two refusals have named', async () => {
	let creation = 0;
	const { error, logs } = await runNode({
		parameters: sounds('a', 'b'),
		answer: ({ method }) =>
			method === 'POST'
				? { status: 409, body: { task_id: `x-${(creation += 1)}`, error: 'runs' } }
				: undefined,
		node: goOn,
	});
	expect(error).toBeUndefined();
	expect(warnings(logs).at(-1)).toMatch(/for items 0, 1; .*; it named x-1, x-2$/);
});

test('a field that is wrong is named before anything is read for the others', async () => {
	const { error, requests } = await runNode({
		parameters: [
			{ ...sound, options: { minimumCredits: 5 } },
			{ ...sound, text: '' },
		],
		credential: new Error('no credential is set'),
	});
	expect(error?.message).toBe('The field "Text" is empty');
	expect(requests).toEqual([]);
});

test.each<[string, (url: string) => string]>([
	['within another address', (url) => `https://log.example/?to=${encodeURIComponent(url)}`],
	['by its token alone', (url) => new URL(url).searchParams.get('signature') ?? ''],
])(
	'the signature of a callback URL does not go out where the service echoes it %s',
	async (_, echoed) => {
		const { bodies, json } = await runNode({
			parameters: { ...sound, ...notWaiting, callbackUrl: 'https://n8n.example/webhook/x' },
			answer: ({ body }) => ({ body: { task_id: 't', echo: echoed(body?.receive_url as string) } }),
		});
		const signature = new URL(bodies[0]?.receive_url as string).searchParams.get('signature') ?? '';
		expect(signature).toMatch(/^[0-9a-f]{64}$/);
		expect(json[0]?.echo).toContain('***');
		expect(JSON.stringify(json)).not.toContain(signature);
	},
);

const PARTS = ['The first part of a text, as long as that.', 'The second part, about as long.'];
const long = {
	...speech,
	longText: 'join',
	text: PARTS.join('\n\n'),
	options: { maxCharacters: 60 },
};

test.each<[string, Partial<Given>, boolean]>([
	['a long text, for Retry On Fail', { parameters: long, node: { tries: 2 } }, true],
	['a long text without Retry On Fail', { parameters: long }, false],
	[
		'a text that is not cut',
		{ parameters: { ...speech, text: PARTS[1] }, node: { tries: 2 } },
		false,
	],
])('what n8n saves with the execution: %s', async (_, given, kept) => {
	const { execution, json } = await runNode({ parameters: {}, ...given });
	expect(json).toMatchObject([{ status: 'done' }]);
	expect(JSON.stringify(execution.context).includes(String(PARTS[1]))).toBe(kept);
});

describe('the cost', () => {
	test('of a task that a later try takes up is looked for where Poll Route says', async () => {
		const { json, requests, sent } = await runNode({
			parameters: { ...sound, options: { maximumCredits: 15, pollRoute: 'v1e' } },
			tasks: [taskWith({ cost: -1 })],
			files: ['HTTP 404', 'HTTP 404'],
			node: { tries: 2 },
		});
		expect(json).toMatchObject([{ status: 'done' }]);
		expect(sent).toHaveLength(1);
		expect(new Set(requests.filter((line) => line.includes('/task/')))).toEqual(
			new Set(['POST /v1/task/sound-effect', `GET /v1e/task/${ID}`]),
		);
	});

	test('that the finished task names goes before the estimate of its creation', async () => {
		const { hints } = await runNode({
			parameters: { ...sound, downloadOutput: false },
			answer: ({ method }) =>
				method === 'POST'
					? { body: { task_id: 't', estimated_credits: 30 } }
					: {
							body: {
								id: 't',
								status: 'done',
								credit_cost: 12,
								metadata: { audio_url: 'https://x.example/a.wav' },
							},
						},
		});
		expect(hints).toEqual(['1 task created, 12 credits according to the service']);
	});
});

describe('Task: Wait', () => {
	const known: Given['answer'] = ({ url }) => ({
		body: {
			id: 't',
			status: 'done',
			metadata: { audio_url: `${new URL(url).origin.replace('api', 'files')}/t.wav` },
		},
	});

	test.each<[string, Partial<Given>]>([
		['as a tool of an agent', { asTool: true }],
		['with Retry On Fail', { node: { tries: 2 } }],
	])('waits %s', async (_, given) => {
		const { json, requests } = await runNode({ parameters: wait, answer: known, ...given });
		expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
		expect(requests).toEqual(['GET /v1/task/t']);
	});

	test('waits for one task, whatever the hidden field for long texts says', async () => {
		const { json } = await runNode({ parameters: { ...wait, longText: 'parts' }, answer: known });
		expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
		expect(json[0]).not.toHaveProperty('part');
	});

	test('asks for an item of which one file is none', async () => {
		const outputs = [{ url: 'x', binaryProperty: 'data' }, null] as IDataObject[];
		const { requests } = await runNode({
			parameters: wait,
			input: [
				{
					json: { task_id: 't', status: 'done', outputs },
					binary: { data: { data: '', mimeType: 'audio/wav' } },
				},
			],
			answer: known,
		});
		expect(requests).toEqual(['GET /v1/task/t']);
	});
});

test('a redirect that refuses in its body is no usable answer', async () => {
	const { error } = await runNode({
		parameters: credits,
		answer: answers({ status: 300, body: { success: false } }),
	});
	expect(error?.message).toBe('/v1/credits could not be read: HTTP 300 without a usable answer');
});
