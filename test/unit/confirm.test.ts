/** What callbacks may cost: the service, creations, and each other. docs/trigger.md, "What it answers"; the account is everybody's. */
import { confirm } from '../../nodes/MediaGeneration/trigger/confirm';
import type { Posted } from '../../nodes/MediaGeneration/trigger/webhook';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { now } from '../../nodes/MediaGeneration/base/clock';
import { pause } from '../../nodes/MediaGeneration/n8n/realClock';
import { parseTask } from '../../nodes/MediaGeneration/answers/task';
import { onMachine } from '../support/machine';
import { answer, scriptedClient } from '../support/replies';

const DONE = { status: 'done', metadata: { output_url: 'https://files.example/a.png' } };
const BUDGET_MS = 12_000;

const claimOf = (taskId: string, type = '', status = 'done'): Posted => ({
	taskId,
	task: parseTask({ id: taskId, type, status }),
});

/** A service with an account of its own. Tasks whose ID begins with "slow" are answered when it is told to. */
function service(says: (taskId: string, route: string) => Reply) {
	let answerSlow = () => {};
	const slow = new Promise<void>((resolve) => (answerSlow = resolve));
	const client = scriptedClient(async ({ path }) => {
		const [, route = '', , taskId = ''] = path.split('/');
		if (taskId.startsWith('slow')) await slow;
		return says(decodeURIComponent(taskId), route);
	});
	return {
		client,
		answerSlow: () => answerSlow(),
		ask: async (claim: Posted, budgetMs = BUDGET_MS) =>
			await confirm(client, claim, now() + budgetMs),
		get paths() {
			return client.requests.map(({ path }) => path);
		},
	};
}
const allDone = (taskId: string) => answer(200, { id: taskId, ...DONE });
const slowOnes = (count: number) =>
	Array.from({ length: count }, (_, index) => claimOf(`slow-${index}`));

test('a callback that reports the failure that the service does not state plainly counts as one poll', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service((id) => answer(200, { success: false, id, status: 'error' }));
		expect((await ask(claimOf('a', '', 'error'))).kind).toBe('failed');
		expect(machine.elapsed).toBe(0);
		expect((await ask(claimOf('b'))).kind).toBe('failed');
		expect([machine.elapsed, client.requests.length]).toEqual([2_500, 3]);
	});
});

test('no poll takes longer than 5 s or the rest of the budget; without a rest there is none', async () => {
	await onMachine(async () => {
		const client = scriptedClient(async ({ timeoutMs }) => {
			await pause(timeoutMs);
			return answer(503);
		});
		expect((await confirm(client, claimOf('a'), now() + BUDGET_MS)).kind).toBe('busy');
		const times = client.requests.map(({ timeoutMs }) => timeoutMs);
		expect(times).toEqual([5_000, 5_000, BUDGET_MS - 10_000 - 250 - 500]);
		const unasked = { kind: 'busy', detail: 'the service was not asked' };
		expect(await confirm(client, claimOf('a'), now())).toEqual(unasked);
		expect(client.requests).toHaveLength(3);
	});
});

describe('many callbacks at once', () => {
	test('ten polls at a time; one that gets no turn within its time is not made', async () => {
		await onMachine(async (machine) => {
			const { ask, client, answerSlow } = service(allDone);
			const first = slowOnes(10).map(async (claim) => await ask(claim, 60_000));
			expect(await ask(claimOf('late'), 4_000)).toEqual({
				kind: 'busy',
				detail: 'too many callbacks at once',
			});
			expect(machine.elapsed).toBe(4_000);
			answerSlow();
			const verdicts = await Promise.all(first);
			expect(verdicts.map(({ kind }) => kind)).toEqual(Array(10).fill('done'));
			await machine.pause(60_000);
			expect(client.requests).toHaveLength(10);
			expect((await ask(claimOf('later'))).kind).toBe('done');
		});
	});

	test("another account's callbacks wait for none of them", async () => {
		await onMachine(async (machine) => {
			const other = service(allDone);
			const calls = slowOnes(40).map(async (claim) => await other.ask(claim));
			expect((await service(allDone).ask(claimOf('t1'))).kind).toBe('done');
			expect(machine.elapsed).toBe(0);
			other.answerSlow();
			await Promise.all(calls);
		});
	});
});

