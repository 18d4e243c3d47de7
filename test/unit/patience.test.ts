/** How long a creation is tried, on a virtual clock: patience counts from what it is for, and no pause outlasts the deadline. */
import { createTask } from '../../nodes/MediaGeneration/create/submit';
import type { Reply } from '../../nodes/MediaGeneration/service/client';
import { lookAtTask } from '../../nodes/MediaGeneration/service/look';
import { answer, noAnswer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const REQUEST = { kind: 'sound-effect', path: '/v1/task/sound-effect', body: { text: 'rain' } };
const CREATED = answer(200, { success: true, task_id: 't1' });
const FULL = answer(429, { code: 'active_task_limit' });
const RATE = answer(429, { message: 'rate limit' });
const REFUSED = noAnswer({ kind: 'unconnected', reason: 'connect refused' });

function setUp(replies: (ageMs: number) => Reply, timeoutMs = 600_000) {
	const clock = new VirtualClock();
	const start = clock.now();
	const client = scriptedClient(({ method }) =>
		method === 'POST'
			? replies(clock.now() - start)
			: answer(503, { code: 'server_busy' }, { 'retry-after': '300' }),
	);
	const { now, sleep } = clock;
	return {
		clock,
		client,
		age: () => clock.now() - start,
		create: async () =>
			await createTask({ client, now, sleep, random: () => 0.5 }, REQUEST, start + timeoutMs),
	};
}

describe('patience for a connection counts from the first such failure', () => {
	test.each<[string, Reply]>([
		['in the queue before a full account', FULL],
		['before a rate limit', RATE],
	])('after 70 s %s, one refused connection is tried again', async (_, before) => {
		let refusals = 0;
		const { clock, create } = setUp((ageMs) => {
			if (ageMs < 70_000) return before;
			refusals += 1;
			return refusals === 1 ? REFUSED : CREATED;
		});
		expect(await clock.run(create())).toMatchObject({ kind: 'created', created: { taskId: 't1' } });
		expect(refusals).toBe(2);
	});

	test('after that, it has its end: about a minute', async () => {
		const { clock, age, create } = setUp((ageMs) => (ageMs < 70_000 ? FULL : REFUSED));
		expect(await clock.run(create())).toMatchObject({
			kind: 'failed',
			failure: { outcome: 'rejected' },
		});
		expect(age()).toBeGreaterThan(70_000 + 25_000);
		expect(age()).toBeLessThan(70_000 + 75_000);
	});

	test('50 s of refused connections take nothing from the patience with a limit without a name', async () => {
		const { clock, age, create } = setUp((ageMs) =>
			ageMs < 50_000 ? REFUSED : ageMs < 100_000 ? answer(429) : CREATED,
		);
		expect(await clock.run(create())).toMatchObject({ kind: 'created' });
		expect(age()).toBeGreaterThan(100_000);
	});

	test('a limit without a name, after 70 s in the queue, is tried again, too', async () => {
		const { clock, create } = setUp((ageMs) =>
			ageMs < 70_000 ? FULL : ageMs < 80_000 ? answer(429) : CREATED,
		);
		expect(await clock.run(create())).toMatchObject({ kind: 'created' });
	});
});

test('a pause that looks of another run extend again and again outlasts no deadline', async () => {
	const { clock, client, age, create } = setUp(() => CREATED, 10_000);
	const at = { taskId: 't0', kind: 'x', route: 'v1' as const, timeoutMs: 5_000 };
	const start = clock.now();
	for (let turn = 0; turn < 14; turn += 1)
		clock.at(start + turn * 200_000, () => void lookAtTask(client, at, clock.now));
	await clock.advance(1);
	await clock.run(create());
	expect(age()).toBeLessThanOrEqual(12_000);
});

test('a look that asks both routes has one time limit for both', async () => {
	const clock = new VirtualClock();
	const start = clock.now();
	const client = scriptedClient(async ({ path, timeoutMs }) => {
		await clock.sleep(path.startsWith('/v1/') ? 1_900 : timeoutMs);
		return path.startsWith('/v1/') ? answer(404) : noAnswer();
	});
	const at = { taskId: 't0', kind: 'x', route: 'auto' as const, timeoutMs: 2_000 };
	await clock.run(lookAtTask(client, at, clock.now));
	expect(client.requests).toHaveLength(2);
	expect(clock.now() - start).toBeLessThanOrEqual(2_000);
});
