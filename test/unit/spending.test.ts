/** What the tasks of a run cost according to the service, and when "Stop After Credits" ends their creation. */
import { Spending, type SpendingDeps } from '../../nodes/MediaGeneration/task/spending';
import type { Submitted } from '../../nodes/MediaGeneration/task/create';
import { parseTask } from '../../nodes/MediaGeneration/answers/task';
import { costIn } from '../../nodes/MediaGeneration/answers/balance';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { answer, scriptedClient } from '../support/replies';

const FAILURE = { outcome: 'unknown' as const, message: 'm', description: 'd' };
const UNCLEAR: Submitted = { kind: 'unclear', failure: FAILURE, sentAt: 0 };
const REJECTED: Submitted = { kind: 'refused', failure: { ...FAILURE, outcome: 'rejected' } };
const created = (taskId: string, said: object = {}): Submitted => ({
	kind: 'created',
	taskId,
	createdAt: 0,
	answer: { task_id: taskId, ...said },
});

/** A run of an account whose balance the service shows as listed, the last one repeating. */
function setting(
	balances: Array<number | Reply> = [100],
	given: Partial<Omit<SpendingDeps, 'client'>> = {},
) {
	const client = scriptedClient((_, count) => {
		const balance = balances[count - 1] ?? balances.at(-1);
		return typeof balance === 'object' ? balance : answer(200, { credits: balance });
	});
	const plain = { store: {}, run: { executionId: '7' }, maximum: 25, signal: undefined };
	const spending = new Spending({ client, ...plain, ...given });
	/** What became of each creation: how many went out before the first was refused, or why it was. */
	const create = async (...ends: Submitted[]) => {
		for (const [index, end] of ends.entries()) {
			const endTurn = await spending.turn();
			const refusal = await spending.refusal();
			if (refusal === undefined) spending.onCreation(end);
			endTurn();
			if (refusal !== undefined) return { sent: index, ...refusal };
		}
		return { sent: ends.length };
	};
	return { client, spending, create };
}

test.each<[object, number | undefined]>([
	[{ credit_cost: 5 }, 5],
	[{ credit_cost: 0 }, 0],
	[{ estimated_credits: '60' }, 60],
	[{ credit_cost: 4, estimated_credits: 7 }, 4],
	[{ data: { credit_cost: 3 } }, 3],
	[{ credit_cost: -5 }, undefined],
	[{ credit_cost: 'free' }, undefined],
])('the cost in %j is %j', (body, cost) => {
	expect(costIn(body as Record<string, unknown>)).toBe(cost);
});

describe('the falls of the balance', () => {
	const leaving = (credits: unknown) => created('x', { ec_remain_credits: credits });
	const four = ['a', 'b', 'c', 'd'].map((id) => created(id));
	test.each<[string, Array<number | Reply>, Submitted[], number]>([
		['are those that answers show', [100], [leaving(80), leaving('75'), created('c')], 2],
		['are read where an answer shows none', [100, 80, 75], four, 2],
		['count what a lost answer cost', [100, 74], [UNCLEAR, created('b')], 1],
		['count whoever spent them', [100, 70], [REJECTED, created('b')], 1],
		['are not undone by a refund or a top-up', [100, 80, 500, 495], four, 3],
		['have no tiny errors', [1, 0.9, 0.7], four, 4],
	])('%s', async (_, balances, ends, sent) => {
		const { create } = setting(balances);
		expect(await create(...ends)).toMatchObject({ sent });
	});

	test('are read once at the beginning of a run, and from its answers then', async () => {
		const store = {};
		const first = setting([100], { store });
		await first.create(leaving(90), leaving(80));
		expect(first.client.requests).toHaveLength(1);
		// Somebody else has spent the rest since.
		expect(await setting([75], { store }).create(created('c'))).toMatchObject({ sent: 0 });
	});

	test('end the creation of tasks, with words for it, and nothing is asked any more', async () => {
		const { client, create } = setting([100, 75]);
		expect(await create(created('a'), created('b'))).toEqual({
			sent: 1,
			outcome: 'invalid',
			message:
				"'Stop After Credits' is reached: the balance of the account has fallen by 25 credits since this node began, and the option allows 25",
			description:
				'No task was created for this item. Raise the option, or run the remaining items again.',
		});
		expect(await create(created('c'))).toMatchObject({ sent: 0 });
		expect(client.requests).toHaveLength(2);
	});

	test('of an account that can not be read create nothing, and are not asked for again by each item', async () => {
		const { client, create } = setting([answer(400, { error: 'no' })]);
		expect(await create(created('a'))).toEqual({
			sent: 0,
			outcome: 'invalid',
			message:
				"'Stop After Credits' needs the balance of the account: /v1/credits could not be read: HTTP 400: no",
			description:
				'No task was created for this item. Run the remaining items later, or remove the option.',
		});
		expect(await create(created('b'))).toMatchObject({ sent: 0 });
		expect(client.requests).toHaveLength(1);
	});

	test.each([
		['tries, rounds of a loop and calls of a tool', '7', 0],
		['but not other executions', '8', 1],
	])('add up over %s', async (_, executionId, sent) => {
		const store: Record<string, unknown> = {};
		// The last one is seen by the next run only.
		await setting([100], { store }).create(created('a'));
		const saved = JSON.parse(JSON.stringify(store)) as typeof store;
		const later = setting([70], { store: saved, run: { executionId } });
		expect(await later.create(created('b'))).toMatchObject({ sent });
	});
});

