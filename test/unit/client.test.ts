/** The door to the service: what it hands to n8n's helper, and what it makes of whatever comes back. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import {
	createClient,
	webhookClient,
	type ApiRequest,
} from '../../nodes/MediaGeneration/transport/client';
import { readPoll } from '../../nodes/MediaGeneration/answers/poll';
import { onMachine } from '../support/machine';
import { fakeN8n, type Answered, type Given } from '../support/n8n';
import { noAnswer, RAIN } from '../support/replies';

const KEY = 'sk_0123456789abcdef';
const SECRET = 'a-callback-secret';

type Helper = (options: IHttpRequestOptions) => Promise<Answered>;

/** n8n's context, whose helper answers so, signed or not. */
const contextWith = (helper: Helper, credential: object = {}, more: Given = {}) =>
	fakeN8n({
		...more,
		credential: {
			...{ apiKey: KEY, baseUrl: 'https://api.example/', callbackSecret: SECRET, ...credential },
		},
		service: helper,
		http: helper,
	});

const LOOK: ApiRequest = {
	method: 'GET',
	path: '/v1/task/t1',
	purpose: 'poll',
	own: [],
	timeoutMs: 5_000,
};

/** One request, answered so. */
async function exchanged(helper: Helper, request: Partial<ApiRequest> = {}) {
	const { context, sent } = contextWith(helper);
	const client = await createClient(context);
	const reply = await client.send({ ...LOOK, ...request });
	return { client, reply, options: sent[0] };
}
const responds =
	(statusCode: number, body: unknown, headers: object = {}): Helper =>
	async () =>
		await Promise.resolve({ statusCode, headers, body });
const throws =
	(error: Error): Helper =>
	async () =>
		await Promise.reject(error);

test('a full queue that an answer only quotes from the request takes back no pause', async () => {
	const tooMany = responds(429, '{"error":"Not now: the queue"}', { 'retry-after': '20' });
	const { client } = await exchanged(tooMany, { purpose: 'create', own: ['the queue'] });
	expect(client.account.pausedUntil('create')).toBeGreaterThan(0);
});

test('a credential that is not complete makes no client, and is named in words', async () => {
	const { context, sent } = contextWith(responds(200, '{}'), { baseUrl: 'http://api.example' });
	await expect(createClient(context)).rejects.toMatchObject({
		failure: { outcome: 'invalid', message: expect.stringMatching(/uses http/) as string },
	});
	expect(sent).toEqual([]);
});

describe('a request', () => {
	test('goes to the base URL, follows no redirect and throws for no status', async () => {
		const { options } = await exchanged(responds(200, '{}'), {
			method: 'POST',
			path: '/v1/x',
			body: { text: 'a' },
			qs: { f: 'mp3' },
		});
		expect(options).toMatchObject({
			method: 'POST',
			url: 'https://api.example/v1/x',
			qs: { f: 'mp3' },
			body: { text: 'a' },
			headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
			encoding: 'stream',
			disableFollowRedirect: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		});
		expect(JSON.stringify(options)).not.toContain(KEY);
		const { options: withoutBody } = await exchanged(responds(200, '{}'));
		expect(withoutBody?.headers).toEqual({ Accept: 'application/json' });
		// Its own, also where n8n's helper takes the execution's.
		expect(withoutBody?.abortSignal).toBeInstanceOf(AbortSignal);
	});

	test('that is over listens to nothing any more: a signal can live as long as an execution', async () => {
		const { signal } = new AbortController();
		await exchanged(responds(200, '{}'), { signal });
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});
});

describe('an answer', () => {
	test('beyond its bound has no body, but its beginning and the reason', async () => {
		const huge = `{"task_id":"t1","list":[${'{},'.repeat(125_000)}{}]}`;
		const { reply } = await exchanged(responds(200, Readable.from([Buffer.from(huge)])));
		expect(reply).toMatchObject({ body: undefined, unread: 'with more than 250000 values' });
		expect(readCreation(reply, RAIN)).toMatchObject({
			kind: 'unclear',
			failure: {
				outcome: 'unknown',
				taskId: 't1',
				message: expect.stringMatching(/more than 250000 values/) as string,
			},
		});
		expect(readPoll(reply, 't1')).toMatchObject({
			kind: 'denied',
			detail: expect.stringMatching(/more than 250000 values/) as string,
		});
	});
});

