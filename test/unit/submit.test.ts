import type { Reply } from '../../nodes/MediaGeneration/service/client';
import { createTask, type SubmitDeps } from '../../nodes/MediaGeneration/create/submit';
import { answer, noAnswer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const REQUEST = {
	kind: 'sound-effect',
	path: '/v1/task/sound-effect',
	qs: { a: 1 },
	body: { text: 'rain' },
};
const CREATED = answer(200, { success: true, task_id: 't1' });

function setUp(
	replies: (count: number, clock: VirtualClock) => Reply | Promise<Reply>,
	timeoutMs = 600_000,
) {
	const clock = new VirtualClock();
	const start = clock.now();
	const client = scriptedClient((_, count) => replies(count, clock), clock.now);
	const stop = new AbortController();
	const deps: SubmitDeps = {
		client,
		now: clock.now,
		sleep: clock.sleep,
		random: () => 0.5,
		signal: stop.signal,
	};
	return {
		clock,
		start,
		client,
		stop,
		deps,
		create: async () => await createTask(deps, REQUEST, start + timeoutMs),
	};
}

test('one request, exactly as it was made, and the answer as it came', async () => {
	const { clock, start, client, create } = setUp(() => CREATED);
	expect(await clock.run(create())).toEqual({
		kind: 'created',
		created: { taskId: 't1', createdAt: start, answer: { success: true, task_id: 't1' } },
	});
	expect(client.requests).toEqual([
		{
			method: 'POST',
			path: REQUEST.path,
			qs: REQUEST.qs,
			body: REQUEST.body,
			purpose: 'create',
			timeoutMs: 120_000,
		},
	]);
});

test.each<[string, Reply]>([
	['timeout', noAnswer()],
	['500', answer(500)],
	['502', answer(502)],
	['503 in HTML', answer(503, '<html>')],
	['504', answer(504)],
	['empty 200', answer(200)],
])('%s is never sent again', async (_name, reply) => {
	const { clock, client, create } = setUp(() => reply);
	expect(await clock.run(create())).toMatchObject({
		kind: 'unclear',
		failure: { outcome: 'unknown' },
	});
	expect(client.requests).toHaveLength(1);
});

test.each<[string, Reply, number | undefined]>([
	['no answer', noAnswer(), undefined],
	['an answer without a date', answer(502), undefined],
	[
		'an answer with a date',
		answer(502, '', { date: 'Sun, 01 Mar 2020 12:00:00 GMT' }),
		Date.UTC(2020, 2, 1, 12),
	],
])('what an unclear creation is looked for with: %s', async (_name, reply, serviceDate) => {
	const { clock, start, create } = setUp(async (_, { sleep }) => {
		await sleep(2_000);
		return reply;
	});
	expect(await clock.run(create())).toMatchObject({
		kind: 'unclear',
		request: REQUEST,
		sentAt: start,
		endedAt: start + 2_000,
		serviceDate,
	});
});

test.each<[string, Reply]>([
	['refused connection', noAnswer({ kind: 'unconnected' })],
	['rate limit', answer(429, { message: 'rate limit' })],
	['active-task limit', answer(429, { code: 'active_task_limit' })],
	['server_busy', answer(503, { code: 'server_busy' })],
])('%s is sent again until it is created', async (_name, reply) => {
	const { clock, client, create } = setUp((count) => (count < 4 ? reply : CREATED));
	expect(await clock.run(create())).toMatchObject({ kind: 'created', created: { taskId: 't1' } });
	expect(client.requests).toHaveLength(4);
});

test('Retry-After is kept, and slows down everybody', async () => {
	const { clock, start, client, create } = setUp((count) =>
		count === 1 ? answer(429, { message: 'rate limit' }, { 'retry-after': '20' }) : CREATED,
	);
	const result = await clock.run(create());
	expect(result.kind === 'created' && result.created.createdAt).toBe(start + 20_000);
	expect(client.account.pausedUntil('create')).toBe(start + 20_000);
	expect(client.account.pausedUntil('look')).toBe(0);
});

test.each<[string, Reply, number]>([
	['a connection that is never made: a minute', noAnswer({ kind: 'unconnected' }), 60_000],
	['an unknown host: ten seconds', noAnswer({ kind: 'impossible' }), 10_000],
	['an ambiguous 429: a minute', answer(429), 60_000],
	['an active-task limit: until the deadline', answer(429, { code: 'active_task_limit' }), 600_000],
])('patience with %s', async (_name, reply, patience) => {
	const { clock, start, create } = setUp(() => reply);
	expect(await clock.run(create())).toMatchObject({
		kind: 'failed',
		failure: { outcome: 'rejected' },
	});
	expect(clock.now() - start).toBeLessThanOrEqual(patience);
	expect(clock.now() - start).toBeGreaterThan(patience * 0.5 - 3_000);
});

test('an account that is paused beyond the deadline gets no request', async () => {
	const { clock, start, client, create } = setUp(() => CREATED, 30_000);
	client.account.pause('create', start, 60_000);
	const result = await clock.run(create());
	expect(result).toMatchObject({ kind: 'failed', failure: { outcome: 'rejected' } });
	expect(result.kind !== 'created' && result.failure.message).toMatch(
		/a pause that is longer than the Timeout/,
	);
	expect(result.kind !== 'created' && result.failure.description).toMatch(
		/Raise the Timeout.*nothing was paid/,
	);
	expect(client.requests).toEqual([]);
});

test.each<[string, Reply]>([
	['rate limit', answer(429, { message: 'rate limit' }, { 'retry-after': '120' })],
	['active-task limit', answer(429, { code: 'active_task_limit' }, { 'retry-after': '120' })],
	['a limit without a name', answer(429, {}, { 'retry-after': '120' })],
	['server_busy', answer(503, { code: 'server_busy' }, { 'retry-after': '120' })],
	[
		'server_busy until the deadline itself',
		answer(503, { code: 'server_busy' }, { 'retry-after': '60' }),
	],
	['a rate limit until then', answer(429, { message: 'rate limit' }, { 'retry-after': '60' })],
])('a Retry-After beyond the deadline ends it at once: %s', async (_name, reply) => {
	const { clock, start, client, create } = setUp(() => reply, 60_000);
	const result = await clock.run(create());
	expect(result).toMatchObject({ kind: 'failed', failure: { outcome: 'rejected' } });
	// In the service's own words, not only that it asked for a pause.
	expect(result.kind !== 'created' && result.failure.httpStatus).toBe(
		reply.answered && reply.status,
	);
	expect(clock.now()).toBe(start);
	expect(client.requests).toHaveLength(1);
});

test.each([
	['beyond its deadline', 60_000],
	['until its deadline', 120_000],
])('who comes to a queue while the account is paused %s does not wait either', async (_, ms) => {
	const { clock, start, client, deps, create } = setUp(() =>
		answer(429, { code: 'active_task_limit' }, { 'retry-after': '120' }),
	);
	const patient = create();
	await clock.advance(1_000);
	const requests = client.requests.length;
	const late = createTask(deps, REQUEST, start + ms);
	expect(await clock.run(late)).toMatchObject({
		kind: 'failed',
		failure: { outcome: 'rejected', httpStatus: 429 },
	});
	expect(clock.now() - start).toBe(1_000);
	expect(client.requests).toHaveLength(requests);
	await clock.run(patient);
});

test.each<[string, Reply]>([
	['active-task limit', answer(429, { code: 'active_task_limit' }, { 'retry-after': '0' })],
	['server_busy', answer(503, { code: 'server_busy' }, { 'retry-after': '0' })],
	['an ambiguous 429', answer(429, {}, { 'retry-after': 'Sun, 01 Mar 2020 12:00:00 GMT' })],
])('Retry-After of nothing does not allow a tight loop: %s', async (_name, reply) => {
	const { clock, client, create } = setUp(() => reply, 10_000);
	await clock.run(create());
	expect(client.requests.length).toBeLessThanOrEqual(25);
});

test('patience for a connection counts from the first that fails, not from before the queue', async () => {
	let refusedFor = 0;
	const { clock, start, create } = setUp((_, { now }) => {
		if (now() < start + 70_000) return answer(429, { code: 'active_task_limit' });
		return (refusedFor += 1) === 1 ? noAnswer({ kind: 'unconnected' }) : CREATED;
	});
	expect(await clock.run(create())).toMatchObject({ kind: 'created' });
	expect(refusedFor).toBe(2);
});

describe('while the answer is under way', () => {
	const inTenSeconds = async (_: number, clock: VirtualClock) => {
		await clock.sleep(10_000);
		return CREATED;
	};

	test('a stopped execution ends at once as unknown, and the ID is noted when it comes', async () => {
		const { clock, start, deps, create } = setUp(inTenSeconds);
		const late: Array<[string, boolean]> = [];
		const stop = new AbortController();
		deps.stop = stop.signal;
		deps.noteLate = (...noted) => late.push(noted);
		clock.at(start + 3_000, () => stop.abort());
		const result = await clock.run(create());
		expect(result).toMatchObject({ kind: 'unclear', failure: { outcome: 'unknown' } });
		expect(clock.now() - start).toBe(3_000);
		expect(late).toEqual([]);
		await clock.advance(10_000);
		expect(late).toEqual([['t1', true]]);
	});

	test('a refusal that comes late and names a task: it is noted as one that may exist', async () => {
		const { clock, start, deps, create } = setUp(async (_, { sleep }) => {
			await sleep(10_000);
			return answer(400, { error: 'no', task_id: 't9' });
		});
		const late: Array<[string, boolean]> = [];
		const stop = new AbortController();
		deps.stop = stop.signal;
		deps.noteLate = (...noted) => late.push(noted);
		clock.at(start + 3_000, () => stop.abort());
		await clock.run(create());
		await clock.advance(10_000);
		expect(late).toEqual([['t9', false]]);
	});

	test.each([
		['refused', answer(400, { error: 'no' })],
		['unusable', answer(200, '<html>')],
	])('an answer that comes late and is %s notes nothing', async (_name, reply) => {
		const { clock, start, deps, create } = setUp(async (_, { sleep }) => {
			await sleep(10_000);
			return reply;
		});
		const late: string[] = [];
		const stop = new AbortController();
		deps.stop = stop.signal;
		deps.noteLate = (taskId) => late.push(taskId);
		clock.at(start + 3_000, () => stop.abort());
		expect(await clock.run(create())).toMatchObject({
			kind: 'unclear',
			failure: {
				message: expect.stringMatching(/stopped before .* answered.*may exist$/) as string,
				description: expect.stringMatching(/task list.*"Task: Wait" and its ID/) as string,
			},
		});
		await clock.advance(10_000);
		expect(late).toHaveLength(0);
	});

	test('a run that only ends awaits it, beyond its deadline as well', async () => {
		const { clock, start, stop, create } = setUp(inTenSeconds, 1_000);
		clock.at(start + 3_000, () => stop.abort());
		expect(await clock.run(create())).toMatchObject({ kind: 'created', created: { taskId: 't1' } });
	});
});

test('a paused account is waited for', async () => {
	const { clock, start, client, create } = setUp(() => CREATED);
	client.account.pause('create', start, 60_000);
	const result = await clock.run(create());
	// And a little longer, so that not all who waited ask in the same millisecond.
	expect(result.kind === 'created' && result.created.createdAt).toBe(start + 60_125);
});

test.each([
	[0, [375, 750, 1_500, 3_000, 6_000, 6_000]],
	[0.5, [500, 1_000, 2_000, 4_000, 8_000, 8_000]],
	[0.98, [620, 1_240, 2_480, 4_960, 9_920, 9_920]],
])('the pauses between tries grow, and not all of them alike: %d', async (random, pauses) => {
	const times: number[] = [];
	const { clock, deps, create } = setUp((count, { now }) => {
		times.push(now());
		return count > pauses.length ? CREATED : answer(503, { code: 'server_busy' });
	});
	deps.random = () => random;
	await clock.run(create());
	expect(times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)))).toEqual(
		pauses,
	);
});
