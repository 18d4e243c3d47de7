/** What this n8n knows of a sleeping execution, and when it wakes it: on a virtual clock, with a service and an n8n in a few lines. */
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { realClock } from '../../nodes/MediaGeneration/n8n/clock';
import type { Reply } from '../../nodes/MediaGeneration/transport/client';
import { verdictNow } from '../../nodes/MediaGeneration/transport/verdict';
import { resumptions } from '../../nodes/MediaGeneration/suspend/resumptions';
import { sleepOf, type Over, type Sleep } from '../../nodes/MediaGeneration/suspend/watch';
import type { Watch } from '../../nodes/MediaGeneration/task/poll';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const S = 1_000;
const MIN = 60 * S;
const HOUR = 60 * MIN;
const RESUME_URL = 'https://n8n.example/webhook-waiting/7/node?signature=abc';
const DONE = { status: 'done', metadata: { output_uri: 'https://files.example/a.mp3' } };

type Task = { ms: number; end?: 'done' | 'error' } | { answers: Reply };
type Answer = { statusCode: number; body?: unknown };

const RUNNING: Answer = {
	statusCode: 409,
	body: { message: 'The execution "7" is running already.' },
};
const FINISHED: Answer = {
	statusCode: 409,
	body: { message: 'The execution "7" has finished already.' },
};

let count = 0;

afterEach(() => jest.restoreAllMocks());

/** An account with tasks, and an n8n that answers the calls of its resume URLs with a status. */
class World {
	readonly clock = new VirtualClock();
	readonly start = this.clock.now();
	readonly calls: Array<{ atMs: number; url: string; taskId: unknown }> = [];
	/** What n8n answers: the next one, and the last one from then on. */
	answers: Answer[] = [{ statusCode: 200 }];
	/** How long an answer of the service takes. */
	lookMs = 0;
	looking = 0;
	mostLooking = 0;
	/** What happens while n8n handles a call. */
	onCall: () => unknown = () => undefined;
	readonly client = scriptedClient(async ({ path }) => {
		this.mostLooking = Math.max(this.mostLooking, (this.looking += 1));
		if (this.lookMs > 0) await this.clock.sleep(this.lookMs);
		this.looking -= 1;
		return this.look(path.split('/').pop() ?? '');
	}, this.clock.now);
	private readonly context = {
		helpers: {
			httpRequest: async ({ url, body }: IHttpRequestOptions) => {
				const taskId = (body as { id?: unknown }).id;
				this.calls.push({ atMs: this.elapsed, url, taskId });
				await this.onCall();
				const next = this.answers[Math.min(this.calls.length, this.answers.length) - 1];
				return await Promise.resolve({ headers: {}, ...next });
			},
		},
	} as unknown as IExecuteFunctions;

	constructor(readonly tasks: Record<string, Task>) {
		jest.spyOn(realClock, 'now').mockImplementation(this.clock.now);
		jest.spyOn(realClock, 'sleep').mockImplementation(this.clock.sleep);
	}

	get elapsed(): number {
		return this.clock.now() - this.start;
	}

	get looks(): string[] {
		return this.client.requests.map(({ path }) => path.split('/').pop() ?? '');
	}

	private look(taskId: string): Reply {
		const task = this.tasks[taskId];
		if (task === undefined) return answer(404);
		if ('answers' in task) return task.answers;
		if (this.elapsed < task.ms) return answer(200, { id: taskId, status: 'doing' });
		return answer(
			200,
			task.end === 'error' ? { id: taskId, status: 'error' } : { id: taskId, ...DONE },
		);
	}

	watchOf(taskId: string): Watch {
		const deadline = this.start + 24 * HOUR;
		const watch = { taskId, kind: 'x', route: 'auto', createdAt: this.start, deadline } as const;
		return { ...watch, echoes: [], pace: 'asleep' };
	}

	sleep(id = `sleep-test-${(count += 1)}`): Sleep {
		const { context, client } = this;
		return sleepOf(id, { context, client });
	}

