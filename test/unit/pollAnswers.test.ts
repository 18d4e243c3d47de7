/** Which routes a poll asks. What an answer means is in test/answers. */
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { pollTask } from '../../nodes/MediaGeneration/transport/pollTask';
import { answer, scriptedClient } from '../support/replies';

const NOW = 1_000_000;
const TASK = { id: 't1', status: 'doing', progress: 5 };

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
		['refuses', answer(403, { error: 'no' }), 'denied'],
		['has a status of its own for everything', answer(200, { status: 'ok' }), 'task'],
	])('a first route that %s is the whole answer', async (_name, reply, kind) => {
		const client = scriptedClient(() => reply);
		expect((await poll(client)).kind).toBe(kind);
		expect(paths(client)).toEqual(['/v1/task/t1']);
	});

	test.each<[string, Reply, string]>([
		['fails without naming the task', answer(200, { status: 'error', type: 'x' }), 'missing'],
		['has a page for every path', answer(200, '<html>Home</html>'), 'missing'],
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

	test('an ID is encoded', async () => {
		const client = scriptedClient(() => answer(200, TASK));
		await poll(client, 'ä b');
		expect(paths(client)).toEqual(['/v1/task/%C3%A4%20b']);
	});

	test.each(['a/b', 'a%2Fb', '\ud800', '..', 'x'.repeat(4_001)])(
		'an ID that is no part of a path is asked for nowhere: %s',
		async (taskId) => {
			const client = scriptedClient(() => answer(200, TASK));
			expect(await poll(client, taskId)).toMatchObject({ kind: 'denied', final: true });
			expect(client.requests).toEqual([]);
		},
	);
});
