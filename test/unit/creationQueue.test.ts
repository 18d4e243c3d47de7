import { CreationQueue } from '../../nodes/MediaGeneration/transport/creationQueue';
import { createTask, type SubmitDeps } from '../../nodes/MediaGeneration/task/create';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const failure = { outcome: 'rejected', message: 'full', description: 'later' } as const;
const refusal = { kind: 'full', failure } as const;

/** A queue before an account that was full at the start, and what asked, after how many ms: "a 250". */
function setUp(retryAfterMs?: number) {
	const clock = new VirtualClock();
	const start = clock.now();
	const queue = new CreationQueue();
	const asked: string[] = [];
	queue.refused(start, { ...refusal, retryAfterMs });
	const { now, sleep } = clock;
	const wait = async (name: string, position: number, signal?: AbortSignal) => {
		await queue.wait(position, { now, sleep, ...(signal && { signal }) }, start + 60_000);
		asked.push(`${name} ${clock.now() - start}`);
	};
	const getsIn = async (name: string) => {
		await wait(name, queue.newPosition());
		queue.created(clock.now());
	};
	/** Waits, asks and is refused, as another one is that was on its way. */
	const inVain = async (name: string) => {
		await wait(name, queue.newPosition());
		queue.refused(clock.now(), refusal);
		queue.refused(clock.now(), { ...refusal, retryAfterMs: 0 });
	};
	return { clock, start, queue, asked, wait, getsIn, inVain };
}

describe('the queue before a full account', () => {
	test('only the first asks, and the next one after a pause', async () => {
		const { clock, queue, asked, inVain } = setUp();
		expect(queue.full).toBe(false);
		await clock.run(Promise.all(['a', 'b', 'c'].map(inVain)));
		expect(asked).toEqual(['a 5000', 'b 10000', 'c 15000']);
		expect(queue.full).toBe(false);
	});

	test('the pause follows the tasks of late, also after many that ran much longer', async () => {
		const { clock, queue } = setUp();
		queue.created(clock.now());
		for (const seconds of [60, 4])
			for (let created = 0; created < 100; created += 1) {
				await clock.run(clock.sleep(seconds * 1_000));
				queue.created(clock.now());
				queue.ended();
			}
		const askedAt = clock.now();
		queue.refused(askedAt, refusal);
		await clock.run(queue.wait(queue.newPosition(), clock, askedAt + 600_000));
		const pauseMs = clock.now() - askedAt;
		expect(pauseMs).toBeGreaterThan(8_000);
		expect(pauseMs).toBeLessThan(12_000);
	});

	test('one that finds a slot lets the next one ask at once, until one is refused', async () => {
		const { clock, asked, getsIn, inVain } = setUp();
		await clock.run(Promise.all([getsIn('a'), getsIn('b'), inVain('c'), inVain('d')]));
		expect(asked).toEqual(['a 5000', 'b 5000', 'c 5000', 'd 10000']);
	});

	test('each task that ends lets one creation go at once, and no other one', async () => {
		const { clock, start, queue, asked, getsIn, inVain } = setUp(30_000);
		clock.at(start + 100, () => {
			queue.ended();
			queue.ended();
		});
		await clock.run(Promise.all([getsIn('a'), getsIn('b'), inVain('c')]));
		expect(asked).toEqual(['a 100', 'b 100', 'c 30000']);
	});

	test('a slot that is free before anybody waits is kept for the next one, and for no other', async () => {
		const { clock, queue, asked, wait } = setUp(30_000);
		clock.at(clock.now() + 100, () => queue.next());
		await clock.run(wait('a', queue.newPosition()));
		queue.ended();
		await clock.run(Promise.all(['b', 'c'].map((name) => wait(name, queue.newPosition()))));
		expect(asked).toEqual(['a 100', 'b 100', 'c 30000']);
	});

	test('few are under way at once again after a refusal, and more once one gets in while nobody waits', () => {
		const queue = new CreationQueue();
		const room = () => {
			const answered = [];
			while (queue.open) answered.push(queue.sent());
			for (const answer of answered) answer();
			return answered.length;
		};
		for (let created = 0; created < 40; created += 1) queue.created(0);
		expect(room()).toBe(20);
		queue.refused(0, refusal);
		expect(room()).toBe(10);
		queue.created(0);
		expect(room()).toBe(11);
	});

	test('a turn of somebody who was stopped at the same moment is not lost', async () => {
		const { clock, start, queue, asked, wait } = setUp(30_000);
		const [stop, early] = [new AbortController(), new AbortController()];
		clock.at(start + 500, () => early.abort());
		clock.at(start + 1_000, () => {
			queue.next();
			stop.abort();
		});
		await clock.run(
			Promise.all([
				wait('stopped', queue.newPosition(), stop.signal),
				wait('early', queue.newPosition(), early.signal),
				wait('next', queue.newPosition()),
			]),
		);
		expect(asked[0]).toBe('early 500');
		expect(asked.at(-1)).toBe('next 1000');
	});

	test('the log says once a minute for how many the account is full, and since when', async () => {
		const { clock, start, queue } = setUp(50_000);
		expect(queue.news(start)).toBe(
			'Media Generation: the account is full; since the last line, requests refused: 1; creations that wait: 0',
		);
		const waits = [queue.newPosition(), queue.newPosition()].map(
			async (position) => await queue.wait(position, clock, start + 100_000),
		);
		await clock.advance(40_000);
		queue.refused(clock.now(), { ...refusal, retryAfterMs: 50_000 });
		expect(queue.news(clock.now())).toBeUndefined();
		await clock.advance(20_000);
		expect(queue.news(clock.now())).toBe(
			'Media Generation: the account is full; since the last line, requests refused: 1; creations that wait: 2, the oldest for 60 s',
		);
		await clock.run(Promise.all(waits));
		expect(queue.news(clock.now())).toBeUndefined();
	});

	test('nobody waits longer than it may', async () => {
		const { clock, queue, start } = setUp(50_000);
		void queue.wait(queue.newPosition(), clock, start + 60_000);
		await clock.run(queue.wait(queue.newPosition(), clock, start + 3_000));
		expect(clock.now() - start).toBe(3_000);
	});

	test('one whose time is over asks nothing, and puts nobody off', async () => {
		const { clock, start, queue, asked, inVain } = setUp(5_000);
		const late = async () => {
			const { now, sleep } = clock;
			await queue.wait(queue.newPosition(), { now, sleep }, start + 5_000);
		};
		await clock.run(Promise.all([late(), inVain('next')]));
		expect(asked).toEqual(['next 5000']);
	});

	test('the first one whose question is never answered does not hold up the others', async () => {
		const { clock, queue, asked, wait, inVain } = setUp();
		await clock.run(Promise.all([wait('silent', queue.newPosition()), inVain('next')]));
		expect(asked).toEqual(['silent 5000', 'next 10000']);
	});

	test.each([
		['full', 1, [4_000, 8_800, 28_160, 60_000]],
		['full', 0, [5_000, 5_000, 5_000, 5_000]],
		['limited', 1, [250, 450, 810, 20_000]],
		['limited', 0, [250, 450, 810, 5_000]],
	] as const)(
		'%s, with %d tasks of its own: asks by how long its tasks run, or less and less often',
		async (kind, tasks, [...pauses]) => {
			const { clock, queue } = setUp();
			const refused = () => queue.refused(clock.now(), { kind, failure });
			const asks = async () => await queue.wait(queue.newPosition(), clock, Infinity);
			for (let task = 0; task < tasks; task += 1) queue.created(clock.now());
			refused();
			const found: number[] = [];
			for (let before = clock.now(); found.length < 12; before = clock.now()) {
				await clock.run(asks());
				refused();
				found.push(Math.round(clock.now() - before));
			}
			expect([...found.slice(0, 3), found.at(-1)]).toEqual(pauses);
		},
	);

	test('asks in between, too, while its own slots are taken again', async () => {
		const { clock, start, queue, asked, getsIn } = setUp();
		queue.created(clock.now());
		queue.refused(start, refusal);
		for (let s = 1; s <= 3; s += 1) clock.at(start + s * 1_000, () => queue.ended());
		await clock.run(Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(getsIn)));
		expect(asked).toEqual(['a 1000', 'b 2000', 'c 3000', 'd 4000', 'e 4000', 'f 4000']);
	});
});