	/** An execution that sleeps on all tasks, watched by this process. */
	asleep(coverage: 'some' | 'all' = 'all'): Sleep {
		const sleep = this.sleep();
		const watches = Object.keys(this.tasks).map((taskId) => this.watchOf(taskId));
		sleep.watch(watches, { resumeUrl: RESUME_URL, coverage });
		return sleep;
	}
}

const over = (kind: Over['ended']['kind'], sleep: Sleep) =>
	[...sleep.over].flatMap(([taskId, found]) => (found.ended.kind === kind ? [taskId] : []));

describe('an execution sleeps until all of its tasks are over', () => {
	test('it is called when the last one is, once, and by that task', async () => {
		const world = new World({ a: { ms: MIN }, b: { ms: 10 * MIN }, c: { ms: 5 * MIN } });
		world.answers = [{ statusCode: 200 }, FINISHED];
		const sleep = world.asleep();
		let known: string[] = [];
		world.onCall = () => (known = over('done', sleep).sort());
		await world.clock.advance(10 * MIN - 1);
		expect(world.calls).toEqual([]);
		expect(over('done', sleep).sort()).toEqual(['a', 'c']);
		await world.clock.advance(0.35 * 10 * MIN);
		expect(world.calls[0]).toMatchObject({ url: RESUME_URL, taskId: 'b' });
		expect(known).toEqual(['a', 'b', 'c']);
		await world.clock.advance(HOUR);
		// n8n has said that it woke, so nothing is kept of it. The second call makes sure, and leaves it time for its files.
		expect(sleep.isForgettable).toBe(true);
		expect(world.calls.map(({ taskId }) => taskId)).toEqual(['b', 'b']);
		expect((world.calls[1]?.atMs ?? 0) - (world.calls[0]?.atMs ?? 0)).toBe(MIN);
	});

	const unreachable = { outcome: 'unreachable' };
	const expired = answer(401, { error: 'expired' });
	const empty = answer(200, { id: 'a', status: 'done', metadata: {} });
	test.each<[string, Task, object]>([
		['failed', { ms: 0, end: 'error' }, { outcome: 'failed', taskId: 'a' }],
		['can not be found for good', { answers: answer(404) }, { ...unreachable, taskId: 'a' }],
		['is refused for good', { answers: expired }, { ...unreachable, httpStatus: 401 }],
		['is done without a file for good', { answers: empty }, { outcome: 'undelivered' }],
	])('a task that %s counts as over', async (_name, task, failure) => {
		const world = new World({ a: task, b: { ms: MIN } });
		const sleep = world.asleep();
		await world.clock.advance(HOUR);
		expect(sleep.over.get('a')).toMatchObject({ ended: { kind: 'failed', failure } });
		expect(world.calls.length).toBeGreaterThan(0);
	});
});

test('a task that runs beyond the deadline is not over: n8n wakes its execution, and nobody calls', async () => {
	const world = new World({ a: { ms: 48 * HOUR } });
	const sleep = world.asleep();
	await world.clock.advance(25 * HOUR);
	expect([sleep.over.size, world.calls]).toEqual([0, []]);
});

describe('a callback', () => {
	const patience = (world: World, ms: number) => {
		const controller = new AbortController();
		world.clock.at(world.clock.now() + ms, () => controller.abort());
		return controller.signal;
	};

	test('that is not true is not confirmed, and the task is known to go on', async () => {
		const world = new World({ a: { ms: HOUR } });
		const sleep = world.asleep();
		await world.clock.advance(5 * MIN);
		expect(sleep.runs('a')).toBe(true);
		expect(
			await world.clock.run(
				sleep.confirm({ taskId: 'a', hasFailed: false }, patience(world, 8 * S)),
			),
		).toBe(false);
		expect(sleep.runs('a')).toBe(true);
		expect(world.elapsed).toBe(5 * MIN + 8 * S);
		await world.clock.advance(2 * HOUR);
		// From then on no call is waiting for the news, so that this n8n calls at once.
		const seenMs = (sleep.over.get('a')?.seenAt ?? 0) - world.start;
		expect(world.calls[0]?.atMs).toBe(seenMs);
	});

	test('whose call is going to wake the execution is not overtaken by a call of this n8n', async () => {
		const world = new World({ a: { ms: 5 * MIN } });
		const sleep = world.asleep();
		await world.clock.advance(5 * MIN);
		await world.clock.run(sleep.confirm({ taskId: 'a', hasFailed: false }, patience(world, 8 * S)));
		await world.clock.advance(2 * S);
		sleep.end();
		await world.clock.advance(HOUR);
		expect(world.calls).toEqual([]);
	});
});

