/** What the tasks of a run cost, by whichever word of the service, and when the next one may be created. */
import type { LedgerStore } from '../../nodes/MediaGeneration/task/entries';
import type { NodeRun } from '../../nodes/MediaGeneration/task/ledger';
import type { Submitted } from '../../nodes/MediaGeneration/task/create';
import {
	Spending,
	type SpendingDeps,
	type EndTurn,
} from '../../nodes/MediaGeneration/task/spending';
import type { Reply } from '../../nodes/MediaGeneration/transport/client';
import type { Failure } from '../../nodes/MediaGeneration/base/failures';
import { costIn, parseTask } from '../../nodes/MediaGeneration/transport/task';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0.5));
afterEach(() => jest.restoreAllMocks());

const RUN: NodeRun = { executionId: '7', runIndex: 0 };
const KIND = 'sound';
type Look = (id: string) => Reply;
const MISSING: Look = () => answer(404);
const FAILURE = { outcome: 'unknown' as const, message: 'm', description: 'd' };
const REJECTED: Submitted = { kind: 'failed', failure: { ...FAILURE, outcome: 'rejected' } };
const UNCLEAR: Submitted = { kind: 'unclear', failure: FAILURE, sentAt: 0 };

const seen =
	(fields: object): Look =>
	(id) =>
		answer(200, { id, status: 'doing', ...fields });
const saved = (store: object) => JSON.parse(JSON.stringify(store)) as LedgerStore;
const balanceOf = (value: number) => ({ ok: true as const, value });

/** A run whose looks at tasks find what the test says, in this order, the last one repeating; and what the account has left. */
function setting(
	looks: Look[] = [MISSING],
	{ credits = () => answer(400), ...deps }: Partial<SpendingDeps> & { credits?: () => Reply } = {},
) {
	const clock = new VirtualClock();
	const { now, sleep } = clock;
	const asked: number[] = [];
	const start = now();
	const client = scriptedClient(({ path }) => {
		if (path === '/v1/credits') return credits();
		if (path.startsWith('/v1e/')) return MISSING('');
		asked.push(now() - start);
		const look = looks[asked.length - 1] ?? looks.at(-1) ?? MISSING;
		return look(path.slice('/v1/task/'.length));
	}, now);
	const plain = { store: {}, run: RUN, maximum: 25, balance: undefined, signal: undefined };
	const spending = new Spending({ client, now, sleep, ...plain, ...deps });
	const take = async (): Promise<{ end?: EndTurn; refusal?: Failure }> => {
		const taken = await clock.run(spending.turn());
		return typeof taken === 'function' ? { end: taken } : { refusal: taken };
	};
	const turn = async () => (await take()).refusal;
	/** Creates a task whose answer says this, unless it is refused. */
	const create = async (taskId: string, said: object = {}) => {
		const { refusal, end } = await take();
		const created = { taskId, createdAt: now(), answer: { task_id: taskId, ...said } };
		end?.({ kind: 'created', created }, KIND);
		return refusal;
	};
	return { clock, client, spending, asked, take, turn, create };
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
	[{ credit_cost: {} }, undefined],
])('the cost in %j is %j', (body, cost) => {
	expect(costIn(body as Record<string, unknown>)).toBe(cost);
});

test('a turn lasts until the cost is known; the next one is refused once they reach the limit', async () => {
	const { spending, take, create, asked } = setting([MISSING, MISSING, seen({ credit_cost: 20 })]);
	await create('a');
	const { end } = await take();
	expect(asked).toEqual([0, 500, 1_500]);
	end?.(REJECTED, KIND);
	expect(await create('b', { credit_cost: 5 })).toBeUndefined();
	expect(await create('c')).toMatchObject({
		outcome: 'invalid',
		message:
			'Max Credits is reached: in this execution, the tasks of this node cost 25 credits, and the option allows 25',
		description:
			'No task was created for this item. Raise the option Max Credits, or run the items that are left again.',
	});
	expect(spending.spent).toEqual({ tasks: 2, credits: 25, unnamed: 0 });
});

test('a service that describes a task without a cost is not asked for that of the next one', async () => {
	const { spending, create, asked, clock } = setting([seen({ progress: 0 })]);
	await create('a');
	await create('b');
	await clock.run(spending.settled());
	expect(asked).toEqual([0]);
	expect(spending.spent).toEqual({ tasks: 2, credits: 0, unnamed: 2 });
});

