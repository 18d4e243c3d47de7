/** The operations that only read: credits, API keys, a task's state. They cost nothing, and are repeated where that can help. */
import type { IDataObject } from 'n8n-workflow';
import { MadeTasks } from '../../nodes/MediaGeneration/transport/account';
import { answers, goOn, runNode, type Answer } from './node';

const credits = { resource: 'credits', operation: 'get' };
const keys = { resource: 'apiKey', operation: 'getAll', returnAll: true };
const get = { resource: 'task', operation: 'get', taskId: 't' };

const REFUSED = 'Check the API key in the credential: it may be invalid, expired or revoked.';
const DOWN =
	'Check the Base URL in the credential and whether the service is up, then run again. Nothing was paid.';

test('credits, for each item', async () => {
	const { json, pairs, requests } = await runNode({ parameters: [credits, credits] });
	expect(json).toEqual([{ credits: 100 }, { credits: 100 }]);
	expect(pairs).toEqual([0, 1]);
	expect(requests).toEqual(['GET /v1/credits', 'GET /v1/credits']);
});

test.each<[IDataObject]>([[{ data: { credits: '5' }, credits: 5 }], [{ plan: 'x' }]])(
	'a balance is put where workflows look for it: %j',
	async (item) => {
		const { credits: _, ...body } = item;
		const { json } = await runNode({ parameters: credits, answer: answers({ body }) });
		expect(json).toStrictEqual([item]);
	},
);

test('an empty error in an answer is no error of the node, which n8n would repeat', async () => {
	const body = { success: true, error: '', credits: 5 };
	const { json } = await runNode({ parameters: credits, answer: answers({ body }) });
	expect(json).toStrictEqual([{ success: true, credits: 5 }]);
});

test('API keys: one item each', async () => {
	const body = { data: [{ key: 'sk_0123456789abcdef' }, { key: 'sk_9876543210fedcba' }] };
	const { json, pairs, requests } = await runNode({ parameters: keys, answer: answers({ body }) });
	expect(json).toEqual([{ key: 'sk_****cdef' }, { key: 'sk_****dcba' }]);
	expect(pairs).toEqual([0, 0]);
	expect(requests).toEqual(['GET /v1/api-keys']);
});

describe('Task: Get', () => {
	const files = {
		audio_url: 'https://files.example/a.mp3',
		srt_url: 'https://files.example/a.srt',
	};

	test.each<[IDataObject, unknown[]]>([
		[
			{ id: 't', status: 'done', metadata: files },
			[
				{ url: files.audio_url, kind: 'audio' },
				{ url: files.srt_url, kind: 'transcript' },
			],
		],
		[{ id: 't', status: 'doing', metadata: files }, []],
		[{ id: 't', status: 'error', error_message: 'too loud', metadata: files }, []],
	])('the state as it is: %j', async (body, outputs) => {
		const { json, output, requests, hints } = await runNode({
			parameters: get,
			answer: answers({ body }),
		});
		expect(json).toEqual([{ ...body, task_id: 't', outputs }]);
		expect(output[0]?.pairedItem).toEqual({ item: 0 });
		expect(output[0]?.binary).toBeUndefined();
		expect(requests).toEqual(['GET /v1/task/t']);
		expect(hints).toEqual([]);
	});

	test.each([
		[404, "Task t can't be found at the service: HTTP 404: no"],
		[401, "Task t can't be read: the service refused to show it (HTTP 401: no)"],
	])('a task that is not shown, HTTP %d', async (status, error) => {
		const answer = answers({ status, body: { error: 'no' } });
		const { json } = await runNode({ parameters: get, answer, node: goOn });
		expect(json).toEqual([
			{
				outcome: 'unreachable',
				task_id: 't',
				http_status: status,
				error,
				description: expect.stringMatching(/^(Check that|The API key)/) as unknown,
			},
		]);
	});

	test('a service that is busy is asked again, four times in all', async () => {
		const busy = { status: 503, body: { success: false, code: 'server_busy', message: 'full' } };
		const body = { id: 't', status: 'doing' };
		const { json, requests } = await runNode({
			parameters: get,
			answer: answers(busy, busy, busy, { body }),
		});
		expect(json).toMatchObject([body]);
		expect(requests).toHaveLength(4);
		const {
			json: [unread],
			requests: vain,
			endedMs,
		} = await runNode({ parameters: get, answer: answers(busy), node: goOn });
		// n8n's error branch would show an ID that is missing as null, in place of the input's.
		expect(unread).toMatchObject({ outcome: 'unreachable', task_id: 't', description: DOWN });
		expect(unread?.error).toMatch(/^Task t could not be read: /);
		expect(vain).toHaveLength(4);
		expect(endedMs).toBeGreaterThan(1_000);
		expect(endedMs).toBeLessThan(120_000);
	});
});

test('Image: Get Price that is refused names its own fields', async () => {
	const parameters = {
		resource: 'image',
		operation: 'getPrice',
		generationsCount: 1,
		referenceImageCount: 9,
	};
	const answer = answers({ status: 422, body: { detail: 'too many assets' } });
	const { error } = await runNode({ parameters, answer });
	expect(error?.description).toMatch(/"assets" is the field 'Number of Reference Images' of/);
});