/** So many more that what is over is dropped; all of them are over themselves. */
async function crowd(world: World): Promise<void> {
	for (let number = 0; number < 500; number += 1) world.sleep().end();
	await world.clock.advance(MIN);
}

test('what is over is dropped, with the tasks that it holds, some time after it was woken or after its deadline, at which n8n wakes it', async () => {
	const world = new World({ a: { ms: 48 * HOUR }, b: { ms: 48 * HOUR } });
	const [woken, late] = [world.sleep('woken'), world.sleep('late')];
	const tasks = [world.watchOf('a'), { ...world.watchOf('b'), deadline: world.start + HOUR }];
	for (const sleep of [woken, late]) sleep.watch(tasks, { resumeUrl: RESUME_URL, coverage: 'all' });
	woken.end();
	await crowd(world);
	await crowd(world);
	expect(world.sleep('woken')).not.toBe(woken);
	await world.clock.advance(24 * HOUR - 2 * MIN);
	await crowd(world);
	expect(world.sleep('late')).toBe(late);
	await world.clock.advance(MIN);
	await crowd(world);
	expect(world.sleep('late')).not.toBe(late);
});

describe('many executions of one account', () => {
	test('are watched by one loop: no more than ten looks at a time', async () => {
		const world = new World({});
		world.lookMs = 200;
		const sleeps = Array.from({ length: 200 }, (_, index) => {
			world.tasks[`t${index}`] = { ms: MIN };
			const sleep = world.sleep();
			const resumeUrl = `${RESUME_URL}&n=${index}`;
			sleep.watch([world.watchOf(`t${index}`)], { resumeUrl, coverage: 'all' });
			return sleep;
		});
		await world.clock.advance(3 * MIN);
		expect(world.mostLooking).toBe(10);
		expect(sleeps.every(({ over: known }) => known.size === 1)).toBe(true);
		expect(new Set(world.calls.map(({ url }) => url)).size).toBe(200);
	});

	test('memory is bounded: the oldest of very many is forgotten, and looked at no more', async () => {
		const world = new World({ a: { ms: 10 * HOUR } });
		const first = world.sleep('first of many');
		first.watch([world.watchOf('a')], { resumeUrl: RESUME_URL, coverage: 'all' });
		for (let number = 0; number < 20_000; number += 1) world.sleep(`many-${number}`);
		expect(world.sleep('first of many')).not.toBe(first);
		const looks = world.looks.length;
		await world.clock.advance(24 * HOUR);
		expect(world.looks).toHaveLength(looks);
		expect(world.calls).toEqual([]);
	});
});

test('whoever sees that a task is over reports its place as free, once', async () => {
	const failed = { ms: 0, end: 'error' } as const;
	const world = new World({ a: { ms: MIN }, b: { answers: answer(404) }, c: failed, d: failed });
	const { account } = world.client;
	for (const id of 'abcd') account.created(id);
	const [one, other] = [world.asleep(), world.asleep()];
	await world.clock.advance(10 * MIN);
	expect([...one.over.keys(), ...other.over.keys()].sort().join('')).toBe('aabbccdd');
	// A task that can't be read may still run.
	expect(account.ends).toBe(3);
	const client = scriptedClient(() => answer(200, { id: 'd', ...DONE }));
	client.account.created('d');
	await verdictNow(client, { taskId: 'd', kind: 'image', echoes: [] });
	expect(client.account.ends).toBe(1);
});

test('a task whose end a call has found out is looked at no more', async () => {
	const world = new World({ a: { ms: HOUR } });
	const sleep = world.asleep();
	await world.clock.advance(MIN);
	const looks = world.looks.length;
	sleep.note('a', { kind: 'failed', failure: { outcome: 'failed' } } as Over['ended']);
	await world.clock.advance(HOUR);
	expect(world.looks).toHaveLength(looks);
});

