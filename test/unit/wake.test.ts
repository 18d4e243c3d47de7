/** The webhook that wakes a sleeping execution: when it does, what goes out, and what its caller is told. README, "Waiting". */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type {
	IDataObject,
	IHttpRequestOptions,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { createClient } from '../../nodes/MediaGeneration/transport/client';
import { pause } from '../../nodes/MediaGeneration/n8n/clock';
import { wake } from '../../nodes/MediaGeneration/suspend/wake';
import { writeNotes, type SleepingItem } from '../../nodes/MediaGeneration/suspend/notes';
import { sleepOf, type Sleep } from '../../nodes/MediaGeneration/suspend/watch';
import type { Watch } from '../../nodes/MediaGeneration/task/poll';
import { onMachine } from '../model/machine';
import { ASSEMBLY, FILES } from './itemSettings';
import { WebhookResponse } from '../support/webhookResponse';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0 picture', 'latin1');

const watchOf = (taskId: string): Watch => ({
	taskId,
	kind: 'image',
	createdAt: Date.now() - 60_000,
	deadline: Date.now() + 3_600_000,
	echoes: [],
	pace: 'asleep',
});
const open = (...taskIds: string[]) => ({
	kind: 'open' as const,
	tasks: taskIds.map(watchOf),
	files: FILES,
	assembly: ASSEMBLY,
});

/** What the service says of a task: its status, an HTTP status, or a whole task. */
type Said = string | number | object;

interface Setting {
	notes?: SleepingItem[];
	items?: INodeExecutionData[];
	says?: (taskId: string, count: number) => Said;
	baseUrl?: string;
	/** How long the host of files takes to answer. */
	fileMs?: number;
	/** Of the request that arrives. */
	query?: string;
	/** What n8n's one expression gives. */
	evaluates?: (all: unknown[]) => unknown;
	/** Until n8n has stored what it is handed, and whether it can. */
	storing?: Promise<void>;
	stores?: () => boolean;
	/** What throws. */
	broken?: 'evaluateExpression' | 'getCredentials' | 'getNode' | 'getBodyData';
}

let count = 0;

/** A sleeping execution. */
function sleeping({
	notes = [open('t1')],
	items,
	says = () => 'done',
	baseUrl = 'https://api.example',
	fileMs = 0,
	query = '?signature=token',
	evaluates = (all) => all,
	storing,
	stores = () => true,
	broken,
}: Setting = {}) {
	count += 1;
	const key = `sk_wake-${count}-0123456789`;
	const input = items ?? notes.map((_, index) => ({ json: { task_id: `asleep-${index}` } }));
	const id = `sleep-${count}`;
	const saved = writeNotes({ id, items: notes });
	const looks: string[] = [];
	const files: string[] = [];
	const calls: IHttpRequestOptions[] = [];
	const warnings: string[] = [];
	const node = {
		id: 'node-1',
		name: 'Media',
		type: 'x',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const helpers = {
		async httpRequestWithAuthentication(_type: string, { url }: IHttpRequestOptions) {
			const taskId = url.slice(url.lastIndexOf('/') + 1);
			looks.push(taskId);
			const said = says(taskId, looks.filter((id) => id === taskId).length);
			if (typeof said === 'number')
				return await Promise.resolve({ statusCode: said, headers: {}, body: '' });
			const metadata = { output_url: `https://files.example/${taskId}.png` };
			const fields = typeof said === 'string' ? { status: said } : said;
			const body = JSON.stringify({ id: taskId, type: 'image', metadata, ...fields });
			return { statusCode: 200, headers: {}, body };
		},
		async httpRequest(options: IHttpRequestOptions) {
			if (options.method === 'POST') {
				calls.push(options);
				return { statusCode: 404, headers: {}, body: {} };
			}
			files.push(options.url);
			await pause(fileMs);
			const headers = { 'content-type': 'image/png', 'content-length': String(PNG.length) };
			const body = Readable.from([PNG], { objectMode: false });
			return { statusCode: options.url.includes('gone') ? 404 : 200, headers, body };
		},
		async prepareBinaryData(stream: Readable, fileName: string, mimeType: string) {
			return { data: (await buffer(stream)).toString('base64'), fileName, mimeType };
		},
	};
	const getCredentials = async () =>
		await Promise.resolve({ apiKey: key, baseUrl, callbackSecret: '' });
	const post = async (body: unknown, response = new WebhookResponse()) => {
		const context = {
			getNode() {
				return node;
			},
			getWorkflow: () => ({ id: `workflow of ${key}` }),
			getMode: () => 'trigger',
			getRequestObject: () => ({
				originalUrl: `/webhook-waiting/7/node-1${query}`,
				headers: {},
				rawBody: undefined,
			}),
			getResponseObject: () => response,
			getBodyData: () => body,
			// One expression asks for all three, and for the items as a text.
			evaluateExpression: () =>
				evaluates([JSON.stringify(input), saved, 'https://n8n.example/webhook-waiting/7']),
			getCredentials,
			logger: { warn: (line: string) => warnings.push(line) },
			helpers,
			...(broken && {
				[broken]() {
					throw new Error(`broken by ${key}`);
				},
			}),
		} as unknown as IWebhookFunctions;
		const { workflowData, noWebhookResponse, ...rest } = await wake(context);
		expect(noWebhookResponse).toBe(response.headersSent ? true : undefined);
		// Else n8n answers, when it has taken the items or failed to.
		if (!response.headersSent) await storing;
		if (!response.headersSent) response.status(stores() ? 200 : 500).json(rest.webhookResponse);
		return {
			status: response.statusCode,
			body: response.sent as IDataObject,
			items: workflowData?.[0],
		};
	};
	/** The sleep as the process knows it that put the execution to sleep. */
	const ownSleep = async (): Promise<Sleep> => {
		const context = { getCredentials, helpers } as unknown as IWebhookFunctions;
		return sleepOf(id, { context, client: await createClient(context) });
	};
	return { post, looks, files, calls, warnings, ownSleep };
}
const told = (status: number, body: object) => ({ status, body, items: undefined });

describe('it sleeps on', () => {
	test.each<[string, Said]>([
		['runs', 'doing'],
		['can not be asked about', 503],
	])('while another task %s: 202, with how many are open', async (_name, said) => {
		const { post } = sleeping({
			notes: [open('t1'), open('t2', 't3')],
			says: (taskId) => (taskId === 't1' ? 'done' : said),
		});
		const value = await onMachine(async () => await post({ id: 't1', status: 'done' }));
		expect(value).toEqual(told(202, { received: true, waiting: 2 }));
	});

	test('for a task of another execution, which costs no request', async () => {
		const { post, looks } = sleeping();
		expect(await post({ id: 'foreign', status: 'done' })).toEqual(
			told(200, { received: true, ignored: 'the task does not belong to this execution' }),
		);
		expect(looks).toEqual([]);
	});

	test.each<[string, Setting]>([
		['no items', { items: [] }],
		['other items', { items: [{ json: {} }, { json: {} }] }],
		['items that are none', { evaluates: ([, notes, url]) => [undefined, notes, url] }],
		['no notes', { evaluates: ([items, , url]) => [items, undefined, url] }],
		['nothing that n8n could evaluate', { evaluates: () => undefined }],
	])('where this node has put nothing to sleep: %s', async (_name, setting) => {
		const { post } = sleeping(setting);
		expect(await post({ id: 't1' })).toEqual(
			told(404, { received: false, error: 'no task is waited for here' }),
		);
	});

	test.each<[string, Said, ReturnType<typeof told>]>([
		[
			'by the word of the service its task goes on',
			'doing',
			told(202, { received: true, waiting: 1 }),
		],
		[
			'the service can not be asked',
			503,
			told(503, { received: false, error: 'the service could not be asked, try again' }),
		],
	])('where %s; the caller knows within 8 s', async (_name, said, answer) => {
		await onMachine(async (machine) => {
			const { post, looks } = sleeping({ says: () => said });
			expect(await post({ id: 't1', status: 'done' })).toEqual(answer);
			expect(machine.elapsed).toBe(8_000);
			expect(looks.length).toBeGreaterThan(1);
		});
	});
});

/** The first of two tasks is over at once, the second one after some time; the address of a file is good for one look. */
const apart = async (ms: number, says: (nth: number) => Said) =>
	await onMachine(async (machine) => {
		const { post, looks, files } = sleeping({
			notes: [open('t1'), open('t2')],
			says: (taskId, nth) =>
				taskId === 't1' ? says(nth) : machine.elapsed < ms ? 'doing' : 'done',
		});
		const first = await post({ id: 't1' });
		expect(first.status).toBe(202);
		await machine.pause(ms - machine.elapsed);
		const { items } = await post({ id: 't2' });
		return { items, looks: looks.filter((id) => id === 't1'), files: files.sort() };
	});
const fileOf = (nth: number) => `https://files.example/t1-${nth}.png`;
const task = (nth: number) => ({ status: 'done', metadata: { output_url: fileOf(nth) } });

test.each<[string, number, (nth: number) => Said, looks: number, file: number | undefined]>([
	['is looked at again after five minutes, as addresses of files are temporary', 301, task, 2, 2],
	['keeps its address until then', 300, task, 1, 1],
	['keeps it, too, where the service forgets it', 301, (nth) => (nth < 2 ? task(1) : 404), 3, 1],
	['that failed is not looked at again', 301, () => ({ status: 'error' }), 1, undefined],
])(
	'a task that was over some time before the others %s',
	async (_name, seconds, says, expectedLooks, file) => {
		const { items, looks, files } = await apart(seconds * 1_000, says);
		expect(looks).toHaveLength(expectedLooks);
		const own = file === undefined ? [] : [fileOf(file)];
		expect(files).toEqual([...own, 'https://files.example/t2.png']);
		const end = file === undefined ? { outcome: 'failed' } : { status: 'done' };
		expect(items).toMatchObject([{ json: end }, { json: { status: 'done' } }]);
	},
);

describe('it wakes', () => {
	test('with all that is over by then, though nobody has called for the others', async () => {
		const { post, looks } = sleeping({ notes: [open('t1', 't2'), open('t3')] });
		const value = await onMachine(async () => await post({ id: 't2' }));
		expect(value).toMatchObject({ status: 200, body: { received: true } });
		expect(value.items).toHaveLength(2);
		expect(looks.sort()).toEqual(['t1', 't2', 't3']);
	});

	test('once for two calls at the same moment', async () => {
		const { post, files } = sleeping({ notes: [open('t1'), open('t2')] });
		const value = await onMachine(
			async () => await Promise.all([post({ id: 't1' }), post({ id: 't2' })]),
		);
		expect(value.map(({ items }) => items?.length).sort()).toEqual([2, undefined]);
		expect(value.map(({ body }) => body)).toContainEqual({
			...{ received: true, ignored: 'the execution was woken before' },
		});
		expect(files).toHaveLength(2);
	});

	test('with the files that came, and the addresses of all, where one is gone', async () => {
		const [output_url, output_uri] = ['here', 'gone'].map(
			(name) => `https://files.example/${name}`,
		);
		const metadata = { output_url, output_uri };
		const { post } = sleeping({ says: () => ({ status: 'done', metadata }) });
		const value = await onMachine(async () => await post({ id: 't1' }));
		const { json, binary } = value.items?.[0] ?? {};
		expect(json?.outcome).toBe('undelivered');
		expect((json?.outputs as Array<{ url: string }>).map(({ url }) => url).sort()).toEqual([
			...[output_uri, output_url],
		]);
		expect(Object.keys(binary ?? {})).toHaveLength(1);
	});

	test('with a file that takes long, whose sender is told after 5 s that n8n has nothing yet, as is every copy', async () => {
		await onMachine(async (machine) => {
			const { post, calls } = sleeping({ notes: [open('t1'), open('t2')], fileMs: 9_000 });
			const response = new WebhookResponse();
			const answered = new Promise((resolve) =>
				response.once('close', () => resolve(machine.elapsed)),
			);
			const woken = post({ id: 't1' }, response);
			expect(await answered).toBe(5_000);
			const fetched = told(503, {
				received: false,
				error: 'the files are being fetched, try again',
			});
			expect(await post({ id: 't1' })).toEqual(fetched);
			const { items, ...rest } = await woken;
			expect([rest, response.headers]).toEqual([
				{ status: 503, body: fetched.body },
				{ 'Retry-After': 5 },
			]);
			expect(items?.[0]?.binary?.data).toBeDefined();
			expect(machine.elapsed).toBe(9_000);
			// Nobody says whether n8n has taken the items: this process asks, and a later call counts again.
			expect((await post({ id: 't1' })).status).toBe(503);
			await machine.pause(60_000);
			expect(calls.length).toBeGreaterThan(0);
		});
	});

	test('by itself, if a call comes too soon, whoever is called for', async () => {
		await onMachine(async (machine) => {
			const { post, calls, looks } = sleeping({
				notes: [open('t1', 't2')],
				says: (id) => (machine.elapsed < (id === 't1' ? 60_000 : 200_000) ? 'doing' : 'done'),
			});
			expect(await post({ id: 't1' })).toMatchObject({ status: 202 });
			await machine.pause(10 * 60_000);
			expect(calls[0]).toMatchObject({
				url: 'https://n8n.example/webhook-waiting/7/node-1?signature=token',
				body: { id: 't2' },
			});
			expect(looks).toContain('t2');
		});
	});
});

test.each([
	['http://10.0.0.1', true],
	['https://api.example', false],
])('files at private addresses, for a service at %s: fetched %j', async (baseUrl, fetched) => {
	const metadata = { output_url: 'http://10.0.0.2/a.png' };
	const { post, files } = sleeping({ baseUrl, says: () => ({ status: 'done', metadata }) });
	const value = await onMachine(async () => await post({ id: 't1' }));
	expect(files).toHaveLength(fetched ? 1 : 0);
	expect(value.items?.[0]?.json.outcome).toBe(fetched ? undefined : 'undelivered');
});

test('what goes out does not hold the token that wakes the execution, nor the key', async () => {
	const token = 'f'.repeat(64);
	const receiveUrl = `https://n8n.example/elsewhere/7/node-1?signature=${token}`;
	const items = [{ json: { url: receiveUrl } }, { json: {} }];
	const { post } = sleeping({
		notes: [{ kind: 'complete' as const }, open('t1')],
		items,
		query: `?signature=${token}`,
		says: () => ({ status: 'done', receive_url: receiveUrl, note: token }),
	});
	const value = await onMachine(async () => await post({ id: 't1' }));
	expect(value.items?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	expect(JSON.stringify(value.items?.map(({ json }) => json))).not.toContain(token);
});

describe('in the process that put it to sleep', () => {
	test('a callback costs a look at its own task only, as the others are watched', async () => {
		await onMachine(async () => {
			let others: Said = 'doing';
			const { post, looks, ownSleep } = sleeping({
				notes: [open('t1', 't2')],
				says: (taskId) => (taskId === 't1' ? 'done' : others),
			});
			(await ownSleep()).watch([], { resumeUrl: '', coverage: 'all' });
			expect(await post({ id: 't1' })).toEqual(told(202, { received: true, waiting: 1 }));
			expect(looks).toEqual(['t1']);
			others = 'done';
			expect((await post({ id: 't2' })).items).toHaveLength(1);
		});
	});

	test('a callback after n8n has said that the execution is over costs no look', async () => {
		await onMachine(async () => {
			const { post, looks, ownSleep } = sleeping();
			(await ownSleep()).end();
			expect(await post({ id: 't1' })).toEqual(
				told(200, { received: true, ignored: 'the execution was woken before' }),
			);
			expect(looks).toEqual([]);
		});
	});
});

describe('a 200 means that n8n has stored it', () => {
	test('a copy waits for the answer to the call before it, and gets 503 where there is none', async () => {
		await onMachine(async (machine) => {
			let store = () => {};
			const storing = new Promise<void>((resolve) => (store = resolve));
			const { post, files } = sleeping({ storing });
			const first = post({ id: 't1' });
			await machine.pause(1_000);
			expect(await post({ id: 't1' })).toEqual(
				told(503, { received: false, error: 'this callback is being handled already, try again' }),
			);
			expect(machine.elapsed).toBe(4_000);
			const copy = post({ id: 't1' });
			store();
			expect((await first).status).toBe(200);
			expect((await copy).body).toEqual({
				received: true,
				ignored: 'the execution was woken before',
			});
			expect(files).toHaveLength(1);
		});
	});

	test('what n8n did not take is forgotten again', async () => {
		await onMachine(async () => {
			let stores = false;
			const { post } = sleeping({ stores: () => stores });
			expect((await post({ id: 't1' })).status).toBe(500);
			stores = true;
			expect(await post({ id: 't1' })).toMatchObject({
				status: 200,
				items: [{ json: { status: 'done' } }],
			});
		});
	});
});

test('calls beyond four at once are refused, and this process looks at their tasks by itself', async () => {
	await onMachine(async (machine) => {
		let store = () => {};
		const storing = new Promise<void>((resolve) => (store = resolve));
		const full = [1, 2, 3, 4].map(() => sleeping({ storing }));
		const all = Promise.all(full.map(async ({ post }) => await post({ id: 't1' })));
		await machine.pause(1_000);
		const { post, looks, calls, warnings } = sleeping();
		let isOver = false;
		const watched = sleeping({ says: () => (isOver ? 'done' : 'doing') });
		const resumeUrl = 'https://n8n.example/webhook-waiting/7/node-1?signature=token';
		(await watched.ownSleep()).watch([watchOf('t1')], { resumeUrl, coverage: 'all' });
		const response = new WebhookResponse();
		expect(await post({ id: 't1' }, response)).toEqual(
			told(503, { received: false, error: 'too many executions are being resumed, try again' }),
		);
		expect([machine.elapsed, response.headers]).toEqual([1_000, { 'Retry-After': 5 }]);
		await post({ id: 't1' });
		expect(warnings).toEqual([
			'Media Generation: executions are woken 4 at a time; since the last line, calls refused: 1; resumptions that wait: 0',
		]);
		for (let refused = 2; refused < 20; refused += 1) await post({ id: 't1' });
		const later = new WebhookResponse();
		await post({ id: 't1' }, later);
		expect(later.headers).toEqual({ 'Retry-After': 7 });
		await machine.pause(5_000);
		expect([looks, calls.length > 0]).toEqual([['t1'], true]);
		isOver = true;
		expect((await watched.post({ id: 't1' })).status).toBe(503);
		await machine.pause(5_000);
		expect(watched.calls[0]).toMatchObject({ url: resumeUrl });
		store();
		expect((await all).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
		expect((await post({ id: 't1' })).status).toBe(200);
	});
});

test('a sender that has hung up before holds no place', async () => {
	await onMachine(async () => {
		const { post } = sleeping({ says: () => 'doing' });
		const gone = () => Object.assign(new WebhookResponse(), { destroyed: true, once: () => {} });
		await Promise.all([1, 2, 3, 4].map(async () => await post({ id: 't1' }, gone())));
		expect((await post({ id: 't1' })).status).toBe(202);
	});
});

test('notes in another format: the tasks that the items name wake it, and these go on as at the deadline', async () => {
	let isOver = false;
	const left: IDataObject[] = [
		{ status: 'doing', task_id: 't1', unfinished: true },
		{ task_id: 't2', task_ids: ['t2', 't3'], unfinished: true },
		{ task_id: 'over', status: 'done' },
	];
	const { post, looks, warnings } = sleeping({
		items: left.map((json) => ({ json })),
		says: () => (isOver ? 'done' : 'doing'),
		evaluates: ([items, , url]) => [items, '{"id":"s1","items":[]}', url],
	});
	await onMachine(async () => {
		expect((await post({ id: 'foreign' })).status).toBe(200);
		expect(await post({ id: 't1' })).toEqual(told(202, { received: true, waiting: 3 }));
		isOver = true;
		const { status, items } = await post({ id: 't3' });
		expect([status, items?.map(({ json }) => json)]).toEqual([200, left]);
	});
	expect([...new Set(looks)].sort()).toEqual(['t1', 't2', 't3']);
	expect(warnings[0]).toMatch(/whose notes this one can not read/);
});

test('a failure that the service does not state plainly counts at once where the callback has said so', async () => {
	await onMachine(async (machine) => {
		const { post, looks } = sleeping({ says: () => ({ status: 'error', success: false }) });
		expect((await post({ id: 't1', status: 'error' })).items).toMatchObject([
			{ json: { outcome: 'failed' } },
		]);
		expect([looks, machine.elapsed]).toEqual([['t1'], 0]);
	});
});

test.each(['evaluateExpression', 'getCredentials', 'getNode', 'getBodyData'] as const)(
	'it never throws, which would end the execution as failed: where %s does',
	async (broken) => {
		const { post, warnings } = sleeping({ broken });
		expect(await post({ id: 't1' })).toMatchObject({ body: { received: false }, items: undefined });
		expect(warnings).toEqual([
			expect.stringMatching(/^Media Generation: a call for a sleeping .* not be handled: broken/),
		]);
	},
);