test.each([
	['as it is', KEY],
	['escaped', '\\u0073k_0123456789abcdef'],
	['percent-encoded', [...KEY].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('')],
	['behind a backslash', `\\\\\\\\\\\\${KEY}`],
])(
	'the key is taken out of an answer that has it %s, and no ID is changed',
	async (_name, form) => {
		const said = `{"task_id":"a-${SECRET}","message":"of ${form}"}`;
		const { reply } = await exchanged(responds(200, said));
		expect(JSON.stringify(reply)).not.toMatch(/0123456789|303132|%30%31/);
		const message = expect.stringContaining('sk_***') as string;
		expect(reply).toMatchObject({ body: { task_id: `a-${SECRET}`, message } });
	},
);

describe('no answer', () => {
	test('whatever else is thrown counts as sent, and its reason holds no secret', async () => {
		const { reply } = await exchanged(throws(new Error(`socket hang up, ${KEY} ${SECRET}`)));
		expect(reply).toMatchObject({ answered: false, kind: 'unanswered' });
		expect(JSON.stringify(reply)).toMatch(/socket hang up/);
		expect(JSON.stringify(reply)).not.toContain(KEY);
		expect(JSON.stringify(reply)).not.toContain(SECRET);
	});

	test('where no connection was made, the reason names the address', async () => {
		const refused = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
		const { reply } = await exchanged(throws(refused));
		const reason = 'the connection was refused (https://api.example)';
		expect(reply).toEqual(noAnswer({ kind: 'unconnected', reason }));
	});

	/** What n8n's HTTP client does with a form: it fails where a part of it does. */
	const sendsForm: Helper = async ({ body }) => {
		const parts = [...(body as Iterable<[string, { stream(): AsyncIterable<Uint8Array> }]>)];
		let left = 4;
		for (const [, part] of parts)
			for await (const { length } of part.stream())
				if ((left -= length) < 0) throw new Error('More than the Content-Length');
		return { statusCode: 200, headers: {}, body: '{"task_id":"t1"}' };
	};
	const file = (chunks: string[], error?: Error) => ({
		...{ field: 'file', name: 'a.mp3', type: 'audio/mpeg', size: 4, sha256: '' },
		stream: async function* () {
			for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
			if (error !== undefined) throw error;
		},
	});

	test.each([
		[
			'is gone',
			file(['ab'], new Error(`ENOENT: no such file ${KEY}`)),
			/^a file could not be read again \(ENOENT: no such.*sk_\*\*\*\)$/,
		],
		['has become shorter', file(['ab', 'c']), /^a file could.* \(a\.mp3 has changed\)$/],
		['has become longer', file(['abc', 'de']), /^a file could.* \(a\.mp3 has changed\)$/],
	])('of a file that %s: the request was never whole', async (_name, given, reason) => {
		const { reply } = await exchanged(sendsForm, { method: 'POST', body: {}, files: [given] });
		const why = expect.stringMatching(reason) as string;
		expect(reply).toEqual(noAnswer({ kind: 'unsent', reason: why }));
	});

	describe.each([
		['hears the abort', false],
		['is deaf', true],
	])('from a helper that %s, of an answer that never ends', (_name, isDeaf) => {
		const never = async () => await new Promise<never>(() => undefined);
		const endless = async (request: Partial<ApiRequest>) => {
			const { context, sent } = contextWith(never);
			const deaf = async (_type: string, options: IHttpRequestOptions) => {
				sent.push(options);
				return await never();
			};
			if (isDeaf) context.helpers.httpRequestWithAuthentication = deaf;
			const client = await createClient(context);
			return { reply: await client.send({ ...LOOK, ...request }), options: sent[0] };
		};

		test('every request ends within its time, counts as sent, and says so', async () => {
			const exchange = async () => await endless({ timeoutMs: 30_000 });
			const { reply, options } = await onMachine(exchange);
			expect(reply).toEqual(noAnswer({ reason: 'no complete answer within 30 s' }));
			expect(options?.timeout).toBe(30_000);
		});

		test('a request that is given up ends at once', async () => {
			const stop = new AbortController();
			const exchange = endless({ signal: stop.signal, timeoutMs: 3_600_000 });
			setImmediate(() => stop.abort());
			const { reply } = await exchange;
			expect(reply).toMatchObject({ answered: false, kind: 'unanswered' });
			expect(!reply.answered && reply.reason).toMatch(/given up|canceled/);
		});
	});
});

