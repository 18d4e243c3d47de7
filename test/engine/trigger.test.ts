/** The trigger from the call of its webhook to the item that its workflow goes on with (docs/trigger.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadOutputSchema } from 'n8n-core';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/callback/receiveUrl';
import { SIGNED_FOR_MS } from '../../nodes/MediaGeneration/callback/signature';
import type { Account } from '../../nodes/MediaGeneration/service/account';
import { parseTask } from '../../nodes/MediaGeneration/service/task';
import { verdictOf } from '../../nodes/MediaGeneration/service/verdict';
import type { FaultAction, Steering } from '../service';
import { built } from './engine';
import { expectWhole } from './files';
import { until } from './hurry';
import { engineSetting, SECRET, sound } from './setting';
import { startWebhooks, type HttpAnswer, type Published, type WebhookHost } from './webhook';

const setting = engineSetting();
let host: WebhookHost;
beforeAll(async () => {
	host = await startWebhooks();
});
afterAll(async () => await host.close());
afterEach(async () => await host.expectNoSecrets([setting.service.apiKey, SECRET]));

const RECEIVED = { status: 200, body: { received: true } };
const said = (words: RegExp | string): unknown =>
	typeof words === 'string' ? words : expect.stringMatching(words);
const refused = (status: number, error: RegExp | string): HttpAnswer => ({
	status,
	body: { received: false, error: said(error) },
});
const ignored = (reason: RegExp | string): HttpAnswer => ({
	status: 200,
	body: { received: true, ignored: said(reason) },
});
const post = async (url: string, body: unknown) => await host.post(url, body);
const done = (id: string) => ({ id, status: 'done' });

/** A published trigger. @param callbackSecret of its credential; empty: none */
function triggerOf(
	parameters: INodeParameters = {},
	callbackSecret = '',
	apiKey = setting.service.apiKey,
): Published {
	const { baseUrl } = setting.service;
	return host.publish({ parameters, credentials: { apiKey, baseUrl, callbackSecret } });
}

/** A task that is over. */
async function taskOf(steering: Steering = {}): Promise<string> {
	const taskId = await setting.service.order({ stand_in: { ms: 0, ...steering } });
	await until('the task is over', () => setting.service.task(taskId).status !== 'doing');
	return taskId;
}

/** A URL as the action node signs it with {@link SECRET}. */
function signed(url: string, reference?: string, now = Date.now()): string {
	const { apiKey, baseUrl } = setting.service;
	const credentials = { apiKey, baseUrl, callbackSecret: SECRET };
	return prepareReceiveUrl(url, credentials, { reference, now });
}

/** The only item that the only execution of a trigger gave out. */
async function itemOf(trigger: Published): Promise<INodeExecutionData> {
	const executions = trigger.executions();
	expect(executions).toHaveLength(1);
	const { output } = (await executions[0]?.settled()) ?? { output: [] };
	expect(output).toHaveLength(1);
	return output[0] as INodeExecutionData;
}

