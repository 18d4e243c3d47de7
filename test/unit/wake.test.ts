/** The webhook that wakes a sleeping execution: when it does, what goes out, and what its caller is told. README, "Waiting". */
import { Readable } from 'node:stream';
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INodeExecutionData,
	IWebhookFunctions,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { parseTask } from '../../nodes/MediaGeneration/answers/task';
import { pause } from '../../nodes/MediaGeneration/n8n/realClock';
import { noteSleep } from '../../nodes/MediaGeneration/suspend/stillAsleep';
import { wake } from '../../nodes/MediaGeneration/suspend/wake';
import {
	CONTEXT_FIELD,
	writeNotes,
	type WaitingTask,
	type WaitingItem,
} from '../../nodes/MediaGeneration/suspend/notes';
import { type Machine, onMachine } from '../support/machine';
import { FILES } from './itemSettings';
import { fakeN8n, ofCall } from '../support/n8n';
import { WebhookResponse } from '../support/webhookResponse';

/** Leaves time to give back the turns that all executions of this process share. */
const onClock = async <T>(act: (machine: Machine) => Promise<T>): Promise<T> =>
	await onMachine(async (machine) => {
		const value = await act(machine);
		await machine.pause(3_000);
		return value;
	});

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0 picture', 'latin1');

const taskOf = (taskId: string): WaitingTask => ({
	taskId,
	createdAt: Date.now() - 60_000,
	deadline: Date.now() + 1e13,
	requestAddresses: [],
	named: false,
	callsBack: true,
});
const open = (...taskIds: string[]): WaitingItem => ({
	tasks: taskIds.map(taskOf),
	files: FILES,
	carriesInput: false,
});

/** What the service says of a task: its status, an HTTP status, a whole answer, or a whole task. */
type Said = string | number | { statusCode: number; headers: object } | object;

interface Setting {
	notes?: Array<WaitingItem | null>;
	items?: INodeExecutionData[];
	says?: (taskId: string, count: number) => Said;
	baseUrl?: string;
	/** How long the host of files takes to answer. */
	fileMs?: number;
	/** Wakes it. */
	token?: string;
	/** What n8n keeps for its node, instead of its notes. */
	kept?: Record<string, unknown>;
	own?: object;
	/** Until n8n has stored what it is handed, and whether it can. */
	storing?: Promise<void>;
	stores?: () => boolean;
	/** What n8n answers about the execution right before it is handed over. */
	now?: () => object;
	/** What throws. */
	broken?: 'evaluateExpression' | 'getCredentials' | 'getNode' | 'getBodyData';
}

const RESUME_URL = 'https://n8n.example/webhook-waiting/7';
let count = 0;