test('Image: Get Price shows the price, and not what is left', async () => {
	const parameters = { resource: 'image', operation: 'getPrice', generationsCount: 1 };
	const body = { estimated_credits: 12, ec_remain_credits: 5_000 };
	const { json } = await runNode({ parameters, answer: answers({ body }) });
	expect(json).toMatchObject([{ credits: 12 }]);
});

test.each([
	[{ success: true, errors: [{ task_id: 'B', message: 'locked' }] }, ['a']],
	[{ success: true, failed: { b: 'locked' } }, ['a']],
	[{ success: true, data: { errors: ['a: locked', 'b'] } }, undefined],
	[{ success: true, refund_credits: 3 }, ['a', 'b']],
])('Task: Delete that the service does in part: %j', async (body, deleted) => {
	const ended = jest.spyOn(MadeTasks.prototype, 'noteEnd');
	const { json, error } = await runNode({
		parameters: { resource: 'task', operation: 'delete', taskId: 'a,b' },
		answer: ({ method }) => ({ body: method === 'POST' ? body : { status: 'doing' } }),
	});
	expect(ended.mock.calls.map(([id]) => id)).toEqual(deleted ?? []);
	ended.mockRestore();
	if (deleted === undefined)
		expect(error?.message).toMatch(/^The service deleted nothing: .*locked/);
	else expect(json).toMatchObject([{ deleted: true, task_ids: deleted }]);
	if (deleted?.length === 1)
		expect(json[0]).toMatchObject({ kept: [{ task_id: 'b', status: 'doing' }] });
});

test('Task: Delete searches no more of the reasons than n8n has time for', async () => {
	const errors = [`b: locked ${'. '.repeat(600_000)}`, 'a: locked'];
	const { json } = await runNode({
		parameters: { resource: 'task', operation: 'delete', taskId: 'a,b' },
		answer: ({ method }) => ({
			body: method === 'POST' ? { success: true, errors } : { status: 'doing' },
		}),
	});
	expect(json).toMatchObject([{ task_ids: ['a'] }]);
});

test('Image: Get Price takes no balance for the price', async () => {
	const answer = answers({ body: { success: true, price: 3, ec_remain_credits: 500 } });
	const parameters = { resource: 'image', operation: 'getPrice', generationsCount: 1 };
	const { error } = await runNode({ parameters, answer });
	expect(error?.message).toBe('/v1i/task/price could not be read: the answer has no price');
});

test('Task: Delete whose answer was lost is not sent again, and says so', async () => {
	const ended = jest.spyOn(MadeTasks.prototype, 'noteEnd');
	const { json, requests } = await runNode({
		parameters: { resource: 'task', operation: 'delete', taskId: 'a,b' },
		node: goOn,
		answer: ({ method }) =>
			method === 'POST' ? { status: 502, body: '' } : { body: { status: 'doing' } },
	});
	const error = 'The deletion of tasks could not be read: HTTP 502 without a usable answer';
	expect(json).toMatchObject([{ error, outcome: 'unreachable', http_status: 502 }]);
	expect(requests.filter((each) => each.startsWith('POST'))).toHaveLength(1);
	expect(ended).not.toHaveBeenCalled();
	ended.mockRestore();
});

test('Task: Delete where the service has no such route says so', async () => {
	const { error } = await runNode({
		parameters: { resource: 'task', operation: 'delete', taskId: 'a' },
		answer: ({ method }) =>
			method === 'POST' ? { status: 404, body: {} } : { body: { status: 'doing' } },
	});
	expect(error?.message).toBe("This service can't delete tasks, or your key may not ask for it");
	expect(error?.description).toMatch(
		/^It has no POST \/v1\S+ for this key\. Nothing was changed\./,
	);
});