describe('a call', () => {
	describe('what goes out', () => {
		it('is the task by the word of the service, with its files', async () => {
			const trigger = triggerOf();
			const id = await taskOf();
			const forged = {
				id,
				status: 'done',
				type: 'image',
				metadata: { audio_url: 'http://x.test/' },
			};
			expect(await post(`${trigger.url}?reference=mine`, forged)).toEqual(RECEIVED);
			const item = await itemOf(trigger);
			expect(item.json).toMatchObject({
				...setting.service.payload(id),
				task_id: id,
				verified: true,
				reference: 'mine',
			});
			expect(item.json).not.toHaveProperty('download_error');
			expect(item.json).not.toHaveProperty('signed');
			expect(item.json).not.toHaveProperty('task');
			await expectWhole(item);
		});

		it('does not hold the token of a callback URL that the service echoes', async () => {
			const trigger = triggerOf({}, SECRET);
			const url = signed(trigger.url, 'kept');
			const another = signed('https://n8n.example/webhook/1/callback');
			const asleep = 'https://n8n.example/webhook-waiting/12/node?signature=0123456789abcdef';
			const presigned = 'https://files.example/a.mp3?expires=1&signature=needed';
			const id = await taskOf({
				task: {
					receive_url: url,
					note: `sent to ${another} and ${asleep}`,
					copies: [url, presigned],
				},
			});
			expect(await post(url, done(id))).toEqual(RECEIVED);
			const { json } = await itemOf(trigger);
			expect(json.reference).toBe('kept');
			const text = JSON.stringify(json);
			for (const secret of [url, another, asleep])
				expect(text).not.toContain(new URL(secret).searchParams.get('signature'));
			expect(json.receive_url).toContain(`${trigger.url}?reference=kept&signed_for=`);
			expect(json.receive_url).toMatch(/&signature=\*\*\*$/);
			expect(text).toContain(presigned);
		});
	});

	describe('who is believed', () => {
		it('refuses a URL that is not signed, whatever is posted', async () => {
			const trigger = triggerOf({}, SECRET);
			const id = await taskOf();
			expect(await post(trigger.url, done(id))).toEqual(refused(401, /is not signed/));
			expect(await post(trigger.url, '"no task"')).toEqual(refused(401, /is not signed/));
			const url = signed(trigger.url, 'r');
			const forged = url.replace('reference=r', 'reference=s');
			expect(await post(forged, done(id))).toEqual(refused(401, /signature .* is wrong/));
			const old = signed(trigger.url, 'r', Date.now() - SIGNED_FOR_MS - 1_000);
			expect(await post(old, done(id))).toEqual(refused(401, /has expired/));
			expect(setting.service.polls()).toHaveLength(0);
			expect(trigger.executions()).toHaveLength(0);
			expect(await post(url, done(id))).toEqual(RECEIVED);
			expect((await itemOf(trigger)).json.reference).toBe('r');
		});

		it('refuses a URL that was signed for another trigger, or for another n8n', async () => {
			const trigger = triggerOf({}, SECRET);
			const other = triggerOf({}, SECRET);
			const id = await taskOf();
			const { search } = new URL(signed(other.url));
			expect(await post(trigger.url + search, done(id))).toEqual(
				refused(401, /signed for another trigger/),
			);
			const elsewhere = trigger.url.replace('127.0.0.1', '10.1.2.3');
			expect(await post(trigger.url + new URL(signed(elsewhere)).search, done(id))).toEqual(
				refused(401, /signed for another host.*N8N_WEBHOOK_URL/),
			);
			expect(trigger.executions()).toHaveLength(0);
		});

		it('asks the service by default, and believes what was posted when told so', async () => {
			const asking = triggerOf();
			expect(await post(asking.url, done('made-up'))).toEqual(
				refused(404, 'the service does not know this task'),
			);
			const asked = setting.service.polls().length;
			expect(asked).toBeGreaterThan(0);
			const believing = triggerOf({ verifyWithService: false });
			expect(await post(believing.url, { ...done('made-up'), note: 'posted' })).toEqual(RECEIVED);
			expect((await itemOf(believing)).json).toMatchObject({
				note: 'posted',
				verified: false,
			});
			expect(setting.service.polls()).toHaveLength(asked);
			expect(await post(believing.url, { id: 'x' })).toEqual(
				refused(400, 'the body is not a task'),
			);
			expect(await post(believing.url, { id: 'x', status: 'doing' })).toEqual(
				ignored('the task is not finished (status "doing")'),
			);
		});

		it('downloads nothing for a callback that is neither verified nor signed', async () => {
			const id = await taskOf();
			const body = setting.service.payload(id);
			const open = triggerOf({ verifyWithService: false });
			expect(await post(open.url, body)).toEqual(RECEIVED);
			const { json, binary } = await itemOf(open);
			expect(json.download_error).toMatch(
				/neither verified nor signed.*Turn on "Verify with Service", or set a Callback Secret/,
			);
			expect(json.outputs).toHaveLength(1);
			expect(binary).toBeUndefined();
			expect(setting.service.requests.filter(({ host }) => host === 'files')).toEqual([]);

			const signedOnly = triggerOf({ verifyWithService: false }, SECRET);
			expect(await post(signed(signedOnly.url), body)).toEqual(RECEIVED);
			await expectWhole(await itemOf(signedOnly));
		});

		it.each<[string, unknown, RegExp]>([
			['no JSON', 'status=done', /not a JSON object|no task id/],
			['no id', { status: 'done' }, /no task id/],
			['a path', { id: '../credits', status: 'done' }, /malformed/],
			[
				'an oversized field',
				{ id: 't', note: 'x'.repeat(100_001) },
				/a text of more than 100000 characters/,
			],
		])('refuses %s', async (_name, body, words) => {
			const trigger = triggerOf();
			const answer = await host.post(trigger.url, body, {
				'content-type': typeof body === 'string' ? 'text/plain' : 'application/json',
			});
			expect(answer).toEqual(refused(400, words));
			expect(setting.service.polls()).toHaveLength(0);
			expect(trigger.executions()).toHaveLength(0);
		});

		it('reads JSON that is not called JSON', async () => {
			const trigger = triggerOf();
			const answer = await host.post(trigger.url, done(await taskOf()), {
				'content-type': 'application/octet-stream',
			});
			expect(answer).toEqual(RECEIVED);
			await itemOf(trigger);
		});

		it('answers 503 where the credential can not be used, and starts nothing', async () => {
			const trigger = triggerOf({}, 'short-secret');
			expect(await post(trigger.url, done(await taskOf()))).toEqual(
				refused(503, 'the callback could not be handled, try again'),
			);
			expect(trigger.executions()).toHaveLength(0);
			expect(setting.service.polls()).toHaveLength(0);
		});
	});
});

