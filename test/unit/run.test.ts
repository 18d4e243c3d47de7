import { setMaxListeners } from 'node:events';
import type { IExecuteFunctions } from 'n8n-workflow';
import { Ledger } from '../../nodes/MediaGeneration/create/ledger';
import { Spending } from '../../nodes/MediaGeneration/run/spending';
import type { ItemSettings } from '../../nodes/MediaGeneration/operations/waiting';
import type { Item, ItemEnd, Part } from '../../nodes/MediaGeneration/run/item';
import { runItems, type RunOptions } from '../../nodes/MediaGeneration/run/items';
import type { Reply } from '../../nodes/MediaGeneration/service/client';
import type { Failure } from '../../nodes/MediaGeneration/service/failures';
import { FILES } from './itemSettings';
import { answer, scriptedClient } from '../support/replies';
import { seededRandom, VirtualClock } from '../support/virtualClock';

const DONE = { metadata: { output_uri: 'https://files.example/a.mp3' } };

const SETTINGS: ItemSettings = {
	waiting: { kind: 'poll' },
	files: FILES,
	callbackReference: undefined,
	timeoutMs: 600_000,
	onTimeout: 'error',
	pollRoute: 'auto',
	contextBetweenParts: false,
	findUnclear: true,
	minimumCredits: undefined,
	longText: { kind: 'off' },
};
const UNDELIVERED: Failure = { outcome: 'undelivered', message: 'gone', description: '' };
const NOT_WAITING: Partial<ItemSettings> = { waiting: { kind: 'no', callbackUrl: undefined } };
const sleepingAfter = (graceMs: number): Partial<ItemSettings> => ({
	waiting: { kind: 'suspend', graceMs, watched: true },
});

type Text = string | string[] | { taskId: string };

/** A text, the parts of a long one, or a task made earlier. */
function partsOf(text: Text, item: number, ledger: Ledger): Part[] {
	if (!Array.isArray(text) && typeof text === 'object')
		return [{ kind: 'awaits', number: 0, taskId: text.taskId }];
	return [text].flat().map((part, number) => {
		const request = { kind: 'sound', path: '/v1/task/sound-effect', body: { text: part } };
		return {
			kind: 'creates',
			number,
			request,
			earlier: ledger.earlier({ item, part: number }, request),
		};
	});
}

const taskIdsOf = (end: ItemEnd | undefined) =>
	end?.kind === 'items' ? end.items.map(({ json }) => json.task_id) : end?.kind;
const outcomeOf = (end: ItemEnd) => (end.kind === 'failed' ? end.failure.outcome : end.kind);

/** A service in a few lines: tasks last as long as their text says; texts that are words do what they say. */
class Service {
	readonly clock = new VirtualClock();
	readonly start = this.clock.now();
	readonly created = new Map<string, { text: string; at: number }>();
	readonly stop = new AbortController();
	readonly logged: string[] = [];
	readonly delivered: string[] = [];
	/** Tasks whose files can't be fetched. */
	readonly undeliverable = new Set<string>();
	/** Tasks whose delivery throws, which it must not. */
	readonly breaksAt = new Set<string>();
	readonly store: Record<string, unknown> = {};
	private readonly context = {
		logger: { info: (line: string) => this.logged.push(line), warn: () => undefined },
		getExecutionId: () => '1',
	} as unknown as IExecuteFunctions;
	mostActive = 0;

	/** @param capacity how many tasks the account may have at the same time */
	constructor(private readonly capacity = Infinity) {
		// As n8n does with the signal of an execution.
		setMaxListeners(Infinity, this.stop.signal);
	}

	readonly client = scriptedClient(({ method, path, body }) =>
		method === 'POST' ? this.create(body?.text as string) : this.look(path.split('/').pop() ?? ''),
	);

	private create(text: string): Reply {
		if (text === 'refuse') return answer(400, { error: 'refused' });
		if (text === 'vanish') return answer(502);
		const active = [...this.created.values()].filter(
			(task) => this.clock.now() < task.at + Number(task.text),
		);
		if (active.length >= this.capacity) return answer(429, { code: 'active_task_limit' });
		const taskId = `task-${this.created.size}`;
		this.created.set(taskId, { text, at: this.clock.now() });
		this.mostActive = Math.max(this.mostActive, active.length + 1);
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
		texts: Text[],
		options: Partial<RunOptions> = {},
		settings: Partial<ItemSettings> | Array<Partial<ItemSettings>> = {},
	): Promise<ItemEnd[]> {
		const { now, sleep } = this.clock;
		const run = { executionId: '1', runIndex: 0, baseUrl: 'https://api.example' };
		const ledger = new Ledger(this.store, run);
		const items = texts.map((text, index): Item => ({
			kind: 'item',
			index,
			settings: { ...SETTINGS, ...(Array.isArray(settings) ? settings[index] : settings) },
			parts: partsOf(text, index, ledger),
			assembly: {
				longText: { kind: Array.isArray(text) ? 'parts' : 'off' },
				texts: [Array.isArray(text) ? text : ''].flat(),
			},
		}));
		return await this.clock.run(
			runItems(
				items,
				{
					client: this.client,
					context: this.context,
					now,
					sleep,
					random: seededRandom(5),
					stop: this.stop.signal,
					beganAt: undefined,
					ledger,
					spending: new Spending({
						...{ client: this.client, now, sleep, store: this.store, run },
						...{ maximum: undefined, balance: undefined, signal: undefined },
					}),
					delivery: { deliver: async ({ taskId }) => await this.deliver(taskId) },
				},
				{ maxActiveTasks: 20, haltOnFailure: false, ...options },
			),
		);
	}