test('all calls that name a task share one answer, and none copies it', async () => {
	await onMachine(async () => {
		const { ask, client, answerSlow } = service(allDone);
		const asking = Array.from({ length: 400 }, async () => await ask(claimOf('slow')));
		answerSlow();
		expect(new Set(await Promise.all(asking)).size).toBe(1);
		expect(client.requests).toMatchObject([{ purpose: 'outsider' }]);
	});
});

test('a key that is refused by one route says nothing of the task on the other', async () => {
	await onMachine(async () => {
		const { ask, client } = service(() => answer(client.requests.length === 1 ? 401 : 404));
		expect((await ask(claimOf('t1'))).kind).toBe('busy');
		expect((await ask(claimOf('t1'))).kind).toBe('missing');
	});
});

test('a task that the service does not know is not asked about again for 10 s', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service((taskId) =>
			taskId === 'known' ? allDone(taskId) : answer(404),
		);
		const kinds = async () => [(await ask(claimOf('none'))).kind, client.requests.length];
		expect(await kinds()).toEqual(['missing', 4]);
		await machine.pause(9_000);
		expect(await kinds()).toEqual(['missing', 4]);
		expect((await ask(claimOf('known'))).kind).toBe('done');
		await machine.pause(1_000);
		expect(await kinds()).toEqual(['missing', 9]);
	});
});

describe('while the service asks for a pause', () => {
	test('between polls, callbacks keep to it as well', async () => {
		await onMachine(async (machine) => {
			const { ask, client, paths } = service(allDone);
			client.account.pause('poll', now(), 20_000);
			expect(await ask(claimOf('t1'))).toMatchObject({
				detail: 'the service asked for a pause of 20 s',
			});
			expect(paths).toEqual([]);
			await machine.pause(15_000);
			expect((await ask(claimOf('t1'))).kind).toBe('done');
			expect(machine.elapsed).toBe(20_000);
		});
	});

	test('a task that ran before is not taken to run still: the callback has to come again', async () => {
		await onMachine(async () => {
			const { ask, client } = service((id) => {
				client.account.pause('poll', now(), 20_000);
				return answer(200, { id, status: 'doing' });
			});
			expect((await ask(claimOf('t1'))).kind).toBe('busy');
		});
	});

	test.each<[string, Reply]>([
		['describes a task', allDone('slow-1')],
		['is busy, too, and names no time', answer(500)],
	])('another answer, that was under way and %s, does not end it', async (_name, other) => {
		await onMachine(async (machine) => {
			const pause = answer(503, '', { 'retry-after': '20' });
			const { ask, client, answerSlow } = service((taskId) =>
				taskId === 't1' ? pause : taskId === 'slow-1' ? other : allDone(taskId),
			);
			const underWay = ask(claimOf('slow-1'));
			expect((await ask(claimOf('t1'))).kind).toBe('busy');
			answerSlow();
			await underWay;
			expect((await ask(claimOf('t2'))).kind).toBe('busy');
			expect(client.requests).toHaveLength(2);
			await machine.pause(20_000);
			expect((await ask(claimOf('t2'))).kind).toBe('done');
		});
	});
});

test('a copy shares the answer to a lagging service; what says that its task still runs is content sooner, alone', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service((id) =>
			answer(200, machine.elapsed < 3_000 ? { id, status: 'doing' } : { id, ...DONE }),
		);
		client.account.created('t1');
		const running = [1, 2].map(async () => await ask(claimOf('t1', '', 'doing')));
		const copies = [ask(claimOf('t1')), ask(claimOf('t1'))];
		expect((await Promise.all(running)).map(({ kind }) => kind)).toEqual(['running', 'running']);
		expect(client.account.ends).toBe(0);
		expect(machine.elapsed).toBe(0);
		expect((await Promise.all(copies)).map(({ kind }) => kind)).toEqual(['done', 'done']);
		expect([client.requests.length, client.account.ends]).toEqual([6, 1]);
	});
});
