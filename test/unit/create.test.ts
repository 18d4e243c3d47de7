import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { createTask, type CreateDeps } from '../../nodes/MediaGeneration/task/create';
import { fakeN8n } from '../support/n8n';
import { answer, noAnswer, RAIN, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const REQUEST = { ...RAIN, qs: { a: 1 } };
const CREATED = answer(200, { success: true, task_id: 't1' });
const FULL = answer(429, { code: 'active_task_limit' });

/** A creation that failed, in these words. */
const failing = (outcome: string, message = /./, description = /./) => ({
	failure: {
		outcome,
		message: expect.stringMatching(message) as string,
		description: expect.stringMatching(description) as string,
	},
});
const limits = (deadline: number) => ({ deadline, boundsFull: false });

function setUp(
	replies: (count: number, clock: VirtualClock) => Reply | Promise<Reply>,
	timeoutMs = 600_000,
) {
	const clock = new VirtualClock();
	const start = clock.now();
	const client = scriptedClient((_, count) => replies(count, clock), clock.now);
	const [over, stop] = [new AbortController(), new AbortController()];
	const { context, warnings: logged } = fakeN8n();
	const deps: CreateDeps = {
		client,
		now: clock.now,
		sleep: clock.sleep,
		random: () => 0.5,
		runEnded: over.signal,
		stop: stop.signal,
		context,
		ledger: { run: { executionId: '7' } },
	};
	return {
		clock,
		start,
		client,
		over,
		stop,
		logged,
		deps,
		create: async (boundsFull = false) =>
			await createTask(deps, REQUEST, { deadline: start + timeoutMs, boundsFull }),
	};
}

test('one request, exactly as it was made, with its full time however short the Timeout, and the answer as it came', async () => {
	const { clock, start, client, logged, create } = setUp(() => CREATED, 2_000);
	expect(await clock.run(create())).toEqual({
		kind: 'created',
		taskId: 't1',
		createdAt: start,
		answer: { success: true, task_id: 't1' },
	});
	expect(logged).toEqual([]);
	const { path, qs, body } = REQUEST;
	const own = ['Rain on a roof'];
	const sent = { method: 'POST', path, qs, body, own, purpose: 'create', timeoutMs: 120_000 };
	expect(client.requests).toEqual([sent]);
});

test.each<[string, Reply]>([
	['refused connection', noAnswer({ kind: 'unconnected' })],
	['rate limit', answer(429, { message: 'rate limit' })],
	['active-task limit', answer(429, { code: 'active_task_limit' })],
	['server_busy', answer(503, { code: 'server_busy' })],
])('%s is sent again until it is created', async (_name, reply) => {
	const { clock, client, create } = setUp((count) => (count < 4 ? reply : CREATED));
	expect(await clock.run(create())).toMatchObject({ kind: 'created', taskId: 't1' });
	expect(client.requests).toHaveLength(4);
});

test.each<[string, Reply, object]>([
	['a refusal', answer(402), { kind: 'refused', failure: { outcome: 'rejected' } }],
	['no answer', noAnswer(), { kind: 'unclear', sentAt: 1_000_000 }],
	['a refusal that names a task', answer(409, { task_id: 't9' }), { kind: 'unclear' }],
])('%s is not sent again', async (_, reply, expected) => {
	const { clock, client, create } = setUp(() => reply);
	const submitted = await clock.run(create());
	expect(submitted).toMatchObject(expected);
	expect(client.requests).toHaveLength(1);
	// Another creation does not take it.
	const { taskId } = (submitted as { failure: { taskId?: string } }).failure;
	expect(client.account.made.has('t9')).toBe(taskId === 't9');
});

test.each([0, 10_000])('a run that is over after %d ms of a pause sends nothing', async (ms) => {
	const { clock, start, client, over, create } = setUp(() => CREATED);
	client.account.pause('create', start, 60_000);
	clock.at(start + ms, () => over.abort());
	await clock.advance(0);
	const stopped = failing('cancelled', /stopped before .* created/, /Nothing was created.*again/);
	expect(await clock.run(create())).toMatchObject(stopped);
	expect([clock.now() - start, client.requests]).toEqual([ms, []]);
});

test.each<[string, Reply, number]>([
	['a connection that is never made: a minute', noAnswer({ kind: 'unconnected' }), 60_000],
	['an unknown host: ten seconds', noAnswer({ kind: 'impossible' }), 10_000],
	['an ambiguous 429: a minute', answer(429), 60_000],
])('patience with %s', async (_name, reply, patience) => {
	const { clock, start, create } = setUp(() => reply);
	expect(await clock.run(create())).toMatchObject(failing('rejected'));
	expect(clock.now() - start).toBeLessThanOrEqual(patience);
	expect(clock.now() - start).toBeGreaterThan(patience * 0.5 - 3_000);
});

test('an account that is paused beyond the deadline gets no request', async () => {
	const { clock, start, client, create } = setUp(() => CREATED, 30_000);
	client.account.pause('create', start, 60_000);
	const words = /within the option 'Timeout': it asked for a pause/;
	const paused = failing('rejected', words, /Raise the option 'Timeout'.*nothing was paid/);
	expect(await clock.run(create())).toMatchObject(paused);
	expect([clock.now() - start, client.requests]).toEqual([0, []]);
});

const [beyond, upTo] = [{ 'retry-after': '120' }, { 'retry-after': '60' }];
test.each<[string, Reply]>([
	['active-task limit', answer(429, { code: 'active_task_limit' }, beyond)],
	['a limit without a name', answer(429, {}, beyond)],
	['server_busy until the deadline itself', answer(503, { code: 'server_busy' }, upTo)],
	['a rate limit until then', answer(429, { message: 'rate limit' }, upTo)],
])('a Retry-After beyond the deadline ends it at once: %s', async (_name, reply) => {
	const { clock, start, client, create } = setUp(() => reply, 60_000);
	// In the service's own words, not only that it asked for a pause.
	const { failure } = failing('rejected', /^(?!.*was full)/);
	const httpStatus = reply.answered && reply.status;
	expect(await clock.run(create(true))).toMatchObject({ failure: { ...failure, httpStatus } });
	expect(clock.now()).toBe(start);
	expect(client.requests).toHaveLength(1);
});

describe('a full account is waited for apart from the Timeout', () => {
	const after = (ms: number) =>
		setUp((_, { now }) => (now() < 1_000_000 + ms ? FULL : CREATED), 60_000);
	test.each<[string, number, boolean, object]>([
		['for most of an hour', 3_500_000, false, { kind: 'created' }],
		['as a tool, within it', 50_000, true, { kind: 'created' }],
		['as a tool, no longer', 70_000, true, failing('rejected', /full for 60 s$/)],
		['an hour at most', 4_000_000, false, failing('rejected', /full for 60 minutes$/)],
	])('%s', async (_, ms, isTool, expected) => {
		const { clock, create } = after(ms);
		expect(await clock.run(create(isTool))).toMatchObject(expected);
	});

	test('also by who waits for its turn when it turns out to be full', async () => {
		const { clock, create } = setUp(async (count, { sleep }) => {
			await sleep(1_000);
			return count <= 10 ? FULL : CREATED;
		}, 1_500);
		const all = Array.from({ length: 12 }, async () => await create());
		const kinds = (await clock.run(Promise.all(all))).map(({ kind }) => kind);
		expect(new Set(kinds)).toEqual(new Set(['created']));
	});

	test('which all say that gave up, also who never asked', async () => {
		const { clock, create } = setUp(() => FULL, 5_000);
		const ends = await clock.run(Promise.all([create(true), create(true), create(true)]));
		const full = failing('rejected', /(active_task_limit|429).*full for 5 s$/);
		for (const end of ends) expect(end).toMatchObject(full);
	});
});

test('at most ten are under way at once; who gets no turn within the Timeout is not sent', async () => {
	const { clock, start, client, deps, create } = setUp(async (_, { sleep }) => {
		await sleep(30_000);
		return CREATED;
	});
	const all = Array.from({ length: 20 }, async () => await create());
	const late = createTask(deps, REQUEST, limits(start + 2_000));
	await clock.advance(29_000);
	expect(client.requests).toHaveLength(10);
	await clock.run(Promise.all(all));
	expect(client.requests).toHaveLength(20);
	const words = /did not answer the creations before this one$/;
	expect(await late).toMatchObject(failing('rejected', words, /^Raise the option 'Timeout'/));
});

const UNCONNECTED = noAnswer({ kind: 'unconnected' });
test.each<[string, Reply, number, Reply]>([
	['a connection: not the queue before', FULL, 70_000, UNCONNECTED],
	['a limit without a name: not the queue before', FULL, 70_000, answer(429)],
])(
	'patience counts from the first of such refusals in a row, with %s',
	async (_, first, ms, then) => {
		const { clock, start, create } = setUp((_count, { now }) => {
			const age = now() - start;
			if (age > 2_000 && age < ms) return first;
			return age < ms + 30_000 ? then : CREATED;
		});
		expect(await clock.run(create())).toMatchObject({ kind: 'created' });
	},
);

const task = 'Media Generation: task';
test.each<[string, Reply, string[]]>([
	['created', CREATED, [`${task} t1 of the stopped execution 7 exists and is paid for`]],
	[
		'a refusal that names a task',
		answer(400, { error: 'no', task_id: 't9' }),
		[`${task} t9 of the stopped execution 7 may exist and be paid for`],
	],
	['refused', answer(400, { error: 'no' }), []],
	['unusable', answer(200, '<html>'), []],
])(
	'while the answer is under way, a stopped execution ends at once as unknown, and the ID is logged when it comes: %s',
	async (_name, reply, lines) => {
		const { clock, start, client, stop, logged, create } = setUp(async (_, { sleep }) => {
			await sleep(10_000);
			return reply;
		});
		clock.at(start + 3_000, () => stop.abort());
		const doubt = failing('unknown', /never came .*stopped.*may exist$/, /"Task: Wait" and its ID/);
		const unclear = { kind: 'unclear', sentAt: start, ...doubt };
		expect(await clock.run(create())).toMatchObject(unclear);
		expect(clock.now() - start).toBe(3_000);
		expect(logged).toEqual([]);
		await clock.advance(10_000);
		expect(logged).toEqual(lines);
		// It is its Retry's, which looks for it.
		expect(['t1', 't9'].filter((id) => client.account.made.has(id))).toEqual([]);
	},
);

test('the pauses between tries grow, and not all of them alike', async () => {
	const pauses = [375, 750, 1_500, 3_000, 6_000, 6_000];
	const times: number[] = [];
	const { clock, deps, create } = setUp((count, { now }) => {
		times.push(now());
		return count > pauses.length ? CREATED : answer(503, { code: 'server_busy' });
	});
	deps.random = () => 0;
	await clock.run(create());
	expect(times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)))).toEqual(
		pauses,
	);
});

test('creations that break off give their places back', async () => {
	const { clock, create } = setUp((count) => {
		if (count <= 10) throw new Error('broken');
		return CREATED;
	});
	for (let broken = 0; broken < 10; broken += 1) await expect(create()).rejects.toThrow('broken');
	expect(await clock.run(create())).toMatchObject({ kind: 'created' });
});
