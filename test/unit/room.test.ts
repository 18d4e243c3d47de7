import { Room } from '../../nodes/MediaGeneration/service/room';
import { createTask } from '../../nodes/MediaGeneration/tasks/submit';
import { answer, scriptedClient } from './replies';
import { VirtualClock } from './virtualClock';

function setUp() {
	const clock = new VirtualClock();
	const start = clock.now();
	const room = new Room();
	const asked: Array<[name: string, atMs: number, why: string]> = [];
	const wait = async (name: string, place: number, ms?: number, signal?: AbortSignal) => {
		const { now, sleep } = clock;
		const why = await room.wait(place, { now, sleep, signal }, { ms, deadline: start + 60_000 });
		asked.push([name, clock.now() - start, why]);
	};
	return { clock, start, room, asked, wait };
}

describe('the line before a full account', () => {
	test('only the first asks by time, then the next', async () => {
		const { clock, room, asked, wait } = setUp();
		const all = ['a', 'b', 'c'].map(async (name) => await wait(name, room.newPlace(), 2_000));
		await clock.run(Promise.all(all));
		expect(asked).toEqual([
			['a', 2_000, 'time'],
			['b', 4_000, 'time'],
			['c', 6_000, 'time'],
		]);
		expect(room.full).toBe(false);
	});

	test('a place that gets free lets the oldest ask at once, each place another one', async () => {
		const { clock, start, room, asked, wait } = setUp();
		clock.at(start + 500, () => {
			room.pass('ended');
			room.pass('room');
		});
		const all = ['a', 'b', 'c'].map(async (name) => await wait(name, room.newPlace(), 2_000));
		await clock.run(Promise.all(all));
		expect(asked).toEqual([
			['a', 500, 'ended'],
			['b', 500, 'room'],
			['c', 2_500, 'time'],
		]);
	});

	test('who was refused again gets its old place back', async () => {
		const { clock, room, asked, wait } = setUp();
		const [first, second] = [room.newPlace(), room.newPlace()];
		const younger = wait('younger', second, 2_000);
		await clock.run(Promise.all([younger, wait('older', first, 2_000)]));
		expect(asked.map(([name]) => name)).toEqual(['older', 'younger']);
	});

	test('who is stopped leaves, and the next is the first', async () => {
		const { clock, start, room, asked, wait } = setUp();
		const stop = new AbortController();
		clock.at(start + 1_000, () => stop.abort());
		const all = [
			wait('stopped', room.newPlace(), 2_000, stop.signal),
			wait('next', room.newPlace(), 2_000),
		];
		await clock.run(Promise.all(all));
		expect(asked).toEqual([
			['stopped', 1_000, 'time'],
			['next', 3_000, 'time'],
		]);
	});

	test('a turn of somebody who was stopped at the same moment is not lost', async () => {
		const { clock, start, room, asked, wait } = setUp();
		const stop = new AbortController();
		clock.at(start + 1_000, () => {
			room.pass('ended');
			stop.abort();
		});
		const all = [
			wait('stopped', room.newPlace(), 30_000, stop.signal),
			wait('next', room.newPlace(), 30_000),
		];
		await clock.run(Promise.all(all));
		expect(asked.at(-1)).toEqual(['next', 1_000, 'ended']);
	});

	test('nobody waits longer than it may', async () => {
		const { clock, room, start } = setUp();
		void room.wait(room.newPlace(), clock, { ms: 50_000, deadline: start + 60_000 });
		await clock.run(room.wait(room.newPlace(), clock, { ms: 1_000, deadline: start + 3_000 }));
		expect(clock.now() - start).toBe(3_000);
	});

	test('asks often where there was room a moment ago, and the seldomer the longer there was none', async () => {
		const { clock, start, room, asked, wait } = setUp();
		room.noteRoom(start);
		const place = room.newPlace();
		await clock.run(
			(async () => {
				while (clock.now() - start < 50_000) await wait('first', place);
			})(),
		);
		const times = asked.map(([, atMs]) => atMs);
		expect(times.slice(0, 6)).toEqual([400, 800, 1_200, 1_600, 2_000, 2_500]);
		const pauses = times.map((atMs, index) => atMs - (times[index - 1] ?? 0));
		expect(pauses.every((pause, index) => pause >= (pauses[index - 1] ?? 0))).toBe(true);
		expect(pauses.at(-1)).toBe(5_000);
		room.noteRoom(clock.now());
		const before = clock.now();
		await clock.run(wait('again', place));
		expect(clock.now() - before).toBe(400);
	});

	test('passing on to nobody does nothing', () => {
		expect(() => new Room().pass('ended')).not.toThrow();
	});
});