describe('a webhook uses the credential that was read a moment ago', () => {
	const other = { callbackSecret: 'another-secret-than-before' };
	let number = 0;

	beforeEach(() => (number += 1));
	afterEach(() => jest.restoreAllMocks());

	/** A call of one webhook, with its credential as it is by then. */
	function call(credentials: object = {}, { mode = 'webhook', node = 'n', id = 'c' } = {}) {
		const used = { mediaGenerationApi: { id, name: 'x' } };
		const webhook = { workflow: `workflow ${number}`, node: { id: node, credentials: used }, mode };
		return contextWith(responds(200, '{}'), credentials, webhook).context;
	}
	const secretOf = async (context: Parameters<typeof webhookClient>[0]) =>
		(await webhookClient(context)).credentials.callbackSecret;

	test('n8n reads it again after 5 s, and not before', async () => {
		expect(await secretOf(call())).toBe(SECRET);
		expect(await secretOf(call(other))).toBe(SECRET);
		jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
		expect(await secretOf(call(other))).toBe(other.callbackSecret);
	});

	test('a reading that failed is not kept', async () => {
		const failing = Object.assign(call(), {
			getCredentials: async () => await Promise.reject(new Error('the database is away')),
		});
		await expect(secretOf(failing)).rejects.toThrow('the database is away');
		expect(await secretOf(call())).toBe(SECRET);
	});

	test.each<[string, Parameters<typeof call>[1]]>([
		['while the editor listens', { mode: 'manual' }],
		['for another node', { node: 'm' }],
		['for another credential', { id: 'd' }],
	])('but it is read again %s', async (_name, where) => {
		await secretOf(call());
		expect(await secretOf(call(other, where))).toBe(other.callbackSecret);
	});
});

test('a run reads its credential every 5 s at most; where that fails, n8n does, and says why', async () => {
	const { context, signedWith } = contextWith(responds(200, '{}'));
	const reading = jest.spyOn(context, 'getCredentials');
	const client = await createClient(context);
	await Promise.all([client.send(LOOK), client.send(LOOK)]);
	expect(reading).toHaveBeenCalledTimes(1);
	const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
	await Promise.all([client.send(LOOK), client.send(LOOK)]);
	expect(reading).toHaveBeenCalledTimes(2);
	clock.mockReturnValue(performance.now() + 5_000);
	reading.mockRejectedValue(new Error('it was deleted'));
	await client.send(LOOK);
	const signed = { type: 'mediaGenerationApi', data: { apiKey: KEY } };
	expect(signedWith).toMatchObject([signed, signed, signed, signed, undefined]);
	jest.restoreAllMocks();
});

test('its expressions are evaluated within an isolate, which n8n has released once an execution sleeps', async () => {
	const { context, signedWith } = contextWith(responds(200, '{}'));
	const reading = context.getCredentials.bind(context);
	let isolates = 0;
	const expression = {
		isolate: 'of the run',
		async withIsolate<T>(this: { isolate: string }, act: () => Promise<T>): Promise<T> {
			expect(this.isolate).toBe('of the run');
			isolates += 1;
			return await act().finally(() => (isolates -= 1));
		},
	};
	const client = await createClient(Object.assign(context, { workflow: { expression } }));
	context.getCredentials = async (...given) => {
		if (isolates === 0) throw new Error('No bridge acquired for this context');
		return await reading(...given);
	};
	jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
	await client.send(LOOK);
	jest.restoreAllMocks();
	expect(signedWith).toMatchObject([{ data: { apiKey: KEY } }]);
	expect(isolates).toBe(0);
});

describe('a credential that is changed while a run goes on', () => {
	const changedTo = async (change: object) => {
		const { context, sent, signedWith } = contextWith(responds(200, JSON.stringify({ said: NEW })));
		const client = await createClient(context);
		const before = await context.getCredentials('mediaGenerationApi');
		const after = { ...before, apiKey: NEW, ...change };
		jest.spyOn(context, 'getCredentials').mockResolvedValue(after);
		jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
		const reply = await client.send(LOOK);
		jest.restoreAllMocks();
		return { sent, signedWith, reply };
	};
	const NEW = 'sk_the_key_of_somebody_else';

	test('a new key signs what follows, and is cleaned out of what comes, as the first one is', async () => {
		const { signedWith, reply } = await changedTo({});
		expect(signedWith).toMatchObject([{ data: { apiKey: NEW } }]);
		expect(reply).toMatchObject({ body: { said: 'sk_***' } });
	});

	test('a key with another address is not sent to the first one', async () => {
		const { sent, signedWith } = await changedTo({ baseUrl: 'https://other.example' });
		expect(sent).toMatchObject([{ url: 'https://api.example/v1/task/t1' }]);
		expect(signedWith).toMatchObject([{ data: { apiKey: KEY } }]);
	});
});