describe('one event runs the workflow once', () => {
	const DUPLICATE = ignored('this task and status was received before');

	afterEach(() => {
		host.storing = 'works';
	});

	it('runs once for copies that arrive at the same moment, and for later ones without asking the service', async () => {
		const trigger = triggerOf();
		const id = await taskOf();
		const answers = await Promise.all(
			Array.from({ length: 8 }, async () => await post(trigger.url, done(id))),
		);
		expect(answers.filter(({ body }) => 'ignored' in (body as object))).toEqual(
			Array<HttpAnswer>(7).fill(DUPLICATE),
		);
		await itemOf(trigger);
		const asked = setting.service.polls().length;
		expect(await post(trigger.url, done(id))).toEqual(DUPLICATE);
		expect(setting.service.polls()).toHaveLength(asked);
		expect(trigger.executions()).toHaveLength(1);
	});

	it('runs for every call while the editor listens, and takes none of them for a duplicate', async () => {
		const trigger = triggerOf();
		const id = await taskOf();
		for (let round = 0; round < 2; round += 1) {
			trigger.listen();
			expect(await post(trigger.testUrl, done(id))).toEqual(RECEIVED);
		}
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		expect(trigger.executions()).toHaveLength(3);
	});

	it('takes nothing from the true callback when somebody forges its reference', async () => {
		const trigger = triggerOf();
		const id = await taskOf();
		expect(await post(`${trigger.url}?reference=forged`, done(id))).toEqual(RECEIVED);
		expect(await post(`${trigger.url}?reference=true`, done(id))).toEqual(RECEIVED);
		expect(await post(`${trigger.url}?reference=true`, done(id))).toEqual(DUPLICATE);
		const references = await Promise.all(
			trigger.executions().map(async (run) => (await run.settled()).output[0]?.json.reference),
		);
		expect(references).toEqual(['forged', 'true']);
	});

	it('is saved for the time after a restart: each of forty that come at once, and what was saved before', async () => {
		const trigger = triggerOf({ verifyWithService: false, downloadOutput: false });
		const events = Array.from({ length: 42 }, (_, index) => done(`t${index}`));
		const seen = () => (trigger.staticData()['node:Trigger'] as { seen: string[] }).seen;
		const settle = async () =>
			await Promise.all(trigger.executions().map(async (run) => await run.settled()));
		for (const event of events.slice(0, 2)) {
			expect(await post(trigger.url, event)).toEqual(RECEIVED);
			await settle();
		}
		const before = seen();
		expect(before).toHaveLength(2);
		await Promise.all(events.slice(2).map(async (event) => await post(trigger.url, event)));
		await settle();
		expect(new Set(seen()).size).toBe(42);
		expect(seen().slice(0, 2)).toEqual(before);
	});

	it('counts the next try where n8n could not store the execution', async () => {
		const trigger = triggerOf();
		const id = await taskOf();
		host.storing = 'fails';
		expect((await post(trigger.url, done(id))).status).toBe(500);
		expect(trigger.staticData()).toEqual({});
		host.storing = 'works';
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		await itemOf(trigger);
	});
});

