/** What callbacks may cost: the service, creations, and each other. docs/trigger.md, "What it answers"; the account is everybody's. */
import { judgePosted } from '../../nodes/MediaGeneration/trigger/confirm';
import type { Posted } from '../../nodes/MediaGeneration/trigger/webhook';
import { CallRefusal } from '../../nodes/MediaGeneration/n8n/webhookCall';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { now } from '../../nodes/MediaGeneration/base/clock';
import { pause } from '../../nodes/MediaGeneration/n8n/realClock';
import { parseTask } from '../../nodes/MediaGeneration/answers/task';
import { onMachine } from '../support/machine';
import { answer, scriptedClient } from '../support/replies';

const DONE = { status: 'done', metadata: { output_url: 'https://files.example/a.png' } };
const BUDGET_MS = 12_000;
const [UNKNOWN, UNASKED, NOT_OVER] = [/does not know/, /could not be asked/, /not show the end/];

const claimOf = (taskId: string, status = 'done'): Posted => ({
	taskId,
	task: parseTask({ id: taskId, status }),
});

/** A service with an account of its own. Tasks whose ID begins with "slow" are answered when it is told to. */
function service(says: (taskId: string, route: string) => Reply | Promise<Reply>) {
	let answerSlow = () => {};
	const slow = new Promise<void>((resolve) => (answerSlow = resolve));
	const client = scriptedClient(async ({ path }) => {
		const [, route = '', , taskId = ''] = path.split('/');
		if (taskId.startsWith('slow')) await slow;
		return await says(decodeURIComponent(taskId), route);
	});
	/** What the task is by its verdict, or why the sender has to come again. */
	const ask = async (claim: string | Posted, { signed = false, budgetMs = BUDGET_MS } = {}) => {
		const posted = typeof claim === 'string' ? claimOf(claim) : claim;
		const asked = { posted, signed, deadline: now() + budgetMs };
		const judged = judgePosted(client, asked).then(({ kind }) => kind);
		return await judged.catch((error: unknown) => {
			if (!(error instanceof CallRefusal)) throw error;
			expect(error.status).toBe(503);
			return error.message;
		});
	};
	return { client, answerSlow: () => answerSlow(), ask };
}
const allDone = (id: string) => answer(200, { id, ...DONE });
const slowOnes = (count: number) => Array.from({ length: count }, (_, index) => `slow-${index}`);

test('a callback that reports the failure that the service does not state plainly counts as one poll', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service((id) => answer(200, { success: false, id, status: 'error' }));
		expect(await ask(claimOf('a', 'error'))).toBe('failed');
		expect(machine.elapsed).toBe(0);
		// Without such a report, the request may have failed instead of the task.
		expect(await ask('b')).toMatch(UNASKED);
		expect(client.requests.length).toBeGreaterThan(3);
	});
});

test('no callback is sent away for such a failure while there is time: its sender may not come again', async () => {
	await onMachine(async (machine) => {
		const { ask } = service((id) =>
			answer(200, {
				id,
				...(machine.elapsed < 4_000 ? { success: false, status: 'error' } : DONE),
			}),
		);
		expect(await ask('a')).toBe('done');
	});
});

test('no poll takes longer than 5 s or the rest of the budget; without a rest there is none', async () => {
	await onMachine(async () => {
		const client = scriptedClient(async ({ timeoutMs }) => {
			await pause(timeoutMs);
			return answer(503);
		});
		const ask = async (budgetMs: number) => {
			const asked = { posted: claimOf('a'), signed: false, deadline: now() + budgetMs };
			await expect(judgePosted(client, asked)).rejects.toThrow(UNASKED);
		};
		await ask(BUDGET_MS);
		const times = client.requests.map(({ timeoutMs }) => timeoutMs);
		expect(times).toEqual([5_000, 5_000, BUDGET_MS - 10_000 - 250 - 500]);
		await ask(0);
		expect(client.requests).toHaveLength(3);
	});
});

test('a post of somebody who knows a running task takes nothing of the time that its callback has', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service((id) =>
			answer(200, { id, ...(machine.elapsed < 10_000 ? { status: 'doing' } : DONE) }),
		);
		client.account.made.add('a');
		const early = ask('a');
		await machine.pause(9_000);
		const callback = ask('a');
		expect(await early).toMatch(NOT_OVER);
		expect(await callback).toBe('done');
	});
});