test.each<[string, Look, number[]]>([
	['after a while', MISSING, [0, 500, 1_500, 3_500]],
	[
		'so at a refusal: one can come from throttling',
		() => answer(401, { error: 'no' }),
		[0, 500, 1_500, 3_500],
	],
])('looks end %s', async (_, look, times) => {
	const { spending, create, asked, clock } = setting([look]);
	await create('a');
	await clock.run(spending.settled());
	expect(asked).toEqual(times);
});

/** What the answers name as the rest, and what each task then counts as. */
test.each<[string, number | undefined, unknown[], Array<number | null>]>([
	['what it fell by', 100, [90, '70'], [10, 20]],
	['nothing where it was not known before', undefined, [90, 85], [null, 5]],
	['nothing where it rose, as after a refund', 100, [120, 115], [null, 5]],
	['nothing where tasks are paid for later', 100, [100, 95], [null, 5]],
	['nothing across an answer without it', 100, [undefined, 80, 75], [null, null, 5]],
])('where only the balance shows the cost: %s', async (_, before, remains, costs) => {
	const store: Record<string, unknown> = {};
	const balance = before === undefined ? undefined : balanceOf(before);
	const { spending, create, clock } = setting([MISSING], { balance, store, maximum: 1_000 });
	for (const [index, remain] of remains.entries())
		await create(`t${index}`, { ec_remain_credits: remain });
	await clock.run(spending.settled());
	expect((store.taskCosts as { costs: object }).costs).toEqual(
		Object.fromEntries(costs.map((credits, index) => [`t${index}`, { run: '0', credits }])),
	);
});

test('without a limit the balance shows no cost, as creations at the same time change it too', async () => {
	const { spending, create } = setting([], { balance: balanceOf(100), maximum: undefined });
	await create('a', { ec_remain_credits: 80 });
	await spending.settled();
	expect(spending.spent).toEqual({ tasks: 1, credits: 0, unnamed: 1 });
});

test('what the service says later goes before what it said first, for tasks of the run only', async () => {
	const { spending, create } = setting();
	const said = (fields: object) => parseTask({ id: 'a', status: 'doing', ...fields });
	await create('a', { estimated_credits: 30 });
	spending.seen('a', said({ credit_cost: 12 }));
	spending.seen('elsewhere', said({ credit_cost: 500 }));
	spending.seen('a', said({ credit_cost: null }));
	spending.seen('a', undefined);
	expect(spending.spent).toEqual({ tasks: 1, credits: 12, unnamed: 0 });
	expect(await create('b', { credit_cost: 20 })).toBeUndefined();
});

describe('what counts', () => {
	const call = (id: string) => ({ id, agent: 'Agent:0' });
	test.each<[string, Partial<NodeRun>, Partial<NodeRun>, boolean, number]>([
		['earlier tries of the run, also after n8n saved it', {}, {}, true, 1],
		['another run of the node, as in a loop', {}, { runIndex: 1 }, true, 0],
		['not another execution', {}, { executionId: '8' }, false, 0],
		['as a tool all calls', { call: call('a') }, { runIndex: 5, call: call('b') }, true, 0],
	])('%s', async (_, first, later, counts, tasks) => {
		const store = {};
		const limit = { maximum: 10 };
		await setting([], { store, run: { ...RUN, ...first } }).create('a', { credit_cost: 10 });
		const run = { ...RUN, ...later };
		const { spending, turn } = setting([], { store: saved(store), run, ...limit });
		// The hint is about its own run.
		expect(spending.spent).toEqual({ tasks, credits: 10 * tasks, unnamed: 0 });
		expect((await turn())?.outcome).toBe(counts ? 'invalid' : undefined);
	});

	test.each<[unknown, RegExp | undefined]>([
		[undefined, undefined],
		[{ format: 0, execution: '6' }, undefined],
		[{ format: 0, execution: '7', costs: {} }, /can no longer be enforced/],
		['x', /can no longer be enforced/],
	])('what can not be read may be any sum: %j', async (taskCosts, message) => {
		const { turn } = setting([], { store: taskCosts === undefined ? {} : { taskCosts } });
		expect((await turn())?.message ?? '').toMatch(message ?? /^$/);
	});

	test('a task that is taken up does, once, before the first turn', async () => {
		const { spending, turn, asked } = setting([seen({ credit_cost: 25 })]);
		const created = { taskId: 'old', createdAt: 0, answer: { ec_remain_credits: 5 } };
		spending.adopt(created, KIND);
		spending.adopt(created, KIND);
		expect(await turn()).toBeDefined();
		expect(asked).toHaveLength(1);
		expect(spending.spent).toEqual({ tasks: 1, credits: 25, unnamed: 0 });
	});
});

