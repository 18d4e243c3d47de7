import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { pollTask } from '../../nodes/MediaGeneration/transport/pollTask';
import { readPoll, type Poll } from '../../nodes/MediaGeneration/answers/poll';
import { answer, noAnswer, scriptedClient } from '../support/replies';

const NOW = 1_000_000;
const TASK = { id: 't1', status: 'doing', progress: 5 };

const busyCode = { success: false, code: 'server_busy', message: 'busy' };
const limited = { status: 'error', message: 'Too many requests' };
const denial = (fields: object) => answer(200, { success: false, ...limited, ...fields });

describe('what an answer means', () => {
	test.each<[string, Reply, Poll['kind'], string]>([
		['timeout', noAnswer({ reason: 'timeout' }), 'busy', 'timeout'],
		['refused', noAnswer({ kind: 'unconnected', reason: 'refused' }), 'busy', 'refused'],
		['503', answer(503, busyCode), 'busy', 'HTTP 503: busy'],
		['429', answer(429, { message: 'slow down' }), 'busy', 'HTTP 429: slow down'],
		['a task with status 500', answer(500, TASK), 'busy', 'HTTP 500 without a task'],
		['a task with a redirect', answer(300, TASK), 'busy', 'HTTP 300 without a task'],
		['empty 200', answer(200), 'busy', 'HTTP 200 with an empty body'],
		['HTML 200', answer(200, '<html>'), 'busy', 'HTTP 200 without a task'],
		['busy inside 200', answer(200, { success: false, message: 'busy' }), 'busy', 'HTTP 200: busy'],
		['the same with a status', denial({}), 'busy', 'HTTP 200: Too many requests'],
		['a status of the request', answer(200, limited), 'busy', 'HTTP 200: Too many requests'],
		['400', answer(400, { error: 'no' }), 'busy', 'HTTP 400: no'],
		['404', answer(404), 'missing', 'HTTP 404'],
		['404 in words', answer(404, { error: 'no such task' }), 'missing', 'HTTP 404: no such task'],
		['401', answer(401, { error: 'expired' }), 'denied', 'HTTP 401: expired'],
		['403', answer(403), 'denied', 'no reason given'],
		// From an edge that knows nothing of the key.
		['401 in HTML', answer(401, '<html>Unauthorized</html>'), 'busy', 'HTTP 401 without a task'],
	])('%s', (_name, reply, kind, ...[detail]) => {
		const status = reply.answered ? { httpStatus: reply.status } : {};
		expect(readPoll(reply, 't1')).toMatchObject({ kind, detail, ...status });
	});

	test('a pause that it asks for is kept', () => {
		const reply = answer(503, busyCode, { 'retry-after': '2' });
		expect(readPoll(reply, 't1')).toMatchObject({ retryAfterMs: 2_000 });
	});

	test('a task', () => {
		expect(readPoll(answer(200, TASK), 't1')).toMatchObject({
			kind: 'task',
			task: { id: 't1', state: 'running' },
		});
	});
});

describe('the ID in an answer', () => {
	const asked = '1234567890';
	const outputs = { audio_url: 'https://files.example/a.mp3' };
	const slowDown = { status: 'error', type: 'rate_limit_error', message: 'Slow down' };
	const task = (fields: object) => answer(200, { type: 'x', metadata: outputs, ...fields });
	const [failed, done] = [{ status: 'error', progress: 1 }, { status: 'done' }];
	const known = { id: asked, status: 'error' };
	const other = { id: 'other', status: 'error' };
	const OTHER_ID = 'HTTP 200 with another task (other): no luck';
	const NO_ID = 'HTTP 200 with the status "error" and no task ID';
	const DENIED = 'HTTP 200 with the status "error" and "success": false: Too many requests';

	test.each<[string, Reply, Poll['kind'], detail?: string]>([
		['a failed task', task({ id: asked, status: 'error' }), 'task'],
		['as a number', task({ id: 1_234_567_890, status: 'error' }), 'task'],
		['under its other name', task({ id: 'row 7', task_id: asked, status: 'error' }), 'task'],
		['wrapped', answer(200, { success: true, data: { id: asked, status: 'error' } }), 'task'],
		['beside what is wrapped', answer(200, { task_id: asked, data: failed }), 'task'],
		['a failed task without an ID', task({ status: 'error' }), 'unclear', NO_ID],
		['a failed task with another ID', task({ ...other, error: 'no luck' }), 'unclear', OTHER_ID],
		['a done task without an ID', task({ status: 'done' }), 'task'],
		['a done task with another ID', task({ id: 'other', status: 'done' }), 'unclear'],
		['a running task with another ID', task({ id: 'other', status: 'doing' }), 'busy'],
		['a done task in an answer with an ID', answer(200, { id: 'r', data: done }), 'task'],
		['no task at all', answer(200, slowDown), 'busy'],
		// It can be the request that failed.
		['a failed task beside a denial', denial({ task_id: asked }), 'unclear', DENIED],
		['a failed task in a denial', answer(200, { success: false, data: known }), 'unclear'],
		['a done task beside a denial', task({ success: false, id: asked, status: 'done' }), 'task'],
	])('%s', (_name, reply, kind, ...[detail]) => {
		const poll = readPoll(reply, asked);
		expect(poll.kind).toBe(kind);
		if (detail !== undefined) expect(poll).toMatchObject({ detail });
	});

	test('in capital letters is the same one', () => {
		expect(readPoll(task({ id: 'AB-1', status: 'error' }), 'ab-1').kind).toBe('task');
	});
});