/** A sleeping execution. */
function sleeping({
	notes = [open('t1')],
	items,
	says = () => 'done',
	baseUrl = 'https://api.example',
	fileMs = 0,
	token = 'token',
	storing,
	stores = () => true,
	now = () => ({ statusCode: 202, body: { received: true, ignored: 'it still sleeps' } }),
	broken,
	own,
	...given
}: Setting = {}) {
	count += 1;
	const key = `sk_wake-${count}-0123456789`;
	const input = items ?? notes.map((_, index) => ({ json: { task_id: `asleep-${index}` } }));
	const id = `sleep-${count}`;
	const kept = given.kept ?? { [CONTEXT_FIELD]: writeNotes({ id, items: notes }) };
	const looks: string[] = [];
	const files: string[] = [];
	const calls: IHttpRequestOptions[] = [];
	const { context, warnings } = fakeN8n<IWebhookFunctions>({
		credential: { apiKey: key, baseUrl },
		service({ url }) {
			const taskId = url.slice(url.lastIndexOf('/') + 1);
			looks.push(taskId);
			const said = says(taskId, looks.filter((id) => id === taskId).length);
			if (typeof said === 'number') return { statusCode: said };
			if (typeof said === 'object' && 'statusCode' in said) return said;
			const metadata = { output_url: `https://files.example/${taskId}.png` };
			const fields = typeof said === 'string' ? { status: said } : said;
			return { body: { id: taskId, type: 'image', metadata, ...fields } };
		},
		async http(options) {
			if (options.method === 'POST') {
				if ((options.body as IDataObject).asks === true) return now();
				calls.push(options);
				return {
					statusCode: 409,
					body: { code: 0, message: 'The execution "7" has finished already.' },
				};
			}
			files.push(options.url);
			await pause(fileMs);
			const headers = { 'content-type': 'image/png', 'content-length': String(PNG.length) };
			const body = Readable.from([PNG], { objectMode: false });
			return { statusCode: options.url.includes('gone') ? 404 : 200, headers, body };
		},
		workflow: `workflow of ${key}`,
		input,
		kept,
		own,
		resumeUrl: `${RESUME_URL}?signature=${token}`,
	});
	const breaks = () => {
		throw new Error(`broken by ${key}`);
	};
	const post = async (body: unknown, response = new WebhookResponse()) => {
		const url = '/webhook-waiting/7/media-generation';
		const called = { ...context, ...ofCall({ body, response, url }) };
		if (broken !== undefined) called[broken] = breaks;
		const { workflowData, noWebhookResponse, ...rest } = await wake(called);
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
	return { post, looks, files, calls, warnings, own: { id: 't1', sleep_id: id } };
}
const told = (status: number, body: object) => ({ status, body, items: undefined });

const RUNS = told(202, { received: true, ignored: 'its tasks have not all finished' });
const UNREAD = told(503, { received: false, error: 'the service could not be asked, try again' });
const BUSY = { received: false, error: 'the execution is being resumed, try again' };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('it sleeps on', () => {
	test.each<[string, Said, object]>([
		['runs', 'doing', RUNS],
		['is done, and has no file yet', { status: 'done', metadata: {} }, RUNS],
		['can not be asked about', 503, UNREAD],
		['is refused, which proves nothing yet', 401, UNREAD],
		['is not known, which proves nothing yet', 404, UNREAD],
		['failed, if not the request alone', { status: 'error', success: false }, UNREAD],
	])('while a task %s, whichever it is', async (_name, said, answer) => {
		for (const which of ['t1', 't3']) {
			const { post, looks } = sleeping({
				notes: [open('t1'), open('t2', 't3')],
				says: (taskId) => (taskId === which ? said : 'done'),
			});
			const value = await onClock(async () => await post({ id: 't1', status: 'done' }));
			expect(value).toEqual(answer);
			expect(looks).toContain(which);
		}
	});

	test('and asks about no more tasks than one that runs', async () => {
		const { post, looks } = sleeping({
			notes: [open('t1'), open('t2', 't3')],
			says: () => 'doing',
		});
		const response = new WebhookResponse();
		let seen: string[] = [];
		response.once('close', () => (seen = [...looks]));
		await onClock(async () => await post({ id: 't2' }, response));
		expect(seen).toEqual(['t2']);
	});

	test('for a task of another execution, which costs no request', async () => {
		const { post, looks } = sleeping();
		expect(await post({ id: 'another', status: 'done' })).toEqual(
			told(200, { received: true, ignored: 'the task does not belong to this execution' }),
		);
		expect(looks).toEqual([]);
	});

	test.each<[string, Setting]>([
		['no items', { items: [] }],
		['other items', { items: [{ json: {} }, { json: {} }] }],
		['no notes', { kept: {} }],
		['nothing that n8n could evaluate', { own: { evaluateExpression: () => undefined } }],
	])('where this node has put nothing to sleep: %s', async (_name, setting) => {
		const { post } = sleeping(setting);
		expect(await post({ id: 't1' })).toEqual(
			told(404, { received: false, error: 'no task is waited for here' }),
		);
	});
});

describe('what a call leaves open this process follows up', () => {
	const until = async (ms: number, body: object, waitMs = 30 * MINUTE) =>
		await onClock(async (machine) => {
			const { post, calls } = sleeping({
				notes: [open('t1', 't2')],
				says: (id) => (id === 't1' && machine.elapsed < ms ? 'doing' : 'done'),
			});
			await post(body);
			await machine.pause(waitMs);
			return { calls };
		});

	test.each([300, 20_000])(
		'the service confirms a callback %d ms late: it is polled like a new task',
		async (lagMs) => {
			const { calls } = await until(lagMs, { id: 't1', status: 'done' }, lagMs * 1.2 + 2_000);
			expect(calls[0]).toMatchObject({
				url: `${RESUME_URL}/media-generation?signature=token`,
				body: { given_up: [] },
			});
		},
	);

	test('another call came meanwhile, about a task that had been found running', async () => {
		const { post, calls } = sleeping({
			notes: [open('t1', 't2')],
			says: (id, nth) => (id === 't2' && nth < 3 ? 'doing' : 'done'),
		});
		await onClock(async (machine) => {
			const answers = await Promise.all([post({ id: 't1' }), post({ id: 't2' })]);
			expect(answers.map(({ status }) => status)).toEqual([202, 503]);
			await machine.pause(3_000);
			expect(calls).toHaveLength(1);
		});
	});

	test('another task ends, and no callback comes for it', async () => {
		const { calls } = await until(5 * MINUTE, { id: 't2', status: 'done' });
		expect(calls).toHaveLength(1);
	});
});

describe('it wakes', () => {
	test('again where n8n has accepted it, and lost it: nobody hears that it was woken before', async () => {
		const { post } = sleeping();
		await onClock(async (machine) => {
			for (let calls = 0; calls < 2; calls += 1) {
				expect(await post({ id: 't1' })).toMatchObject({
					status: 200,
					body: { received: true },
					items: [{ json: { status: 'done' } }],
				});
				await machine.pause(30_000);
			}
		});
	});

	test('once for copies of a call: another node may sleep by then', async () => {
		const { post } = sleeping();
		await onClock(async (machine) => {
			expect((await post({ id: 't1' })).status).toBe(200);
			for (const waitMs of [0, 29_000]) {
				await machine.pause(waitMs);
				expect(await post({ id: 't1' })).toEqual(told(503, BUSY));
			}
		});
	});

	test('not with what is ready after its deadline: n8n has woken it, and another node may sleep by then', async () => {
		await onClock(async () => {
			const slow = open('t1');
			slow.tasks = slow.tasks.map((task) => ({ ...task, deadline: Date.now() + 5_000 }));
			const since = Date.now();
			const { post } = sleeping({ notes: [slow], fileMs: HOUR });
			expect(await post({ id: 't1' })).toEqual(
				told(200, { received: true, ignored: 'its deadline has passed' }),
			);
			// The download ends with it.
			expect(Date.now() - since).toBeLessThan(6_000);
		});
	});

	const says = (statusCode: number, body: unknown) => ({ statusCode, body });
	const n8nSays = (code: number, message: string) => says(code, { code, message });
	test.each<[string, object, number]>([
		['runs', n8nSays(409, 'The execution "7" is running already.'), 503],
		['has finished', n8nSays(409, 'The execution "7 has finished already.'), 503],
		['is unknown', n8nSays(404, 'The execution "7" does not exist.'), 503],
		['sleeps elsewhere', says(404, { received: false, error: 'no task is waited for here' }), 503],
		['answers nothing that n8n would', says(200, '<html>'), 200],
		['is refused by a gateway', n8nSays(403, 'Forbidden'), 200],
	])(
		'only what n8n, asked right before, does not have otherwise by now: it %s',
		async (_name, answer, status) => {
			const { post, looks } = sleeping({ now: () => answer });
			const value = await onClock(async () => await post({ id: 't1' }));
			expect(looks).toEqual(expect.arrayContaining(['t1']));
			expect(value).toMatchObject(status === 503 ? told(503, BUSY) : { status });
		},
	);

	test.each<[WorkflowExecuteMode, number]>([
		['webhook', 0],
		['trigger', 0],
		['retry', 0],
		['manual', 1],
		['integrated', 1],
	])(
		'without asking n8n where this process put a "%s" execution to sleep, once: %d',
		async (mode, asked) => {
			const state = jest.fn(() => n8nSays(409, 'The execution "7" is running already.'));
			const { post, own } = sleeping({ now: state });
			await onClock(async (machine) => {
				machine.moveWall(3_600_000);
				noteSleep(own.sleep_id, fakeN8n<IExecuteFunctions>({ mode }).context);
				expect((await post({ id: 't1' })).status).toBe(asked === 1 ? 503 : 200);
				expect(state).toHaveBeenCalledTimes(asked);
				// An earlier call can come late, and find the execution as it was.
				await machine.pause(MINUTE);
				expect((await post({ id: 't1' })).status).toBe(503);
				expect(state).toHaveBeenCalledTimes(asked + 1);
			});
		},
	);

	test('asking n8n once more if the clock by which it wakes executions was set, as that may have woken this one', async () => {
		const { post, own } = sleeping({
			now: () => n8nSays(404, 'The execution "7" does not exist.'),
		});
		await onClock(async (machine) => {
			noteSleep(own.sleep_id, fakeN8n<IExecuteFunctions>({ mode: 'trigger' }).context);
			machine.moveWall(3_600_000);
			expect(await post({ id: 't1' })).toMatchObject(told(503, BUSY));
		});
	});

	test('and a sleep says whether it is the one that is asked for, which costs the service nothing', async () => {
		const { post, looks, own } = sleeping();
		const asked = { ...own, asks: true };
		expect((await post(asked)).status).toBe(202);
		expect((await post({ ...asked, sleep_id: 'one before' })).status).toBe(404);
		expect(looks).toEqual([]);
	});

	test.each<[string, (response: WebhookResponse) => unknown, number]>([
		['its sender hangs up before n8n has stored it', (response) => response.destroy(), 0],
		['n8n could not store it', (response) => response.status(500).json({}), 1],
	])('by a call of this process where %s', async (_name, end, early) => {
		await onClock(async (machine) => {
			const { post, calls } = sleeping({ storing: new Promise(() => {}) });
			const response = new WebhookResponse();
			void post({ id: 't1' }, response);
			await machine.pause(1_000);
			end(response);
			await machine.pause(1_500);
			expect(calls).toHaveLength(early);
			await machine.pause(MINUTE);
			expect(calls).toHaveLength(1);
		});
	});

	test.each([{ id: 'T1' }, { id: 'event 7', task_id: 't1', status: 'done' }])(
		'by a task however its ID is given: %j',
		async (body) => {
			const woken = await sleeping().post(body);
			expect(woken.items).toMatchObject([{ json: { task_id: 't1' } }]);
		},
	);

	test('at once for the next call where n8n could not store it', async () => {
		let stored = 0;
		const { post } = sleeping({ stores: () => (stored += 1) > 1 });
		await onClock(async () => {
			expect((await post({ id: 't1' })).status).toBe(500);
			expect((await post({ id: 't1' })).status).toBe(200);
		});
	});

	test('with a task that was done before the sleep, and that the service has forgotten', async () => {
		const task = {
			id: 't1',
			status: 'done',
			metadata: { output_url: 'https://files.example/1.png' },
		};
		const [item] = [open('t1', 't2')];
		const known = parseTask(task);
		item.tasks = item.tasks.map((each) => (each.taskId === 't1' ? { ...each, known } : each));
		const { post, files } = sleeping({ notes: [item], says: (id) => (id === 't1' ? 404 : 'done') });
		const value = await onClock(async () => await post({ id: 't2' }));
		expect(value.status).toBe(200);
		expect(files).toContain('https://files.example/1.png');
	});

	const late = { deadline: 0 };
	test('with an item whose own deadline has passed as it was, once the others are over', async () => {
		const [slow, quick] = [open('t1'), open('t2')];
		slow.tasks = slow.tasks.map((task) => ({ ...task, ...late }));
		const items = [{ json: { task_id: 't1', unfinished: true } }, { json: { task_id: 't2' } }];
		const says = (id: string) => (id === 't1' ? 'doing' : 'done');
		const { post } = sleeping({ notes: [slow, quick], items, says });
		const value = await onClock(async () => await post({ id: 't2' }));
		expect(value.items).toMatchObject([{ json: items[0]?.json }, { json: { status: 'done' } }]);
	});

	const givenUp = { taskId: 't1', outcome: 'unreachable', message: 'no', description: 'why' };
	test.each<[string, Said, object]>([
		['refused', 401, { outcome: 'unreachable', task_id: 't1', http_status: 401 }],
		['not known', 404, { outcome: 'unreachable', task_id: 't1', http_status: 404 }],
		['done without a file', { status: 'done', metadata: {} }, { outcome: 'undelivered' }],
		['failed, if not the request', { status: 'error', success: false }, { outcome: 'failed' }],
	])(
		'with a task that is %s, once a loop has seen that for long enough',
		async (_name, said, json) => {
			const { post, own } = sleeping({ says: () => said });
			await onClock(async () => {
				expect((await post({ id: 't1', status: 'done' })).items).toBeUndefined();
				expect((await post({ ...own, given_up: [] })).items).toBeUndefined();
				// The URL, which others know, does not prove that the loop calls.
				for (const sleep_id of [undefined, 't1', null, [own.sleep_id]])
					expect(
						(await post({ ...own, sleep_id, given_up: [{ ...givenUp, httpStatus: said }] })).items,
					).toBeUndefined();
				expect(
					(await post({ ...own, given_up: [{ ...givenUp, httpStatus: said }] })).items,
				).toMatchObject([{ json }]);
			});
		},
	);

	test.each([404, 401])(
		'as failed where a loop has seen it fail, though the service no longer shows it (%d)',
		async (said) => {
			const { post, own } = sleeping({ says: () => said });
			const given_up = [{ ...givenUp, outcome: 'failed', message: 'no voice' }];
			const { items } = await onClock(async () => await post({ ...own, given_up }));
			expect(items).toMatchObject([
				{ json: { outcome: 'failed', task_id: 't1', error: 'no voice' } },
			]);
		},
	);

	test('as failed at once where a callback says so, though the service does not state it plainly', async () => {
		const { post, looks } = sleeping({
			notes: [open('t1', 't2')],
			says: (id) => (id === 't1' ? { status: 'error', success: false } : 'error'),
		});
		const call = async () => await post({ id: 't1', status: 'error' });
		expect((await onClock(call)).items).toMatchObject([{ json: { outcome: 'failed' } }]);
		expect(looks).toEqual(['t1', 't2']);
	});

	test('with the files that could be fetched, where another is gone', async () => {
		const images = ['a', 'gone'].map((name) => `https://files.example/${name}.png`);
		const { post } = sleeping({ says: () => ({ status: 'done', metadata: { images } }) });
		const { items } = await onClock(async () => await post({ id: 't1' }));
		expect(items).toMatchObject([{ json: { outcome: 'undelivered', task_id: 't1' } }]);
		expect(Object.keys(items?.[0]?.binary ?? {})).toEqual(['data']);
	});

	test('with a file that takes long, whose sender is told after 8 s that n8n has nothing yet, as is every copy', async () => {
		await onClock(async (machine) => {
			const { post, calls } = sleeping({ notes: [open('t1'), open('t2')], fileMs: 12_000 });
			const response = new WebhookResponse();
			const answered = new Promise((resolve) =>
				response.once('close', () => resolve(machine.elapsed)),
			);
			const woken = post({ id: 't1' }, response);
			expect(await answered).toBe(8_000);
			expect(await post({ id: 't1' })).toEqual(told(503, BUSY));
			const { items, ...rest } = await woken;
			expect([rest, response.headers]).toEqual([
				{ status: 503, body: BUSY },
				{ 'Retry-After': 60 },
			]);
			expect(items?.[0]?.binary?.data).toBeDefined();
			expect(machine.elapsed).toBe(12_000);
			// Nobody says whether n8n has taken the items: this process calls again.
			const before = calls.length;
			expect((await post({ id: 't1' })).status).toBe(503);
			await machine.pause(MINUTE);
			expect(calls.length).toBeGreaterThan(before);
		});
	});
});

test('what goes out does not hold the token that wakes the execution, nor the key', async () => {
	const token = 'f'.repeat(64);
	const receiveUrl = `${RESUME_URL}/media-generation?signature=${token}`;
	const items = [{ json: { url: receiveUrl } }, { json: {} }];
	const { post } = sleeping({
		notes: [null, open('t1')],
		items,
		token,
		says: () => ({ status: 'done', receive_url: receiveUrl, note: `by ${token}` }),
	});
	const value = await onClock(async () => await post({ id: 't1' }));
	expect(value.items?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	expect(JSON.stringify(value.items?.map(({ json }) => json))).not.toContain(token);
});

describe('n8n is handed four executions at once', () => {
	/** Without a file, whose stream takes turns that this machine does not count. */
	const failed = { says: () => ({ status: 'error' }) };

	test('and further ones in their order, once it has stored one, whose callers hear after 8 s to come again', async () => {
		await onClock(async (machine) => {
			const stores: Array<() => void> = [];
			const all = Array.from({ length: 4 }, async () => {
				const storing = new Promise<void>((resolve) => stores.push(resolve));
				return await sleeping({ ...failed, storing }).post({ id: 't1' });
			});
			await machine.pause(1_000);
			const response = new WebhookResponse();
			const { post, looks, calls } = sleeping(failed);
			const waits = post({ id: 't1' }, response);
			await machine.pause(9_000);
			// Nothing is asked for twice.
			expect([response.statusCode, looks, calls]).toEqual([503, ['t1'], []]);
			for (const store of stores) store();
			expect((await waits).items).toMatchObject([{ json: { outcome: 'failed' } }]);
			expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array(4).fill(200));
		});
	});

	test('a sender that has hung up takes the place of nobody for longer than 2 s', async () => {
		await onClock(async (machine) => {
			const gone = () => Object.assign(new WebhookResponse(), { destroyed: true, once: () => {} });
			for (let count = 0; count < 4; count += 1) await sleeping(failed).post({ id: 't1' }, gone());
			const since = machine.elapsed;
			expect((await sleeping(failed).post({ id: 't1' })).status).toBe(200);
			expect(machine.elapsed - since).toBeLessThanOrEqual(2_000);
		});
	});

	const busy = { statusCode: 503, headers: { 'retry-after': '55' } };
	test.each<[string, Setting]>([
		['whose host keeps them waiting for a file', { fileMs: MINUTE }],
		['whose service asks for a pause', { says: (_, nth) => (nth > 1 ? 'done' : busy) }],
	])('which does not count those %s', async (_name, setting) => {
		await onClock(async (machine) => {
			const slow = Array.from({ length: 8 }, async () => sleeping(setting).post({ id: 't1' }));
			await machine.pause(1_000);
			const since = machine.elapsed;
			expect((await sleeping().post({ id: 't1' })).status).toBe(200);
			expect(machine.elapsed - since).toBeLessThan(100);
			// They wake as well.
			for (const { items } of await Promise.all(slow))
				expect(items).toMatchObject([{ json: { status: 'done' } }]);
			await machine.pause(MINUTE);
		});
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