const by = 'according to the service';
const uncounted = 'Max Credits could not count';
const noCost = 'as the service named no cost for';
const least = `2 tasks created, at least 7 credits ${by}; not known for 1 of them`;
test.each<[Array<number | null>, number | undefined, string[]]>([
	[[], 50, []],
	[[0], undefined, [`1 task created, 0 credits ${by}`]],
	[[0.1, 0.2], 50, [`2 tasks created, 0.3 credits ${by}`]],
	[[null], undefined, ['1 task created; its cost is not known']],
	[[7, null], undefined, [least]],
	[[7, null], 50, [least, `${uncounted} 1 task, ${noCost} it`]],
	[
		[null, null],
		50,
		['2 tasks created; their cost is not known', `${uncounted} 2 tasks, ${noCost} them`],
	],
])('the hints of costs %j with a limit of %j', (costs, maximum, expected) => {
	const kept = { ...costs.map((credits) => ({ run: '0', credits })) };
	const store = { taskCosts: { format: 1, execution: '7', costs: kept } };
	const hints = setting([], { maximum, store }).spending.hints();
	expect(hints.map(({ message }) => message)).toEqual(expected);
	expect(hints.map(({ type }) => type)).toEqual(['info', 'warning'].slice(0, expected.length));
});

describe('after a creation whose answer never came the balance decides', () => {
	/** An account that is charged for each creation before its answer is lost. */
	function lossy(deps: Parameters<typeof setting>[1] = {}, submitted: Submitted = UNCLEAR) {
		let left = 1_000;
		const credits = () => answer(200, { credits: left });
		const made = setting([], { balance: balanceOf(left), credits, ...deps });
		const lose = async (): Promise<string> => {
			const { end } = await made.take();
			if (end === undefined) return 'refused';
			left -= 12;
			end(submitted, KIND);
			return 'go';
		};
		const loseAll = async (count: number) => {
			const kinds: string[] = [];
			for (let index = 0; index < count; index += 1) kinds.push(await lose());
			return kinds;
		};
		return { ...made, loseAll };
	}

	test('what other tasks have cost since is not counted twice', async () => {
		const { create, loseAll } = lossy({ maximum: 35 });
		await loseAll(1);
		// The answer names the balance after both.
		await create('a', { credit_cost: 10, ec_remain_credits: 978 });
		expect(await loseAll(3)).toEqual(['go', 'go', 'refused']);
	});

	test('so it does after one that was found in the list without its cost', async () => {
		const created = { taskId: 't', createdAt: 0, answer: {} };
		const { loseAll } = lossy({ maximum: 12 }, { kind: 'created', created, found: true });
		expect(await loseAll(2)).toEqual(['go', 'refused']);
	});

	test.each<[string, Parameters<typeof setting>[1]]>([
		['it can not be read', { credits: () => answer(400) }],
		['none was known before', { balance: undefined }],
	])('where %s nothing more is created', async (_name, deps) => {
		const { loseAll, turn } = lossy(deps);
		expect(await loseAll(2)).toEqual(['go', 'refused']);
		const refusal = await turn();
		expect(refusal?.message).toMatch(
			/Max Credits can no longer be enforced.*may have been charged/,
		);
		expect(refusal?.description).toMatch(/^No task was created.* Check the credits/);
	});

	test('a later try knows it as well, from the balance before the creation', async () => {
		const store = {};
		expect(await lossy({ store, maximum: 12 }).loseAll(1)).toEqual(['go']);
		const credits = () => answer(200, { credits: 988 });
		const later = { store: saved(store), maximum: 12, balance: balanceOf(988), credits };
		expect(await setting([], later).turn()).toBeDefined();
	});

	test('without a limit nobody asks for it', async () => {
		const { loseAll, client } = lossy({ maximum: undefined });
		expect(await loseAll(3)).toEqual(['go', 'go', 'go']);
		expect(client.requests).toEqual([]);
	});
});