describe('whatever is posted, by anyone', () => {
	const UNKNOWN = refused(404, 'the service does not know this task');
	const UNASKED = refused(503, 'the service could not be asked about this task, try again');

	/** A key of its own for a test: what a process remembers, it remembers for an account. */
	const freshKey = () => setting.service.addKey().key;

	/** What the built node knows of an account. */
	function accountOf(apiKey: string): Account {
		const { accountOf: of } = built<{
			accountOf: (baseUrl: string, key: string) => Account;
		}>('nodes/MediaGeneration/service/account.js');
		return of(setting.service.baseUrl, apiKey);
	}

	function pollsFail(action: FaultAction) {
		return setting.service.faults.add({ route: 'poll', action });
	}

	it('spends two requests at most on an id that the service does not know', async () => {
		const trigger = triggerOf({}, '', freshKey());
		expect(await post(trigger.url, done('made-up'))).toEqual(UNKNOWN);
		expect(setting.service.polls('made-up').length).toBeLessThanOrEqual(2);
		// Both routes had their chance.
		expect(setting.service.polls('made-up').map(({ url }) => url)).toEqual([
			'/v1/task/made-up',
			'/v1e/task/made-up',
		]);
	});

	it('spends them once for copies of one id, at the same moment and shortly after', async () => {
		const trigger = triggerOf({}, '', freshKey());
		const copies = Array.from({ length: 50 }, async () => await post(trigger.url, done('made-up')));
		for (const answer of await Promise.all(copies)) expect(answer).toEqual(UNKNOWN);
		expect(await post(trigger.url, done('made-up'))).toEqual(UNKNOWN);
		expect(setting.service.polls()).toHaveLength(2);
	});

	it('pauses nobody else when its looks are throttled, and asks no more for a while', async () => {
		const apiKey = freshKey();
		const trigger = triggerOf({}, '', apiKey);
		const id = await taskOf();
		const headers = { 'retry-after': '300' };
		const fault = pollsFail({ type: 'status', status: 429, headers });
		expect(await post(trigger.url, done(id))).toEqual(UNASKED);
		expect(await post(trigger.url, done(id))).toEqual(UNASKED);
		expect(setting.service.polls()).toHaveLength(1);
		for (const purpose of ['create', 'look', 'read'] as const)
			expect(accountOf(apiKey).pausedUntil(purpose)).toBe(0);
		setting.service.faults.remove(fault);
		const { output } = await setting.run({ parameters: sound(), credentials: { apiKey } });
		expect(output[0]?.json.status).toBe('done');
	});

	it.each<[string, FaultAction]>([
		['busy', { type: 'status', status: 503, body: { success: false, code: 'server_busy' } }],
		['refusing the key', { type: 'status', status: 401, body: { success: false, error: 'no' } }],
	])('answers 503 within the time of a sender while the service is %s', async (_name, action) => {
		const trigger = triggerOf({}, '', freshKey());
		const id = await taskOf();
		const fault = pollsFail(action);
		const since = Date.now();
		expect(await post(trigger.url, done(id))).toEqual(UNASKED);
		expect(Date.now() - since).toBeLessThan(15_000);
		expect(trigger.executions()).toHaveLength(0);
		setting.service.faults.remove(fault);
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
	});
});

describe('before the first call', () => {
	const root = join(__dirname, '../..');

	function schemaFields(): string[] {
		const nodeDir = join(root, 'dist/nodes/MediaGeneration');
		const schema = loadOutputSchema({ nodeDir, version: 1.1, versionFallback: true });
		return Object.keys(schema?.properties ?? {});
	}

	function sample(): Record<string, unknown> | undefined {
		const example = JSON.parse(readFileSync(join(root, 'examples/on-completion.json'), 'utf8')) as {
			pinData: Record<string, Array<{ json: Record<string, unknown> }>>;
		};
		return Object.values(example.pinData).flat()[0]?.json;
	}

	test('the schema has what the trigger adds to a task', () => {
		expect(schemaFields()).toEqual(
			expect.arrayContaining(['task_id', 'outputs', 'verified', 'reference', 'reference_verified']),
		);
	});

	test('the sample is a finished task, and fits the schema', () => {
		const json = sample();
		const task = parseTask(json);
		expect(task === undefined ? undefined : verdictOf('sample', task).kind).toBe('done');
		expect(schemaFields()).toEqual(expect.arrayContaining(Object.keys(json ?? {})));
	});
});