describe('many callbacks at once', () => {
	test('two strangers are asked about at a time, twenty wait within their time, and further ones are sent away at once', async () => {
		await onMachine(async (machine) => {
			const { ask, client, answerSlow } = service(allDone);
			const first = slowOnes(21).map(async (id) => await ask(id, { budgetMs: 60_000 }));
			const vain = ask('vain', { budgetMs: 1_000 });
			await machine.pause(1);
			expect(client.requests).toHaveLength(2);
			expect(await ask('late')).toMatch(UNASKED);
			expect(machine.elapsed).toBe(1);
			expect(await vain).toMatch(UNASKED);
			expect([machine.elapsed, client.requests.length]).toEqual([1_000, 2]);
			answerSlow();
			expect(await Promise.all(first)).toEqual(Array(21).fill('done'));
			expect(await ask('later')).toBe('done');
		});
	});

	test.each<[string, object, (made: { add(id: string): void }) => void]>([
		['a task that this process made', {}, (made) => made.add('t1')],
		['the call of a signed URL', { signed: true }, () => {}],
	])('%s waits for none of them', async (_name, how, prepare) => {
		await onMachine(async (machine) => {
			const { ask, client, answerSlow } = service(allDone);
			prepare(client.account.made);
			const flood = slowOnes(150).map(async (id) => await ask(id));
			// Nor for the pause that they made the service ask for.
			client.account.pause('callback', now(), 20_000);
			expect(await ask('t1', how)).toBe('done');
			expect(machine.elapsed).toBe(0);
			answerSlow();
			await Promise.all(flood);
		});
	});

	test('ten of our own are asked about at a time', async () => {
		await onMachine(async (machine) => {
			const { ask, client, answerSlow } = service(allDone);
			const own = slowOnes(30).map(async (id) => await ask(id, { signed: true, budgetMs: 60_000 }));
			await machine.pause(1);
			expect(client.requests).toHaveLength(10);
			answerSlow();
			expect(await Promise.all(own)).toEqual(Array(30).fill('done'));
		});
	});

	test("another account's callbacks wait for none of them", async () => {
		await onMachine(async (machine) => {
			const other = service(allDone);
			const calls = slowOnes(40).map(async (id) => await other.ask(id));
			expect(await service(allDone).ask('t1')).toBe('done');
			expect(machine.elapsed).toBe(0);
			other.answerSlow();
			await Promise.all(calls);
		});
	});
});

test('all calls that name a task, in whatever spelling, share one answer', async () => {
	await onMachine(async (machine) => {
		const { ask, client, answerSlow } = service(allDone);
		const spellings = Array(100).fill(['slow', 'sLOW']).flat() as string[];
		const calls = () => spellings.map(async (id) => await ask(id));
		const early = calls();
		await machine.pause(1_000);
		const late = calls();
		answerSlow();
		expect(new Set(await Promise.all([...early, ...late]))).toEqual(new Set(['done']));
		expect(client.requests).toMatchObject([{ purpose: 'callback' }]);
	});
});

describe('a task that the service does not know', () => {
	test('is not asked about again for 10 s, and never is that final', async () => {
		await onMachine(async (machine) => {
			const { ask, client } = service((id) => (id === 'known' ? allDone(id) : answer(404)));
			const refused = async () => {
				expect(await ask('none')).toMatch(UNKNOWN);
				return client.requests.length;
			};
			expect(await refused()).toBe(4);
			await machine.pause(9_000);
			expect(await refused()).toBe(4);
			expect(await ask('known')).toBe('done');
			await machine.pause(1_000);
			expect(await refused()).toBe(9);
		});
	});

	test('is asked about anew once this process made it, or a signed URL is called', async () => {
		await onMachine(async () => {
			let isThere = false;
			const { ask, client } = service((id) => (isThere ? allDone(id) : answer(404)));
			for (const id of ['made', 'signed']) expect(await ask(id)).toMatch(UNKNOWN);
			isThere = true;
			client.account.made.add('made');
			expect(await ask('made')).toBe('done');
			expect(await ask('signed', { signed: true })).toBe('done');
		});
	});
});

test.each<[string, object, string | RegExp]>([
	['a stranger', {}, UNASKED],
	['a signed URL', { signed: true }, 'done'],
])('an answer that names no ID, for %s', async (_name, how, expected) => {
	await onMachine(async () => {
		const { ask } = service(() => answer(200, DONE));
		const said =
			typeof expected === 'string' ? expected : (expect.stringMatching(expected) as string);
		// Copies share an answer, and what it is worth.
		expect(await Promise.all([ask('t1', how), ask('T1', how)])).toEqual([said, said]);
	});
});

test('while the service asks for a pause between polls, callbacks keep to it as well', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service(allDone);
		client.account.pause('poll', now(), 20_000);
		expect(await ask('t1')).toMatch(UNASKED);
		expect(client.requests).toEqual([]);
		await machine.pause(15_000);
		expect(await ask('t1')).toBe('done');
		expect(machine.elapsed).toBe(20_000);
	});
});

test('a lagging service: an end is waited for, whoever says that the task still runs is content at once', async () => {
	await onMachine(async (machine) => {
		const { ask, client } = service((id) =>
			answer(200, machine.elapsed < 3_000 ? { id, status: 'doing' } : { id, ...DONE }),
		);
		client.account.made.add('t1');
		const running = [1, 2].map(async () => await ask(claimOf('t1', 'doing')));
		const copies = [ask('t1'), ask('t1')];
		expect(await Promise.all(running)).toEqual(['running', 'running']);
		expect([machine.elapsed, client.account.made.ends]).toEqual([0, 0]);
		expect(await Promise.all(copies)).toEqual(['done', 'done']);
		expect([client.requests.length, client.account.made.ends]).toEqual([6, 1]);
	});
});
