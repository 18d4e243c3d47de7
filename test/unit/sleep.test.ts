/** The loop of a sleeping execution: when it polls, and when and how often it calls n8n. On a virtual clock, with a service and an n8n in a few lines. */
import { cleanerOf } from '../../nodes/MediaGeneration/n8n/clean';
import { realClock } from '../../nodes/MediaGeneration/n8n/realClock';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import type { WaitingTask } from '../../nodes/MediaGeneration/suspend/notes';
import { hurry, watchOver } from '../../nodes/MediaGeneration/suspend/watch';
import { answer, scriptedClient } from '../support/replies';
import { fakeN8n } from '../support/n8n';
import { VirtualClock } from '../support/virtualClock';

const KEY = 'sk_0123456789abcdef';
const S = 1_000;
const MIN = 60 * S;
const HOUR = 60 * MIN;
const RESUME_URL = 'https://n8n.example/webhook-waiting/7/media-generation?signature=abc';
const DONE = { status: 'done', metadata: { output_uri: 'https://files.example/a.mp3' } };

type Task = ({ ms: number } | { answers: Reply }) & { deadlineMs?: number };
type Answer = { statusCode: number; body?: unknown; headers?: object };

const n8nSays = (statusCode: number, message: string): Answer => ({
	statusCode,
	body: { code: statusCode, message },
});
const RUNNING = n8nSays(409, 'The execution "7" is running already.');
const FINISHED = n8nSays(409, 'The execution "7" has finished already.');
const WOKEN: Answer = { statusCode: 200, body: { received: true } };

let count = 0;

afterEach(() => jest.restoreAllMocks());

/** An account with tasks, and an n8n that answers the calls of its resume URLs. */
class World {
	/** Later than all before: what a process reports once a minute outlives a world. */
	readonly clock = new VirtualClock((count += 1) * 1_000 * HOUR);
	readonly start = this.clock.now();
	readonly calls: Array<{ atMs: number; url: string; body: unknown }> = [];
	/** What n8n answers: the next one, and the last one from then on. */
	answers: Answer[] = [FINISHED];
	/** What happens while n8n handles a call. */
	onCall: () => unknown = () => undefined;
	readonly id = `sleep-test-${count}`;

	constructor(readonly tasks: Record<string, Task>) {
		jest.spyOn(realClock, 'now').mockImplementation(this.clock.now);
		jest.spyOn(realClock, 'sleep').mockImplementation(this.clock.sleep);
	}

	readonly client = scriptedClient(
		({ path }) => this.poll(path.split('/').pop() ?? ''),
		this.clock.now,
	);

	private readonly n8n = fakeN8n({
		http: async ({ url, body }) => {
			this.calls.push({ atMs: this.elapsed, url, body });
			await this.onCall();
			return this.answers[Math.min(this.calls.length, this.answers.length) - 1] ?? FINISHED;
		},
	});
	readonly warnings = this.n8n.warnings;

	get elapsed(): number {
		return this.clock.now() - this.start;
	}

	get polls(): string[] {
		return this.client.requests.map(({ path }) => path.split('/').pop() ?? '');
	}

	private poll(taskId: string): Reply {
		const task = this.tasks[taskId];
		if (task === undefined) return answer(404);
		if ('answers' in task) return task.answers;
		if (this.elapsed < task.ms) return answer(200, { id: taskId, status: 'doing' });
		return answer(200, { id: taskId, ...DONE });
	}

	/** Falls asleep on all tasks. */
	asleep({
		callsBack = true,
		ended = false,
		...fields
	}: { callsBack?: boolean; ended?: boolean | string[]; id?: string; deadline?: number } = {}) {
		const { id, client, start, n8n } = this;
		const { context } = n8n;
		cleanerOf(context).knows({ apiKey: KEY, callbackSecret: '' });
		const deadline = start + 5 * HOUR;
		const tasks = Object.entries(this.tasks).map(([taskId, { deadlineMs }]): WaitingTask => ({
			...{
				taskId,
				kind: 'x',
				createdAt: start - S,
				deadline: deadlineMs === undefined ? deadline : start + deadlineMs,
				requestAddresses: [],
				named: false,
				callsBack,
			},
			...fields,
		}));
		const asleep = { id: fields.id ?? id, tasks, resumeUrl: RESUME_URL, client, context };
		if (ended === false) watchOver(asleep);
		else hurry(asleep, ended === true ? Object.keys(this.tasks) : ended);
	}
}