describe('what can not be read', () => {
	/** The answer, how often it is asked for, the words for it, and what to do. */
	const refusals: Array<[Answer, number, string, string]> = [
		[{ status: 401, body: { error: 'expired' } }, 1, 'HTTP 401: expired', REFUSED],
		[{ status: 403, body: { error: 'no' } }, 1, 'HTTP 403: no', REFUSED],
		[{ status: 404, body: { error: 'no' } }, 1, 'HTTP 404: no', DOWN],
		[{ status: 302, body: '' }, 1, 'HTTP 302 without a usable answer', DOWN],
		[{ status: 418, body: '{}' }, 1, 'HTTP 418 without a usable answer', DOWN],
		[{ status: 429, body: { error: 'slow' } }, 4, 'HTTP 429: slow', DOWN],
		[{ status: 408, body: { error: 'slow' } }, 4, 'HTTP 408: slow', DOWN],
		[{ status: 500, body: { error: 'oops' } }, 4, 'HTTP 500: oops', DOWN],
		[{ status: 300, body: { credits: 7 } }, 1, 'HTTP 300 without a usable answer', DOWN],
		[{ status: 400, body: { success: false } }, 1, 'HTTP 400 without a usable answer', DOWN],
		[
			{ status: 200, body: '<html>' },
			4,
			'HTTP 200 with a page, from something in front of the service',
			DOWN,
		],
		[{ status: 200, body: { success: false, message: 'closed' } }, 4, 'HTTP 200: closed', DOWN],
		[{ status: 200, body: { success: false } }, 4, 'HTTP 200', DOWN],
	];
	test.each(refusals)('%j, asked %d times', async (answer, times, words, advice) => {
		const { error, requests, endedMs } = await runNode({
			parameters: credits,
			answer: answers(answer),
		});
		expect(endedMs).toBeLessThan(30_000);
		expect(error?.message).toBe(`/v1/credits could not be read: ${words}`);
		expect(error?.description).toBe(advice);
		expect(requests).toHaveLength(times);
		const { json } = await runNode({ parameters: credits, answer: answers(answer), node: goOn });
		expect(json).toEqual([
			{
				error: error?.message,
				description: error?.description,
				outcome: advice === REFUSED ? 'rejected' : 'unreachable',
				http_status: answer.status,
			},
		]);
	});

	test('a pause that the service asks for is kept, up to a minute', async () => {
		const slow = (seconds: string) => {
			return { status: 429, body: {}, headers: { 'retry-after': seconds } };
		};
		const kept = await runNode({
			parameters: credits,
			answer: answers(slow('50'), { body: { credits: 7 } }),
		});
		expect(kept.endedMs).toBeGreaterThanOrEqual(50_000);
		const long = await runNode({
			parameters: [credits, credits],
			answer: answers(slow('3600'), { body: { credits: 7 } }),
			node: goOn,
		});
		expect(long.requests).toHaveLength(1);
		expect(long.json.map(({ error }) => error)).toEqual([
			'/v1/credits could not be read: HTTP 429 without a usable answer',
			'The service could not be read: the service asked for a pause of 5 minutes',
		]);
	});

	test('a connection that is never made', async () => {
		const facts = { code: 'ECONNREFUSED', syscall: 'connect' };
		const answer = (): never => {
			throw Object.assign(new Error('connect ECONNREFUSED'), facts);
		};
		const { json, requests } = await runNode({ parameters: credits, answer, node: goOn });
		expect(json).toMatchObject([{ outcome: 'unreachable' }]);
		expect(json[0]).not.toHaveProperty('http_status');
		expect(json[0]?.error).toMatch(/^\/v1\/credits could not be read: .*connect/);
		expect(requests).toHaveLength(4);
	});

	test('an answer of an unexpected shape', async () => {
		const { error } = await runNode({
			parameters: keys,
			answer: answers({ body: { keys: 'none' } }),
		});
		expect(error?.message).toBe(
			'/v1/api-keys could not be read: the answer has an unexpected shape',
		);
		expect(error?.description).toBe(DOWN);
		const { json } = await runNode({ parameters: keys, answer: answers({ body: {} }), node: goOn });
		expect(json).toEqual([
			{ error: error?.message, description: error?.description, outcome: 'unreachable' },
		]);
		const noBalance = await runNode({ parameters: credits, answer: answers({ body: [] }) });
		expect(noBalance.error?.message).toMatch(/an unexpected shape$/);
	});
});

describe('lists that fill other nodes', () => {
	const voices = [
		{ voice_id: 'elevenlabs_a', name: 'Ann', gender: 'female', preview_url: 'https://x.example/a' },
		{ voice_id: 'elevenlabs_b', name: 'Bob', gender: 'male' },
	];
	const asked = async (parameters: object, path: string, body: unknown) =>
		await runNode({
			parameters,
			node: goOn,
			answer: ({ url }) => (url.includes(path) ? { body } : { status: 404, body: {} }),
		});

	test.each<[object, string, unknown[]]>([
		[{ returnAll: true }, '/v1/voices', voices],
		[{ limit: 1 }, '/v1/voices', voices.slice(0, 1)],
		[{ returnAll: true, filters: { search: ' male ' } }, '/v1/voices', voices.slice(1)],
		[{ returnAll: true, filters: { provider: ' kokoro ' } }, 'provider=kokoro', voices],
		[{ returnAll: true, filters: { provider: 'nobody' } }, '/v1/voices', []],
	])('Voice: Get Many with %j, as the service has it', async (fields, path, expected) => {
		const { json } = await asked(
			{ resource: 'voice', operation: 'getAll', ...fields },
			path,
			voices,
		);
		expect(json).toMatchObject(expected);
	});

	test.each([
		['image', '/v1i/models'],
		['speech', '/v1/models'],
	])('Model: Get Many: %s', async (modelType, path) => {
		const models = [{ id: 'm', name: 'M' }];
		const parameters = { resource: 'model', operation: 'getAll', modelType, returnAll: true };
		expect((await asked(parameters, path, models)).json).toEqual([{ ...models[0], model_id: 'm' }]);
		const { json } = await asked(parameters, 'nowhere', models);
		expect(json[0]?.error).toBe(`The service publishes no list of ${modelType} models`);
	});
});
