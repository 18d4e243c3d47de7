/** What the tasks of a run cost, by whichever word of the service, and when the next one may be created. */
import type { LedgerStore, RunIdentity } from '../../nodes/MediaGeneration/create/ledger';
import {
	costIn,
	Spending,
	spendingHints,
	type SpendingDeps,
	type Turn,
} from '../../nodes/MediaGeneration/run/spending';
import type { Submitted } from '../../nodes/MediaGeneration/create/submit';
import type { Look } from '../../nodes/MediaGeneration/service/look';
import { parseTask, type Task } from '../../nodes/MediaGeneration/service/task';
import { VirtualClock } from '../support/virtualClock';

const RUN: RunIdentity = { executionId: '7', runIndex: 0, baseUrl: 'https://api.example' };
const ROUTE = { kind: 'sound', route: 'auto' } as const;

const task = (fields: object): Task => {
	const parsed = parseTask({ id: 'x', status: 'doing', ...fields });
	if (parsed === undefined) throw new Error('That is not a task');
	return parsed;
};
const seen = (fields: object): Look => ({ kind: 'task', task: task(fields) });
const FAILURE = { outcome: 'unknown' as const, message: 'm', description: 'd' };
const REJECTED: Submitted = { kind: 'failed', failure: { ...FAILURE, outcome: 'rejected' } };
const UNCLEAR: Submitted = {
	kind: 'unclear',
	failure: FAILURE,
	request: { kind: 'sound', path: '/v1/x', body: {} },
	sentAt: 0,
	endedAt: 0,
	serviceDate: undefined,
};
const MISSING: Look = { kind: 'missing', detail: 'HTTP 404' };

/** A run whose looks at tasks find what the test says, in this order; the last one repeats. */
function setting(looks: Look[] = [MISSING], deps: Partial<SpendingDeps> = {}) {
	const clock = new VirtualClock();
	const asked: Array<{ taskId: string; at: number }> = [];
	const start = clock.now();
	const spending = new Spending({
		now: clock.now,
		sleep: clock.sleep,
		store: {},
		run: RUN,
		maximum: 25,
		look: async (taskId) => {
			asked.push({ taskId, at: clock.now() - start });
			return await Promise.resolve(looks[asked.length - 1] ?? looks.at(-1) ?? MISSING);
		},
		pausedUntil: () => 0,
		balanceNow: async () => await Promise.resolve(undefined),
		...deps,
	});
	/** Creates a task whose answer says this; what became of the turn. */
	const create = async (taskId: string, answer: object = {}): Promise<Turn> => {
		const turn = await clock.run(spending.turn(ROUTE));
		const created = { taskId, createdAt: clock.now(), answer: { task_id: taskId, ...answer } };
		if (turn.kind === 'go') turn.end({ kind: 'created', created });
		return turn;
	};
	return { clock, spending, asked, create };
}

test.each<[object, number | undefined]>([
	[{ credit_cost: 5 }, 5],
	[{ credit_cost: '5.5' }, 5.5],
	[{ credit_cost: 0 }, 0],
	[{ estimated_credits: '60' }, 60],
	[{ credit_cost: null, estimated_credits: 7 }, 7],
	[{ credit_cost: 4, estimated_credits: 7 }, 4],
	[{ data: { credit_cost: 3 } }, 3],
	[{ credit_cost: -5 }, undefined],
	[{ credit_cost: 'free' }, undefined],
	[{ credit_cost: '' }, undefined],
	[{ credit_cost: {} }, undefined],
	[{}, undefined],
])('the cost in %j is %j', (body, cost) => {
	expect(costIn(body as Record<string, unknown>)).toBe(cost);
});

test('a turn lasts until the cost is known; the next one is refused once they reach the limit', async () => {
	const { clock, spending, create, asked } = setting([MISSING, MISSING, seen({ credit_cost: 20 })]);
	await create('a');
	const second = await clock.run(spending.turn(ROUTE));
	expect(asked.map(({ at }) => at)).toEqual([0, 500, 1_500]);
	expect(second.kind).toBe('go');
	if (second.kind === 'go') second.end(REJECTED);
	await create('b', { credit_cost: 5 });
	expect(await create('c')).toMatchObject({
		kind: 'refused',
		failure: {
			outcome: 'invalid',
			message:
				'Max Credits is reached: the tasks of this run cost 25 credits, and the option allows 25',
			description:
				'No task was created for this item. Raise the option Max Credits, or run the items that are left again.',
		},
	});
	expect(spending.spent).toEqual({ tasks: 2, credits: 25, unnamed: 0 });
});

test('a service that describes a task without a cost is not asked for that of the next one', async () => {
	const { spending, create, asked, clock } = setting([seen({ progress: 0 })]);
	await create('a');
	await create('b');
	await clock.run(spending.settled());
	expect(asked).toEqual([{ taskId: 'a', at: 0 }]);
	expect(spending.spent).toEqual({ tasks: 2, credits: 0, unnamed: 2 });
});