const request = { kind: 'x', path: '/v1/task/x', qs: {}, body: {} };

function depsOf(client: SubmitDeps['client'], { now, sleep }: VirtualClock): SubmitDeps {
	const context = {} as SubmitDeps['context'];
	const { signal: over } = new AbortController();
	const ledger = { run: { executionId: '7' } };
	return { client, context, ledger, now, sleep, random: Math.random, over, stop: undefined };
}

describe('many creations and a full account', () => {
	test('all get in, in little more than the least time, with few questions in vain', async () => {
		const clock = new VirtualClock();
		const start = clock.now();
		let [active, most, refusals] = [0, 0, 0];
		const client = scriptedClient((_request, count) => {
			if (active >= 20) {
				refusals += 1;
				return answer(429, { code: 'active_task_limit', error: 'active task limit' });
			}
			if (refusals > 0 && count % 8 === 0) return answer(400); // Its turn goes on to the next.
			most = Math.max(most, (active += 1));
			return answer(200, { task_id: `t${count}` });
		});
		const deps = depsOf(client, clock);
		const all = Array.from({ length: 450 }, async () => {
			const limits = { deadline: start + 600_000, boundsFull: true };
			const submitted = await createTask(deps, request, limits);
			if (submitted.kind === 'failed') return;
			await clock.sleep(1_000);
			active -= 1;
			client.account.queue.ended();
		});
		await clock.run(Promise.all(all));
		expect(client.requests).toHaveLength(all.length + refusals);
		expect(most).toBe(20);
		expect(clock.now() - start).toBeLessThan(20_000 * 1.05);
		expect(refusals).toBeLessThan(25);
	});

	test('a service that is slow to answer holds nobody up for long, however short the time', async () => {
		const clock = new VirtualClock();
		const start = clock.now();
		const sentAt: number[] = [];
		const client = scriptedClient(async () => {
			sentAt.push(clock.now() - start);
			await clock.sleep(30_000);
			return answer(200, { task_id: `t${sentAt.length}` });
		});
		const deps = depsOf(client, clock);
		const all = Array.from({ length: 30 }, async (_, index) => {
			const deadline = start + (index < 20 ? 600_000 : 2_000);
			return await createTask(deps, request, { deadline, boundsFull: true });
		});
		const kinds = (await clock.run(Promise.all(all))).map(({ kind }) => kind);
		expect(new Set(kinds)).toEqual(new Set(['created']));
		expect([sentAt[9], sentAt[10], sentAt[29]]).toEqual([0, 1_000, 3_000]);
	});
});