describe('routes', () => {
	const poll = async (client: ReturnType<typeof scriptedClient>, taskId = 't1') =>
		await pollTask(client, { taskId, timeoutMs: 5_000 }, () => NOW);
	const paths = (client: ReturnType<typeof scriptedClient>) =>
		client.requests.map(({ path }) => path);

	test('v1 first; nothing else is asked when it answers', async () => {
		const client = scriptedClient(() => answer(200, TASK));
		await poll(client);
		expect(paths(client)).toEqual(['/v1/task/t1']);
		expect(client.requests[0]).toMatchObject({ method: 'GET', timeoutMs: 5_000 });
	});

	test('404 on both is missing, in the words of the first', async () => {
		const client = scriptedClient((_, count) => answer(404, { error: `route ${count}` }));
		expect(await poll(client)).toEqual({
			kind: 'missing',
			detail: 'HTTP 404: route 1',
			httpStatus: 404,
		});
	});

	test.each<[string, number, number[]]>([
		['the second route gets what the first left of the time', 3_500, [5_000, 1_500]],
		['without any time left it is not asked', 5_000, [5_000]],
	])('%s', async (_name, firstTakesMs, timeouts) => {
		let now = NOW;
		const client = scriptedClient(() => {
			now += firstTakesMs;
			return answer(404);
		});
		const at = { taskId: 't1', timeoutMs: 5_000 } as const;
		expect((await pollTask(client, at, () => now)).kind).toBe('missing');
		expect(client.requests.map(({ timeoutMs }) => timeoutMs)).toEqual(timeouts);
	});

	test('a remembered route that knows the task no more: the other one is asked', async () => {
		let known = '/v1e/';
		const client = scriptedClient(({ path }) =>
			path.startsWith(known) ? answer(200, TASK) : answer(404),
		);
		await poll(client);
		known = '/v1/';
		expect((await poll(client)).kind).toBe('task');
		await poll(client);
		expect(paths(client).slice(2)).toEqual(['/v1e/task/t1', '/v1/task/t1', '/v1/task/t1']);
	});

	test.each<[string, Reply, string]>([
		['is busy', answer(503, { code: 'server_busy' }), 'busy'],
		['does not answer', noAnswer(), 'busy'],
		['refuses', answer(403, { error: 'no' }), 'denied'],
		['has a status of its own for everything', answer(200, { status: 'ok' }), 'task'],
	])('a first route that %s is the whole answer', async (_name, reply, kind) => {
		const client = scriptedClient(() => reply);
		expect((await poll(client)).kind).toBe(kind);
		expect(paths(client)).toEqual(['/v1/task/t1']);
	});

	test.each<[string, Reply, string]>([
		['fails without naming the task', answer(200, { status: 'error', type: 'x' }), 'missing'],
		['refuses', answer(403), 'missing'],
		['is busy', answer(503), 'busy'],
	])('a second route that %s: %j', async (_name, second, kind) => {
		const client = scriptedClient((_, count) => (count === 1 ? answer(404) : second));
		expect((await poll(client)).kind).toBe(kind);
	});

	test('a bare status is not a task to remember a route for', async () => {
		const client = scriptedClient(({ path }) =>
			path.startsWith('/v1e/') ? answer(200, { status: 'ok' }) : answer(404),
		);
		expect((await poll(client)).kind).toBe('missing');
		await poll(client);
		expect(paths(client)).toEqual(['/v1/task/t1', '/v1e/task/t1', '/v1/task/t1', '/v1e/task/t1']);
	});

	test.each([
		['a/b?c', '/v1/task/a%2Fb%3Fc'],
		['\ud800', '/v1/task/%EF%BF%BD'],
	])('the ID %j is encoded', async (taskId, path) => {
		const client = scriptedClient(() => answer(200, TASK));
		await poll(client, taskId);
		expect(paths(client)).toEqual([path]);
	});
});