test('looks end after a while, at a refusal, and where the account is to be left alone', async () => {
	const never = setting([MISSING]);
	await never.create('a');
	await never.clock.run(never.spending.settled());
	expect(never.asked.map(({ at }) => at)).toEqual([0, 500, 1_500, 3_500]);

	const denied = setting([{ kind: 'denied', detail: 'no', httpStatus: 401 }]);
	await denied.create('a');
	await denied.clock.run(denied.spending.settled());
	expect(denied.asked).toHaveLength(1);

	const paused = setting([seen({ credit_cost: 1 })], { pausedUntil: () => Infinity });
	await paused.create('a');
	await paused.clock.run(paused.spending.settled());
	expect(paused.asked).toHaveLength(0);

	const stop = new AbortController();
	stop.abort();
	const stopped = setting([seen({ credit_cost: 1 })], { signal: stop.signal });
	await stopped.create('a');
	await stopped.clock.run(stopped.spending.settled());
	expect(stopped.asked).toHaveLength(0);
});

describe('where only the balance shows it', () => {
	test.each<[string, number | undefined, Array<[unknown, number | null]>]>([
		[
			'what it fell by',
			100,
			[
				[90, 10],
				['70', 20],
			],
		],
		[
			'nothing where it was not known before',
			undefined,
			[
				[90, null],
				[85, 5],
			],
		],
		[
			'nothing where it rose, as after a refund',
			100,
			[
				[120, null],
				[115, 5],
			],
		],
		[
			'nothing where it did not fall, as where tasks are paid for later',
			100,
			[
				[100, null],
				[95, 5],
			],
		],
		[
			'nothing across an answer without it',
			100,
			[
				[undefined, null],
				[80, null],
				[75, 5],
			],
		],
	])('%s', async (_, balance, steps) => {
		const store: Record<string, unknown> = {};
		const { spending, create, clock } = setting([MISSING], { balance, store, maximum: 1_000 });
		for (const [index, [remain]] of steps.entries())
			await create(`t${index}`, { ec_remain_credits: remain });
		await clock.run(spending.settled());
		expect((store.taskCosts as { costs: object }).costs).toEqual(
			Object.fromEntries(steps.map(([, cost], index) => [`t${index}`, cost])),
		);
	});
});

test('what the service says later goes before what it said first, for tasks of the run only', async () => {
	const { spending, create } = setting();
	await create('a', { estimated_credits: 30 });
	spending.seen('a', task({ credit_cost: 12 }));
	spending.seen('elsewhere', task({ credit_cost: 500 }));
	spending.seen('a', task({ credit_cost: null }));
	spending.seen('a', undefined);
	expect(spending.spent).toEqual({ tasks: 1, credits: 12, unnamed: 0 });
	expect((await create('b', { credit_cost: 20 })).kind).toBe('go');
});

describe('what counts', () => {
	const saved = (store: object) => JSON.parse(JSON.stringify(store)) as Record<string, unknown>;
	async function spentBefore(run: RunIdentity = RUN) {
		const store = {};
		await setting([], { store, run }).create('a', { credit_cost: 10 });
		return saved(store);
	}

	test('earlier tries of the run do, also after n8n saved it', async () => {
		const { spending } = setting([], { store: await spentBefore() });
		expect(spending.spent).toEqual({ tasks: 1, credits: 10, unnamed: 0 });
	});

	test.each<[string, Partial<RunIdentity>]>([
		['another run of the node', { runIndex: 1 }],
		['another execution', { executionId: '8' }],
	])('%s does not', async (_, other) => {
		const { spending } = setting([], {
			store: await spentBefore(),
			run: { ...RUN, ...other },
		});
		expect(spending.spent.tasks).toBe(0);
	});

	test('as a tool all runs of the execution do', async () => {
		const { spending } = setting([], {
			store: await spentBefore({ ...RUN, call: { id: 'one', agent: 'Agent:0' } }),
			run: { ...RUN, runIndex: 5, call: { id: 'another', agent: 'Agent:0' } },
		});
		expect(spending.spent.credits).toBe(10);
	});

	test('a task that is taken up does, once, before the first turn', async () => {
		const { spending, clock, asked } = setting([seen({ credit_cost: 25 })]);
		const created = { taskId: 'old', createdAt: 0, answer: { ec_remain_credits: 5 } };
		spending.takeUp(created, ROUTE);
		spending.takeUp(created, ROUTE);
		expect((await clock.run(spending.turn(ROUTE))).kind).toBe('refused');
		expect(asked).toHaveLength(1);
		expect(spending.spent).toEqual({ tasks: 1, credits: 25, unnamed: 0 });
	});

	test('a context that somebody else wrote into is begun afresh', () => {
		for (const taskCosts of [7, null, [], { run: '7:0' }, { run: '7:0', costs: 3 }])
			expect(setting([], { store: { taskCosts } }).spending.spent.tasks).toBe(0);
	});
});

