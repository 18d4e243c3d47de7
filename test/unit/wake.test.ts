/** The webhook that wakes a sleeping execution: when it does, what goes out, and what its caller is told. README, "Waiting". */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type {
	IDataObject,
	IHttpRequestOptions,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { wake } from '../../nodes/MediaGeneration/sleep/wake';
import type { Notes, SleepingItem } from '../../nodes/MediaGeneration/sleep/notes';
import type { Watch } from '../../nodes/MediaGeneration/wait/poll';
import { hurry as runAhead } from '../engine/hurry';
import { ASSEMBLY, FILES } from './itemSettings';
import { WebhookResponse } from './webhookResponse';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0 picture', 'latin1');

const watchOf = (taskId: string): Watch => ({
	taskId,
	kind: 'image',
	createdAt: Date.now() - 60_000,
	deadline: Date.now() + 3_600_000,
	echoes: [],
	pace: 'asleep',
});
const open = (...taskIds: string[]): SleepingItem => ({
	kind: 'open',
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
	watched?: boolean;
	onError?: string;
	resumeUrl?: unknown;
	fileStatus?: number;
}

const hurry = async <T>(act: () => Promise<T>) => await runAhead(act, 120_000);

let count = 0;

/** A sleeping execution. */
function sleeping({
	notes = [open('t1')],
	items,
	says = () => 'done',
	watched = false,
	onError,
	resumeUrl = 'https://n8n.example/webhook-waiting/7?signature=token',
	fileStatus = 200,
}: Setting = {}) {
	count += 1;
	const key = `sk_wake-${count}-0123456789`;
	const input = items ?? notes.map((_, index) => ({ json: { task_id: `asleep-${index}` } }));
	const saved: Notes = { id: `sleep-${count}`, watched, items: notes };
	const looks: string[] = [];
	const calls: IHttpRequestOptions[] = [];
	const node = {
		id: 'node-1',
		name: 'Media',
		type: 'x',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		onError,
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
			const headers = { 'content-type': 'image/png', 'content-length': String(PNG.length) };
			const body = Readable.from([PNG], { objectMode: false });
			return await Promise.resolve({ statusCode: fileStatus, headers, body });
		},
		async prepareBinaryData(stream: Readable, fileName: string, mimeType: string) {
			return { data: (await buffer(stream)).toString('base64'), fileName, mimeType };
		},
	};
	const post = async (body: unknown) => {
		const response = new WebhookResponse();
		const context = {
			getNode: () => node,
			getWorkflow: () => ({ id: 'w' }),
			getMode: () => 'trigger',
			getRequestObject: () => ({
				originalUrl: '/webhook-waiting/7/node-1?signature=token',
				headers: {},
				rawBody: undefined,
			}),
			getResponseObject: () => response,
			getBodyData: () => body,
			// One expression asks for all three.
			evaluateExpression: () => [input, saved, resumeUrl],
			getCredentials: async () =>
				await Promise.resolve({ apiKey: key, baseUrl: 'https://api.example', callbackSecret: '' }),
			logger: { debug() {}, info() {}, warn() {}, error() {} },
			helpers,
		} as unknown as IWebhookFunctions;
		const { workflowData } = await wake(context);
		return {
			status: response.statusCode,
			body: response.sent as IDataObject,
			items: workflowData?.[0],
		};
	};
	return { post, looks, calls, input };
}
const told = (status: number, body: object) => ({ status, body, items: undefined });

describe('it wakes when every task is over by the word of the service', () => {
	test('with the files, and its caller is told so', async () => {
		const { post } = sleeping();
		const { value } = await hurry(async () => await post({ id: 't1', status: 'whatever' }));
		expect(value).toMatchObject({ status: 200, body: { received: true } });
		expect(value.items).toHaveLength(1);
		expect(value.items?.[0]).toMatchObject({
			json: { task_id: 't1', status: 'done', outputs: [{ binaryProperty: 'data' }] },
			pairedItem: { item: 0 },
			binary: { data: { data: PNG.toString('base64') } },
		});
		expect(value.items?.[0]?.json).not.toHaveProperty('timed_out');
	});

	test('one item per sleeping item, in order; what was over already goes on as it lay there', async () => {
		const notes = [open('t1'), { kind: 'complete' as const }, open('t2')];
		const items = [{ json: {} }, { json: { task_id: 't0', kept: true } }, { json: {} }];
		const { post } = sleeping({ notes, items });
		const { value } = await hurry(async () => await post({ id: 't2' }));
		expect(value.items?.map(({ json }) => json.task_id)).toEqual(['t1', 't0', 't2']);
		expect(value.items?.[1]?.json).toEqual({ task_id: 't0', kept: true });
		expect(value.items?.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	test('a failed task is an item that says so', async () => {
		const says = (taskId: string) =>
			taskId === 't2' ? { status: 'error', error_message: 'No luck' } : 'done';
		const { post } = sleeping({ notes: [open('t1'), open('t2')], says });
		const { value } = await hurry(async () => await post({ id: 't1' }));
		expect(value.items?.[0]?.json.status).toBe('done');
		expect(value.items?.[1]?.json).toMatchObject({
			error: 'Task t2 failed: No luck',
			outcome: 'failed',
			task_id: 't2',
			status: 'error',
		});
	});

	test('and leaves by the branch of failures, where there is one, with its fields in details', async () => {
		const { post } = sleeping({ says: () => 'error', onError: 'continueErrorOutput' });
		const { value } = await hurry(async () => await post({ id: 't1' }));
		expect(value.items?.[0]?.json).toMatchObject({
			error: 'Task t1 failed',
			details: { outcome: 'failed', task_id: 't1', status: 'error' },
		});
	});

	test('a file that is missing: the item names the task and its addresses', async () => {
		const { post } = sleeping({ fileStatus: 404 });
		const { value } = await hurry(async () => await post({ id: 't1' }));
		expect(value.items?.[0]?.json).toMatchObject({
			outcome: 'undelivered',
			task_id: 't1',
			outputs: [{ url: 'https://files.example/t1.png' }],
		});
		expect(value.items?.[0]).not.toHaveProperty('binary');
	});
});

describe('it sleeps on', () => {
	test('while another task runs: 202, with how many are open', async () => {
		const { post } = sleeping({
			notes: [open('t1'), open('t2', 't3')],
			says: (taskId) => (taskId === 't1' ? 'done' : 'doing'),
		});
		const { value } = await hurry(async () => await post({ id: 't1', status: 'done' }));
		expect(value).toEqual(told(202, { received: true, waiting: 2 }));
	});

	test('for a task of another execution, which costs no request', async () => {
		const { post, looks } = sleeping();
		expect(await post({ id: 'foreign', status: 'done' })).toEqual(
			told(200, { received: true, ignored: 'the task does not belong to this execution' }),
		);
		expect(looks).toEqual([]);
	});

	test.each<[string, unknown]>([
		['text', 'nonsense'],
		['no task ID', {}],
	])('for what is no callback: %s', async (_name, body) => {
		const { post, looks } = sleeping();
		expect(await post(body)).toMatchObject({ status: 400, body: { received: false } });
		expect(looks).toEqual([]);
	});

	test('where this node has put nothing to sleep', async () => {
		for (const items of [[], [{ json: {} }, { json: {} }]]) {
			const { post } = sleeping({ items });
			expect(await post({ id: 't1' })).toEqual(
				told(404, { received: false, error: 'no task is waited for here' }),
			);
		}
	});
});

test('it wakes once: a later callback is told so, and nothing runs twice', async () => {
	const { post, looks } = sleeping({ notes: [open('t1'), open('t2')] });
	const { value: first } = await hurry(async () => await post({ id: 't1' }));
	expect(first.items).toHaveLength(2);
	const asked = looks.length;
	expect(await post({ id: 't2' })).toEqual(
		told(200, { received: true, ignored: 'the execution was woken before' }),
	);
	expect(looks).toHaveLength(asked);
});

test('of two callbacks at the same moment one wakes it', async () => {
	const { post } = sleeping({ notes: [open('t1'), open('t2')] });
	const { value } = await hurry(
		async () => await Promise.all([post({ id: 't1' }), post({ id: 't2' })]),
	);
	const [wakes, ...others] = [...value].sort((a, b) => Number(!a.items) - Number(!b.items));
	expect(wakes).toMatchObject({ body: { received: true }, items: [{}, {}] });
	expect(others).toEqual([
		told(200, { received: true, ignored: 'the execution was woken before' }),
	]);
});

test('a task that ran when it was looked at is looked at first, so that a callback too many costs little', async () => {
	const { post, looks } = sleeping({
		notes: [open('t1', 't2', 't3', 't4')],
		says: (taskId) => (taskId === 't4' ? 'doing' : 'done'),
	});
	await hurry(async () => await post({ id: 't1' }));
	const before = looks.length;
	await hurry(async () => await post({ id: 't1' }));
	expect(looks.slice(before)).toEqual(['t4']);
});