/** A service that lets so many tasks of 1 s be active, and creations that all want one at the same moment. */
function busyService(limit: number) {
	const clock = new VirtualClock();
	let active = 0;
	let most = 0;
	let refusals = 0;
	let number = 0;
	const client = scriptedClient(() => {
		if (active >= limit) {
			refusals += 1;
			return answer(429, { code: 'active_task_limit', error: 'active task limit' });
		}
		most = Math.max(most, (active += 1));
		return answer(200, { task_id: `t${(number += 1)}` });
	});
	const deps = { client, now: clock.now, sleep: clock.sleep, random: Math.random };
	const request = { kind: 'x', path: '/v1/task/x', qs: {}, body: {} };
	const one = async (deadline: number, tellsEnd: boolean) => {
		const submitted = await createTask(deps, request, deadline);
		if (!submitted.ok) return submitted.failure.outcome;
		await clock.sleep(1_000);
		active -= 1;
		if (tellsEnd) client.account.room.pass('ended');
		return 'created';
	};
	return { clock, one, most: () => most, refusals: () => refusals };
}

describe('many creations and a full account', () => {
	test('all get in, in the least time, with few questions in vain', async () => {
		const { clock, one, most, refusals } = busyService(20);
		const start = clock.now();
		const all = Array.from({ length: 400 }, async () => await one(start + 600_000, true));
		expect(new Set(await clock.run(Promise.all(all)))).toEqual(new Set(['created']));
		expect(most()).toBe(20);
		expect(clock.now() - start).toBeLessThan(20_000 * 1.1);
		// All ask once at the same moment, before anybody knows; after that hardly any.
		expect(refusals()).toBeLessThan(400 + 40);
	});

	test('who comes later does not ask in vain', async () => {
		const { clock, one, refusals } = busyService(20);
		const start = clock.now();
		const all = Array.from({ length: 400 }, async (_, index) => {
			await clock.sleep(10 * index);
			return await one(start + 600_000, true);
		});
		expect(new Set(await clock.run(Promise.all(all)))).toEqual(new Set(['created']));
		expect(refusals()).toBeLessThan(40);
	});

	test('they get in even where the ends of tasks are never heard of', async () => {
		const { clock, one, refusals } = busyService(2);
		const start = clock.now();
		const all = Array.from({ length: 20 }, async () => await one(start + 600_000, false));
		expect(new Set(await clock.run(Promise.all(all)))).toEqual(new Set(['created']));
		// 10 s is the least.
		expect(clock.now() - start).toBeLessThan(13_000);
		expect(refusals()).toBeLessThan(20 + 35);
	});

	test('a refusal of another kind does not hold up the line', async () => {
		const clock = new VirtualClock();
		let count = 0;
		const client = scriptedClient(() =>
			(count += 1) <= 50 ? answer(429, { code: 'active_task_limit' }) : answer(401, {}),
		);
		const deps = { client, now: clock.now, sleep: clock.sleep, random: () => 0.5 };
		const request = { kind: 'x', path: '/v1/task/x', qs: {}, body: {} };
		const start = clock.now();
		const all = Array.from(
			{ length: 50 },
			async () => await createTask(deps, request, start + 600_000),
		);
		for (const result of await clock.run(Promise.all(all)))
			expect(result).toMatchObject({ ok: false, failure: { outcome: 'rejected' } });
		expect(clock.now() - start).toBeLessThan(2_000);
	});

	test('at the deadline the service is quoted', async () => {
		const { clock, one } = busyService(0);
		const start = clock.now();
		const all = Array.from({ length: 5 }, async () => await one(start + 30_000, true));
		expect(await clock.run(Promise.all(all))).toEqual(Array(5).fill('rejected'));
		expect(clock.now() - start).toBe(30_000);
	});
});