test('this process calls n8n for no more than four executions at once', async () => {
	const world = new World({ a: { ms: MIN } });
	let [calling, most] = [0, 0];
	world.answers = [FINISHED];
	world.onCall = async () => {
		most = Math.max(most, (calling += 1));
		await world.clock.sleep(S);
		calling -= 1;
	};
	for (let number = 0; number < 12; number += 1) world.asleep();
	await world.clock.advance(HOUR);
	expect([most, world.calls.length]).toEqual([4, 12]);
});

test('a sleep is called by one at a time, and again by another reason', async () => {
	const world = new World({});
	const sleep = world.sleep();
	world.answers = [{ statusCode: 202 }];
	for (const calls of [1, 2]) {
		for (const taskId of ['a', 'b']) sleep.callN8n(taskId, RESUME_URL, 0);
		await world.clock.advance(S);
		expect(world.calls).toHaveLength(calls);
	}
});

test('a resumption that is left twice makes room for one call', () => {
	const leave = Array.from({ length: 4 }, () => resumptions.enter());
	for (let times = 0; times < 2; times += 1) leave[0]?.();
	leave[0] = resumptions.enter();
	expect([typeof leave[0], resumptions.enter()]).toEqual(['function', undefined]);
	for (const each of leave) each?.();
});

describe('an execution whose tasks are over', () => {
	const called = async (answers: Answer[], hours: number, coverage: 'some' | 'all' = 'all') => {
		const world = new World({ a: { ms: MIN } });
		world.answers = answers;
		world.asleep(coverage);
		await world.clock.advance(hours * HOUR);
		return world.calls.map(({ atMs }) => atMs);
	};

	test.each<[string, Answer]>([
		['has finished', FINISHED],
		['does not exist', { statusCode: 404, body: { message: 'The execution "7" does not exist.' } }],
		['sleeps elsewhere', { statusCode: 404, body: { error: 'no task is waited for here' } }],
		[
			'sleeps over other tasks',
			{ statusCode: 200, body: { ignored: 'the task does not belong to this execution' } },
		],
	])('and that %s is not called again', async (_name, answered) => {
		expect(await called([answered], 25)).toHaveLength(1);
	});

	test.each<[string, Answer]>([
		['says that it sleeps on', { statusCode: 202, body: { received: true, waiting: 1 } }],
		['is restarted', { statusCode: 503 }],
		[
			'has no routes yet',
			{ statusCode: 404, body: { message: 'The requested webhook is not registered.' } },
		],
		['is behind a proxy that answers 404', { statusCode: 404, body: '<html>' }],
		['says something that is no text', { statusCode: 409, body: { message: ['has finished'] } }],
	])(
		'is called at growing pauses while n8n %s, until beyond its deadline',
		async (_name, answered) => {
			const calls = await called([answered], 48);
			const pauses = calls.slice(1).map((atMs, index) => atMs - (calls[index] ?? 0));
			expect(pauses.slice(0, 9)).toEqual([
				300,
				600,
				1_200,
				2_400,
				4_800,
				9_600,
				19_200,
				38_400,
				MIN,
			]);
			// At its deadline n8n wakes it by itself; until a while later, to be sure, it is called.
			expect(calls.at(-1)).toBeGreaterThan(24 * HOUR);
			expect(calls.at(-1)).toBeLessThanOrEqual(24 * HOUR + 2 * MIN);
		},
	);

	test('is called ever more rarely while n8n says that it runs: it falls asleep, or was woken and waits for a worker', async () => {
		const calls = await called([RUNNING], 1);
		const pauses = calls.slice(1).map((atMs, index) => (atMs - (calls[index] ?? 0)) / S);
		expect(pauses.slice(0, 10)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
		// n8n stores a resumption before it answers.
		expect(await called([RUNNING, { statusCode: 200 }, RUNNING], 2)).toHaveLength(3);
	});

	test('and of which this process watches some tasks only: called until n8n says that it sleeps on', async () => {
		expect((await called([{ statusCode: 503 }], 2, 'some')).length).toBeGreaterThan(10);
		expect(await called([{ statusCode: 202 }], 2, 'some')).toHaveLength(1);
	});
});
