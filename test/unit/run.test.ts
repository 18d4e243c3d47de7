import type { Reply } from '../../nodes/MediaGeneration/service/client';
import { lookAtTask } from '../../nodes/MediaGeneration/service/look';
import { Ledger } from '../../nodes/MediaGeneration/create/ledger';
import { runJobs, type Job, type RunOptions } from '../../nodes/MediaGeneration/run/jobs';
import { answer, scriptedClient } from './replies';
import { seededRandom, VirtualClock } from './virtualClock';

const DONE = { metadata: { output_uri: 'https://files.example/a.mp3' } };

/** A service in a few lines: tasks last as long as their text says; texts that are words do what they say. */
class Service {
	readonly clock = new VirtualClock();
	readonly start = this.clock.now();
	readonly created = new Map<string, { text: string; at: number }>();
	readonly stop = new AbortController();
	readonly known: string[] = [];
	readonly delivered: string[] = [];
	readonly store: Record<string, unknown> = {};
	mostActive = 0;

	readonly client = scriptedClient(({ method, path, body }) =>
		method === 'POST' ? this.create(body?.text as string) : this.look(path.split('/').pop() ?? ''),
	);

	private create(text: string): Reply {
		if (text === 'refuse') return answer(400, { error: 'refused' });
		if (text === 'vanish') return answer(502);
		const taskId = `task-${this.created.size}`;
		this.created.set(taskId, { text, at: this.clock.now() });
		const active = [...this.created.values()].filter(
			(task) => this.clock.now() < task.at + Number(task.text),
		);
		this.mostActive = Math.max(this.mostActive, active.length);
		return answer(200, { task_id: taskId });
	}

	private look(taskId: string): Reply {
		const task = this.created.get(taskId);
		if (task === undefined) return answer(404);
		if (task.text === 'fail')
			return answer(200, { id: taskId, status: 'error', error_message: 'too loud' });
		const over = this.clock.now() >= task.at + Number(task.text);
		return answer(
			200,
			over ? { id: taskId, status: 'done', ...DONE } : { id: taskId, status: 'doing' },
		);
	}

	async run(
		texts: Array<string | { taskId: string }>,
		options: Partial<RunOptions> = {},
		fields: Partial<Job> = {},
	) {
		const jobs = texts.map((text, index): Job => ({
			index,
			request:
				typeof text === 'string'
					? { kind: 'sound', path: '/v1/task/sound-effect', body: { text } }
					: undefined,
			taskId: typeof text === 'string' ? undefined : text.taskId,
			wait: true,
			timeoutMs: 600_000,
			route: 'auto',
			...fields,
		}));
		const { now, sleep } = this.clock;
		return await this.clock.run(
			runJobs(
				jobs,
				{
					client: this.client,
					now,
					sleep,
					random: seededRandom(5),
					signal: this.stop.signal,
					ledger: new Ledger(this.store, {
						executionId: '1',
						runIndex: 0,
						baseUrl: 'https://api.example',
					}),
					look: async ({ taskId, kind }, route, signal) =>
						await lookAtTask(this.client, { taskId, kind, route, signal, timeoutMs: 5_000 }, now),
					onTask: (taskId) => this.known.push(taskId),
					onFinished: async (_job, taskId) => {
						await Promise.resolve();
						this.delivered.push(taskId);
						return true;
					},
				},
				{ maxActiveTasks: 20, haltOnFailure: false, graceMs: undefined, ...options },
			),
		);
	}

	get elapsed(): number {
		return this.clock.now() - this.start;
	}

	get creations(): number {
		return this.client.requests.filter(({ method }) => method === 'POST').length;
	}
}

test('results stand in the order of the items, whichever ends first, and each is delivered once', async () => {
	const service = new Service();
	const results = await service.run(['9000', '3000', '6000']);
	expect(results.map((result) => result.kind === 'finished' && result.taskId)).toEqual([
		'task-0',
		'task-1',
		'task-2',
	]);
	expect(service.delivered).toEqual(['task-1', 'task-2', 'task-0']);
});

test('N tasks take about as long as the slowest one', async () => {
	const service = new Service();
	await service.run(Array.from({ length: 20 }, () => '10000'));
	expect(service.elapsed).toBeLessThan(11_500);
	expect(service.creations).toBe(20);
});

test('never more tasks in flight than allowed', async () => {
	const service = new Service();
	const results = await service.run(
		Array.from({ length: 12 }, (_, index) => String(2_000 + 500 * index)),
		{ maxActiveTasks: 3 },
	);
	expect(results.every(({ kind }) => kind === 'finished')).toBe(true);
	expect(service.mostActive).toBeLessThanOrEqual(3);
});