test('creations of all calls that share the node go one after another', async () => {
	const store = {};
	const [one, other] = [setting([100], { store }), setting([70], { store })];
	const endTurn = await one.spending.turn();
	const second = other.create(created('b'));
	expect(await one.spending.refusal()).toBeUndefined();
	one.spending.onCreation(created('a'));
	await Promise.resolve();
	expect(other.client.requests).toEqual([]);
	endTurn();
	expect(await second).toMatchObject({ sent: 0 });
});

test('without the option nobody waits or asks', async () => {
	const { client, spending, create } = setting([], { maximum: undefined });
	await spending.turn();
	expect(await create(created('a'), UNCLEAR, created('b'))).toEqual({ sent: 3 });
	expect(client.requests).toEqual([]);
});

test('what a task says later goes before what its creation said, for tasks of the run only', async () => {
	const { spending, create } = setting();
	const said = (fields: object) => parseTask({ id: 'a', status: 'doing', ...fields });
	await create(created('a', { estimated_credits: 30 }));
	spending.addCost({ kind: 'created', taskId: 'b', createdAt: 0, answer: {} });
	spending.onPoll('a', said({ credit_cost: 12 }));
	spending.onPoll('b', said({ credit_cost: 3 }));
	spending.onPoll('elsewhere', said({ credit_cost: 500 }));
	spending.onPoll('a', said({ credit_cost: null }));
	spending.onPoll('a', undefined);
	expect(spending.spent).toEqual({ tasks: 2, credits: 15, unnamed: 0 });
});

const by = 'according to the service';
test.each<[Array<number | null>, number | undefined, string[]]>([
	[[], 50, []],
	[[0], undefined, [`1 task created, 0 credits ${by}`]],
	[[0.1, 0.2], 0.3, [`2 tasks created, 0.3 credits ${by}`]],
	[[null], undefined, ['1 task created; its cost is not known yet']],
	[[null, null], 50, ['2 tasks created; their cost is not known yet']],
	[
		[7, null],
		undefined,
		[`2 tasks created, at least 7 credits ${by}; not known yet for 1 of them`],
	],
	[
		[5_000],
		100,
		[
			`1 task created, 5000 credits ${by}`,
			"5000 credits: more than 'Stop After Credits' (100). The price of a task is known only after its creation",
		],
	],
])('the hints of costs %j with a limit of %j', async (costs, maximum, expected) => {
	const { spending, create } = setting([100], { maximum });
	await create(...costs.map((credit_cost, index) => created(`t${index}`, { credit_cost })));
	const hints = spending.hints();
	expect(hints.map(({ message }) => message)).toEqual(expected);
	expect(hints.map(({ type }) => type)).toEqual(['info', 'warning'].slice(0, expected.length));
});

test.each([
	[[], '1 task taken up again, nothing paid; 0 created'],
	[[5], `1 task taken up again, nothing paid; 1 task created, 5 credits ${by}`],
])('what another execution paid for is counted apart from costs %j', async (costs, expected) => {
	const { spending, create } = setting();
	const answer = { credit_cost: 20 };
	spending.addCost({ kind: 'created', taskId: 'old', createdAt: 0, answer, isTakenUp: true });
	await create(...costs.map((credit_cost, index) => created(`t${index}`, { credit_cost })));
	spending.onPoll('old', parseTask({ id: 'old', status: 'done', credit_cost: 20 }));
	expect(spending.hints()).toEqual([{ type: 'info', message: expected }]);
});

test('the balance shows that a run went beyond the option where no task names its cost', async () => {
	const { spending, create } = setting();
	await create(created('a', { ec_remain_credits: 40 }));
	expect(spending.hints()[1]?.message).toMatch(
		/^60 credits: more than 'Stop After Credits' \(25\)/,
	);
});