describe('it sleeps until all of its tasks are over', () => {
	test('n8n is called then, and told that they are', async () => {
		const world = new World({ a: { ms: MIN }, b: { ms: 10 * MIN }, c: { ms: 5 * MIN } });
		world.asleep();
		await world.clock.advance(10 * MIN - 1);
		expect(world.calls).toEqual([]);
		await world.clock.advance(5 * MIN);
		expect(world.calls).toMatchObject([{ url: RESUME_URL, body: { id: 'a', given_up: [] } }]);
		const polls = world.polls.length;
		await world.clock.advance(5 * HOUR);
		expect([world.calls.length, world.polls.length]).toEqual([1, polls]);
	});

	const doubtful = { id: 'a', success: false, status: 'error', error: `no ${KEY}` };
	test.each<[boolean, number, object]>([
		[true, 401, { error: 'no' }],
		[false, 401, { error: 'no' }],
		[false, 200, doubtful],
	])(
		'a refusal or doubtful failure counts after three polls and a minute (callbacks: %j; %d %j)',
		async (called, status, body) => {
			const world = new World({ a: { answers: answer(status, body) } });
			world.asleep({ callsBack: called });
			const outcome = status === 200 ? 'failed' : 'unreachable';
			await world.clock.advance(HOUR);
			expect(world.client.requests.length).toBeGreaterThanOrEqual(3);
			expect(world.calls[0]?.atMs).toBeGreaterThanOrEqual(MIN);
			expect(world.calls[0]?.body).toMatchObject({ given_up: [{ taskId: 'a', outcome }] });
			expect(JSON.stringify(world.calls)).not.toContain(KEY);
		},
	);

	test('a task that has not ended by its own deadline has not failed', async () => {
		const world = new World({ a: { ms: HOUR, deadlineMs: MIN }, b: { ms: 2 * MIN } });
		world.asleep();
		await world.clock.advance(HOUR / 2);
		expect(world.calls[0]?.body).toMatchObject({ given_up: [] });
	});

	test('where the node could not read a task that was done, it is polled until its end, or its refusal, is sure', async () => {
		const world = new World({ a: { ms: 0 } });
		world.answers = [{ statusCode: 503, body: { received: false } }, FINISHED];
		world.onCall = () => (world.tasks.a = { answers: answer(401, { error: 'no' }) });
		world.asleep({ ended: true });
		await world.clock.advance(HOUR);
		expect(world.calls.map(({ body }) => body)).toMatchObject([
			{ given_up: [] },
			{ given_up: [{ taskId: 'a', outcome: 'unreachable' }] },
		]);
		expect(world.calls[1]?.atMs).toBeGreaterThanOrEqual(2 * MIN);
	});

	test('a thousand tasks are polled ten at a time, and the first ones only until they end', async () => {
		const tasks = Array.from({ length: 1_000 }, (_, index) => [`t${index}`, { ms: HOUR }] as const);
		const world = new World(Object.fromEntries(tasks));
		world.asleep();
		await world.clock.advance(HOUR);
		expect(new Set(world.polls).size).toBe(10);
		await world.clock.advance(HOUR);
		expect([new Set(world.polls).size, world.calls.length]).toEqual([1_000, 1]);
	});
});