	private async deliver(taskId: string) {
		await Promise.resolve();
		this.delivered.push(taskId);
		if (this.breaksAt.has(taskId)) throw new Error('n8n broke');
		const failure = this.undeliverable.has(taskId) ? UNDELIVERED : undefined;
		return { items: [{ json: { task_id: taskId } }], outputs: [], failure };
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
	expect(results.map(taskIdsOf)).toEqual([['task-0'], ['task-1'], ['task-2']]);
	expect(service.delivered).toEqual(['task-1', 'task-2', 'task-0']);
});

test('never more tasks in flight than allowed', async () => {
	const service = new Service();
	const results = await service.run(
		Array.from({ length: 12 }, (_, index) => String(2_000 + 500 * index)),
		{ maxActiveTasks: 3 },
	);
	expect(results.every(({ kind }) => kind === 'items')).toBe(true);
	expect(service.mostActive).toBeLessThanOrEqual(3);
});

test('one bad item leaves the others alone', async () => {
	const service = new Service();
	const results = await service.run(['3000', 'refuse', 'fail', 'vanish', '5000']);
	expect(results.map(outcomeOf)).toEqual(['items', 'rejected', 'failed', 'unknown', 'items']);
	expect(service.creations).toBe(5);
});

test('halting: after the first failure nothing more is created or waited for, and every task is known', async () => {
	const service = new Service();
	const results = await service.run(['60000', 'fail', '60000', '60000'], {
		haltOnFailure: true,
		maxActiveTasks: 2,
	});
	expect(results.map(({ kind }) => kind)).toEqual(['halted', 'failed', 'halted', 'halted']);
	expect(service.logged.map((line) => /task-\d/.exec(line)?.[0])).toEqual(['task-0', 'task-1']);
	expect(service.creations).toBe(2);
	expect(service.elapsed).toBeLessThan(5_000);
});

test('whatever breaks on the way of an item is its end, with its task; the next try pays for nothing again', async () => {
	const service = new Service();
	service.breaksAt.add('task-0');
	const [broken, other] = await service.run(['1000', '2000']);
	expect(broken).toMatchObject({
		kind: 'failed',
		failure: { outcome: 'undelivered', taskId: 'task-0' },
	});
	expect(taskIdsOf(other)).toEqual(['task-1']);
	service.breaksAt.clear();
	const again = await service.run(['1000', '2000']);
	expect(again.map(taskIdsOf)).toEqual([['task-0'], ['task-1']]);
	expect(service.creations).toBe(2);
});

test('where that ends the run, nothing is created afterwards, and every task is known', async () => {
	const service = new Service();
	service.breaksAt.add('task-0');
	const results = await service.run(['1000', '60000', '60000', '60000'], {
		haltOnFailure: true,
		maxActiveTasks: 2,
	});
	expect(results.map(({ kind }) => kind)).toEqual(['failed', 'halted', 'halted', 'halted']);
	const { creations } = service;
	expect(results.flatMap(({ taskIds }) => taskIds)).toHaveLength(creations);
	await service.clock.advance(600_000);
	expect(service.creations).toBe(creations);
});

test('stopping: everything is cancelled at once and nothing more is sent', async () => {
	const service = new Service();
	service.clock.at(service.start + 5_000, () => service.stop.abort());
	const results = await service.run(['60000', '60000', '60000'], { maxActiveTasks: 2 });
	expect(results.map(outcomeOf)).toEqual(['cancelled', 'cancelled', 'cancelled']);
	expect(service.elapsed).toBe(5_000);
	const sent = service.client.requests.length;
	await service.clock.advance(600_000);
	expect(service.client.requests).toHaveLength(sent);
	expect(service.creations).toBe(2);
});

describe('items of different waiting in one run', () => {
	test('who polls is waited for before the others may sleep, and meanwhile they are polled too', async () => {
		const service = new Service();
		const asleep = sleepingAfter(5_000);
		const texts = ['20000', '600000', '600000', '15000'];
		const results = await service.run(texts, {}, [{}, asleep, NOT_WAITING, asleep]);
		expect(results.map(({ kind }) => kind)).toEqual(['items', 'asleep', 'items', 'items']);
		expect([results[0], results[3]].map(taskIdsOf)).toEqual([['task-0'], ['task-3']]);
		expect(service.elapsed).toBeGreaterThanOrEqual(20_000);
		expect(service.elapsed).toBeLessThan(30_000);
	});
});

describe('several parts of one item', () => {
	test('are made at once, and are the item in their order', async () => {
		const service = new Service();
		const results = await service.run([['6000', '3000', '9000'], '1000']);
		expect(results.map(taskIdsOf)).toEqual([['task-0', 'task-1', 'task-2'], ['task-3']]);
		expect(service.elapsed).toBeLessThan(10_500);
	});
});

describe('a second try of the same run', () => {
	test('takes up what exists, sends no unclear creation again, and creates again what failed or was refused', async () => {
		const service = new Service();
		await service.run(['3000', 'fail', 'vanish', 'refuse']);
		expect(service.creations).toBe(4);
		const results = await service.run(['3000', 'fail', 'vanish', 'refuse']);
		expect(results[0]).toMatchObject({ kind: 'items', items: [{ json: { task_id: 'task-0' } }] });
		expect(results[1]).toMatchObject({
			kind: 'failed',
			failure: { outcome: 'failed', taskId: 'task-2' },
		});
		expect(results[2]).toMatchObject({ kind: 'failed', failure: { outcome: 'unknown' } });
		expect(service.creations).toBe(6);
	});
});

test('waiting for a task made earlier creates nothing', async () => {
	const service = new Service();
	await service.run(['1000'], {}, NOT_WAITING);
	const results = await service.run([{ taskId: 'task-0' }]);
	expect(results.map(taskIdsOf)).toEqual([['task-0']]);
	expect(service.creations).toBe(1);
});