describe('hints', () => {
	const allOf = (costs: Array<number | null>, maximum?: number) => {
		const { spending } = setting([], {
			maximum,
			store: { taskCosts: { run: '7:0', costs: { ...costs } } },
		});
		return spendingHints(spending);
	};
	const hintsOf = (...given: Parameters<typeof allOf>) =>
		allOf(...given).map(({ message }) => message);

	test.each<[Array<number | null>, string[]]>([
		[[0], ['1 task created, 0 credits according to the service']],
		[[0.1, 0.2], ['2 tasks created, 0.3 credits according to the service']],
		[[null], ['1 task created; its cost is not known']],
		[[null, null], ['2 tasks created; their cost is not known']],
		[
			[7, null],
			['2 tasks created, at least 7 credits according to the service; not known for 1 of them'],
		],
	])('%j', (costs, expected) => {
		expect(hintsOf(costs)).toEqual(expected);
	});

	test('say where the limit could not count', () => {
		expect(allOf([7, null], 50)).toEqual([
			{ type: 'info', message: hintsOf([7, null])[0] },
			{
				type: 'warning',
				message: 'Max Credits could not count 1 task, as the service named no cost for it',
			},
		]);
		expect(hintsOf([null, null], 50)[1]).toBe(
			'Max Credits could not count 2 tasks, as the service named no cost for them',
		);
		expect(allOf([7])).toMatchObject([{ type: 'info' }]);
		expect(hintsOf([7, 8], 50)).toHaveLength(1);
	});
});

describe('after a creation whose answer never came the balance decides', () => {
	/** An account that is charged for each creation before its answer is lost. */
	function lossy(deps: Partial<SpendingDeps> = {}, credits = 12) {
		let balance = 1_000;
		const made = setting([], {
			balance,
			balanceNow: async () => await Promise.resolve(balance),
			...deps,
		});
		const lose = async (): Promise<Turn> => {
			const turn = await made.clock.run(made.spending.turn(ROUTE));
			if (turn.kind === 'go') {
				balance -= credits;
				turn.end(UNCLEAR);
			}
			return turn;
		};
		return { ...made, lose };
	}
	const kinds = async (turns: () => Promise<Turn>, count: number) => {
		const seenKinds: string[] = [];
		for (let index = 0; index < count; index += 1) seenKinds.push((await turns()).kind);
		return seenKinds;
	};
	const CANNOT = /Max Credits can no longer be kept.*may have been paid for/;

	test('three of 12 credits each reach a limit of 25', async () => {
		const { lose } = lossy();
		expect(await kinds(lose, 5)).toEqual(['go', 'go', 'go', 'refused', 'refused']);
	});

	test('one that cost nothing does not count', async () => {
		const { lose } = lossy({}, 0);
		expect(await kinds(lose, 4)).toEqual(['go', 'go', 'go', 'go']);
	});

	test('what other tasks have cost since is not counted twice', async () => {
		const { create, lose } = lossy({ maximum: 35 });
		await lose();
		// The answer names the balance after both.
		await create('a', { credit_cost: 10, ec_remain_credits: 978 });
		expect(await kinds(lose, 3)).toEqual(['go', 'go', 'refused']);
	});

	test.each<[string, Partial<SpendingDeps>]>([
		['it can not be read', { balanceNow: async () => await Promise.resolve(undefined) }],
		['none was known before', { balance: undefined }],
	])('where %s nothing more is created', async (_name, deps) => {
		const { lose } = lossy(deps);
		expect((await lose()).kind).toBe('go');
		for (let tries = 0; tries < 2; tries += 1)
			expect(await lose()).toMatchObject({
				kind: 'refused',
				failure: { outcome: 'invalid', message: expect.stringMatching(CANNOT) as string },
			});
	});

	test('once it can be read again, it counts', async () => {
		let readable = false;
		const { lose } = lossy({
			balanceNow: async () => await Promise.resolve(readable ? 988 : undefined),
		});
		expect(await kinds(lose, 2)).toEqual(['go', 'refused']);
		readable = true;
		expect((await lose()).kind).toBe('go');
	});

	test('a later try knows it as well, from the balance before the creation', async () => {
		const store = {};
		const { lose } = lossy({ store, maximum: 12 });
		expect((await lose()).kind).toBe('go');
		const saved = JSON.parse(JSON.stringify(store)) as LedgerStore;
		const later = setting([], {
			store: saved,
			maximum: 12,
			balance: 988,
			balanceNow: async () => await Promise.resolve(988),
		});
		expect((await later.clock.run(later.spending.turn(ROUTE))).kind).toBe('refused');
	});

	test('tasks of an earlier execution that the run takes up are no part of it', async () => {
		const { spending, clock, lose } = lossy({ maximum: 45 });
		spending.takeUp({ taskId: 'a', createdAt: 0, answer: { credit_cost: 20 } }, ROUTE);
		await clock.run(spending.settled());
		expect(await kinds(lose, 4)).toEqual(['go', 'go', 'go', 'refused']);
	});

	test('without a limit nobody asks for it', async () => {
		const { lose } = lossy({
			maximum: undefined,
			balanceNow: () => {
				throw new Error('The balance is read');
			},
		});
		expect(await kinds(lose, 3)).toEqual(['go', 'go', 'go']);
	});
});