describe('how often it polls', () => {
	test.each([1, 20, 28, 60, 600, 3_600, 10_800].map((s) => s * S))(
		'rarely where a callback is expected: a lost one of a task of %d ms is noticed within 30 s or 35%% of its time',
		async (ms) => {
			const world = new World({ a: { ms } });
			world.asleep();
			await world.clock.advance(24 * HOUR);
			const seenMs = world.calls[0]?.atMs ?? Infinity;
			expect(seenMs).toBeGreaterThanOrEqual(ms);
			expect(seenMs - ms).toBeLessThanOrEqual(Math.max(30 * S, 0.35 * ms));
			expect(world.polls.length).toBeLessThanOrEqual(20);
		},
	);

	test('as in polling where nobody calls', async () => {
		const world = new World({ a: { ms: 10 * MIN } });
		world.asleep({ callsBack: false });
		await world.clock.advance(3 * S);
		expect(world.polls.length).toBeGreaterThan(1);
		await world.clock.advance(24 * HOUR);
		expect((world.calls[0]?.atMs ?? Infinity) - 10 * MIN).toBeLessThanOrEqual(MIN);
		expect(world.polls.length).toBeGreaterThan(30);
	});

	test('soon where a caller says that tasks are over, and once for each execution', async () => {
		const world = new World({ a: { ms: 0 } });
		world.asleep();
		world.asleep({});
		await world.clock.advance(S);
		expect(world.polls).toEqual([]);
		world.asleep({ ended: true });
		await world.clock.advance(2 * S);
		expect([world.polls, world.calls.length]).toEqual([['a'], 1]);
		await world.clock.advance(24 * HOUR);
		expect([world.polls, world.calls.length]).toEqual([['a'], 1]);
	});
});

test('while n8n is being called for an execution, further callers change nothing', async () => {
	const world = new World({ a: { ms: 0 } });
	world.answers = [RUNNING];
	world.asleep({ ended: true });
	await world.clock.advance(1.5 * S);
	expect(world.calls).toHaveLength(1);
	for (let callers = 0; callers < 10; callers += 1) world.asleep({ ended: true });
	await world.clock.advance(2 * S);
	expect([world.polls.length, world.calls.length]).toEqual([1, 2]);
});

test('once the node has refused a call, further callers are heeded again', async () => {
	const world = new World({ a: { ms: 0 } });
	world.answers = [{ statusCode: 202, body: { received: true, ignored: 'it sleeps' } }, FINISHED];
	world.onCall = () => (world.tasks.a = { ms: 2 * HOUR });
	world.asleep({ ended: true });
	await world.clock.advance(HOUR + 10 * S);
	world.tasks.a = { ms: 0 };
	world.asleep({ ended: true });
	await world.clock.advance(2 * S);
	expect(world.calls).toHaveLength(2);
});

test('a second caller leaves the task of the first one polled like a new one', async () => {
	const world = new World({ a: { ms: 20 * S }, b: { ms: 0 } });
	world.asleep({ ended: ['a'] });
	world.asleep({ ended: ['b'] });
	await world.clock.advance(26 * S);
	expect(world.calls).toHaveLength(1);
});

test('this process calls n8n for four executions at once, first come, first served', async () => {
	const world = new World({ a: { ms: 0 } });
	let [calling, most] = [0, 0];
	world.onCall = async () => {
		most = Math.max(most, (calling += 1));
		await world.clock.sleep(S);
		calling -= 1;
	};
	for (let number = 0; number < 12; number += 1)
		world.asleep({ id: `crowd-${number}`, ended: true });
	await world.clock.advance(HOUR);
	expect([most, world.calls.length]).toEqual([4, 12]);
});

test('a call that is not answered for long gives its turn to the next one', async () => {
	const world = new World({ a: { ms: 0 } });
	world.onCall = async () => await world.clock.sleep(HOUR);
	for (let number = 0; number < 12; number += 1)
		world.asleep({ id: `slow-${number}`, ended: true });
	await world.clock.advance(10 * S);
	expect(world.calls).toHaveLength(12);
});