test('one bad item leaves the others alone', async () => {
	const service = new Service();
	const results = await service.run(['3000', 'refuse', 'fail', 'vanish', '5000']);
	expect(
		results.map((result) => (result.kind === 'failed' ? result.failure.outcome : result.kind)),
	).toEqual(['finished', 'rejected', 'failed', 'unknown', 'finished']);
	expect(service.creations).toBe(5);
});

test('halting: after the first failure nothing more is created or waited for, and every task is known', async () => {
	const service = new Service();
	const results = await service.run(['60000', 'fail', '60000', '60000'], {
		haltOnFailure: true,
		maxActiveTasks: 2,
	});
	expect(results.map(({ kind }) => kind)).toEqual(['halted', 'failed', 'halted', 'halted']);
	expect(service.known).toEqual(['task-0', 'task-1']);
	expect(service.creations).toBe(2);
	expect(service.elapsed).toBeLessThan(5_000);
});

test('stopping: everything is cancelled at once and nothing more is sent', async () => {
	const service = new Service();
	service.clock.at(service.start + 5_000, () => service.stop.abort());
	const results = await service.run(['60000', '60000', '60000'], { maxActiveTasks: 2 });
	expect(results.map((result) => result.kind === 'failed' && result.failure.outcome)).toEqual([
		'cancelled',
		'cancelled',
		'cancelled',
	]);
	expect(service.elapsed).toBe(5_000);
	const sent = service.client.requests.length;
	await service.clock.advance(600_000);
	expect(service.client.requests).toHaveLength(sent);
	expect(service.creations).toBe(2);
});

test('not waiting: the answer of the creation comes back', async () => {
	const service = new Service();
	const results = await service.run(['60000'], {}, { wait: false });
	expect(results).toMatchObject([
		{ kind: 'created', created: { taskId: 'task-0', answer: { task_id: 'task-0' } } },
	]);
	expect(service.client.requests).toHaveLength(1);
});

describe('grace', () => {
	test('what still runs some time after the last creation is pending', async () => {
		const service = new Service();
		const results = await service.run(['3000', '600000'], { graceMs: 10_000 });
		expect(results.map(({ kind }) => kind)).toEqual(['finished', 'pending']);
		expect(results[1]).toMatchObject({ taskId: 'task-1', lastTask: { status: 'doing' } });
		expect(service.elapsed).toBe(10_000);
	});

	test('it does not last longer than the tasks', async () => {
		const service = new Service();
		await service.run(['2000'], { graceMs: 60_000 });
		expect(service.elapsed).toBeLessThan(5_000);
	});
});

describe('a second try of the same run', () => {
	test('takes up what exists, sends no unclear creation again, and creates anew what failed or was refused', async () => {
		const service = new Service();
		await service.run(['3000', 'fail', 'vanish', 'refuse']);
		expect(service.creations).toBe(4);
		const results = await service.run(['3000', 'fail', 'vanish', 'refuse']);
		expect(results[0]).toMatchObject({ kind: 'finished', taskId: 'task-0' });
		expect(results[1]).toMatchObject({
			kind: 'failed',
			failure: { outcome: 'failed', taskId: 'task-2' },
		});
		expect(results[2]).toMatchObject({ kind: 'failed', failure: { outcome: 'unknown' } });
		expect(service.creations).toBe(6);
	});

	test('after a time-out the same task is waited for', async () => {
		const service = new Service();
		const [first] = await service.run(['60000'], {}, { timeoutMs: 30_000 });
		expect(first).toMatchObject({
			kind: 'failed',
			failure: { outcome: 'timed_out', taskId: 'task-0' },
		});
		const [second] = await service.run(['60000'], {}, { timeoutMs: 90_000 });
		expect(second).toMatchObject({ kind: 'finished', taskId: 'task-0' });
		expect(service.creations).toBe(1);
	});
});

test('waiting for a task made earlier creates nothing', async () => {
	const service = new Service();
	await service.run(['1000'], {}, { wait: false });
	const results = await service.run([{ taskId: 'task-0' }]);
	expect(results).toMatchObject([{ kind: 'finished', taskId: 'task-0' }]);
	expect(service.creations).toBe(1);
});

test('no items, no requests', async () => {
	const service = new Service();
	expect(await service.run([], { graceMs: 10_000 })).toEqual([]);
	expect(service.client.requests).toEqual([]);
});