describe('an execution whose tasks are over is called', () => {
	const called = async (answers: Answer[], hours: number) => {
		const world = new World({ a: { ms: 0 }, b: { ms: 0 }, c: { ms: 0 }, d: { ms: 0 } });
		world.answers = answers;
		world.asleep({ ended: true });
		await world.clock.advance(hours * HOUR);
		return { pauses: pausesOf(world), warnings: world.warnings };
	};
	const pausesOf = ({ calls }: World) =>
		calls.map(({ atMs }, index) => (atMs - (calls[index - 1]?.atMs ?? S)) / S);

	test.each<[string, Answer]>([
		['has finished', FINISHED],
		[
			'sleeps elsewhere',
			{ statusCode: 404, body: { received: false, error: 'no task is waited for here' } },
		],
		[
			'sleeps over other tasks',
			{
				statusCode: 200,
				body: { received: true, ignored: 'the task does not belong to this execution' },
			},
		],
	])('once where it %s', async (_name, answered) => {
		expect((await called([answered], 25)).pauses).toHaveLength(1);
	});

	test('again a minute after n8n has accepted it, and woken again where n8n has lost that', async () => {
		expect((await called([WOKEN, FINISHED], 2)).pauses).toEqual([0, 60]);
		expect((await called([WOKEN, WOKEN, FINISHED], 2)).pauses).toEqual([0, 60, 60]);
	});

	test.each<[string, Answer, isLogged: boolean]>([
		['says that it runs', RUNNING, false],
		['says that it wakes', n8nSays(409, 'The execution "7" is already being resumed.'), false],
		['starts, and says 200', { statusCode: 200, body: 'n8n is starting up' }, true],
	])('at growing pauses while n8n %s, until its deadline', async (_name, answered, isLogged) => {
		const { pauses, warnings } = await called([answered], 6);
		expect(warnings.length > 0).toBe(isLogged);
		expect(pauses.slice(0, 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
		expect(pauses.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(5 * 3_600);
		expect(pauses.length).toBeGreaterThan(300);
	});

	const headers = { location: '/form-waiting/7/media-generation?signature=abc' };
	test.each<[string, Answer]>([
		['does not know it', n8nSays(404, 'The execution "7" does not exist.')],
		['has another node that waits', n8nSays(404, 'does not contain a waiting webhook')],
		['sends the caller to a form', { statusCode: 307, headers }],
	])(
		'twice, a minute apart, where n8n %s: it may start, or have yet to store the sleep',
		async (_name, answered) => {
			const { pauses, warnings } = await called([answered], 25);
			expect([pauses, warnings]).toEqual([[0, 60], []]);
			const started = await called([answered, RUNNING, answered, RUNNING, FINISHED], 25);
			expect(started.pauses).toHaveLength(5);
		},
	);

	test.each<[string, Answer]>([
		['that it sleeps on', { statusCode: 202, body: { received: true, ignored: 'it sleeps' } }],
		['to come again', { statusCode: 503, body: { received: false, error: 'too many' } }],
	])('once a minute while the node says %s', async (_name, answered) => {
		const { pauses, warnings } = await called([answered], 6);
		expect(new Set(pauses.slice(1))).toEqual(new Set([60]));
		expect([pauses.length, warnings]).toEqual([5 * 60, []]);
	});

	test.each<[string, Answer, RegExp]>([
		['a proxy that wants a login', { statusCode: 401, body: { error: 'log in' } }, /HTTP 401/],
		['another server', { statusCode: 404, body: '<html>' }, /HTTP 404/],
	])('where %s answers, the log says so once a minute', async (_name, answered, words) => {
		const { warnings } = await called([answered], 1);
		expect(warnings.length).toBeGreaterThanOrEqual(55);
		expect(warnings.length).toBeLessThanOrEqual(61);
		expect(warnings[0]).toMatch(words);
		expect(warnings[0]).toContain('https://n8n.example/webhook-waiting/7/media-generation (');
		expect(warnings[0]).toContain('Its tasks have finished: a, b, c, and 1 more.');
		expect(warnings[0]).not.toContain('abc');
	});
});
