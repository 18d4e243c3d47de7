import { getEventListeners } from 'node:events';
import { busy, done, failureOf, running, setUp, task } from './pollSetting';

test('more tasks than looks at once: whoever waits for a slot has the next one that gets free', async () => {
	const { clock, start, loop, watchOf } = setUp(async () => {
		await clock.sleep(100);
		return done();
	});
	const waits = Array.from(
		{ length: 45 },
		async (_, index) => await loop.wait(watchOf(`t${index}`, 600_000, { pace: 'atOnce' })),
	);
	await clock.run(Promise.all(waits));
	expect(clock.now() - start).toBe(500);
});

test('the first looks at siblings come one after the other; a task made long ago takes no turn', async () => {
	const { clock, looks, wait } = setUp(() => done(), { random: () => 0.5 });
	await clock.run(Promise.all([wait('old', 600_000, { pace: 'atOnce' }), wait('a'), wait('b')]));
	expect(looks.map(({ taskId, ageMs }) => [taskId, Math.round(ageMs)])).toEqual([
		['old', 0],
		['a', 1_000],
		// A sibling that ended after a second shows when to look at this one.
		['b', 1_120],
	]);
});

test('whoever waits for a slot the longest is looked at first', async () => {
	const { clock, looks, loop, watchOf } = setUp(
		async () => {
			await clock.sleep(5_000);
			return done();
		},
		{ random: () => 0.5 },
	);
	const waits = [
		...Array.from({ length: 10 }, () => watchOf('first', 600_000, { pace: 'atOnce' })),
		watchOf('due later', 600_000, { kind: 'image' }),
		watchOf('due sooner', 600_000, { kind: 'sound', createdAt: clock.now() - 900 }),
	].map(async (watch) => await loop.wait(watch));
	await clock.run(Promise.all(waits));
	expect(looks.slice(10).map(({ taskId }) => taskId)).toEqual(['due sooner', 'due later']);
});

describe('throttling', () => {
	test.each([
		['until the pause is over', 20_000, { ageMs: 20_000, timeoutMs: 12_000 }],
		[
			'but not beyond the deadline: the last look decides',
			120_000,
			{ ageMs: 30_000, timeoutMs: 2_000 },
		],
	])('a paused account is left alone %s', async (_name, pauseMs, look) => {
		let pausedUntil = 0;
		const { clock, start, looks, wait } = setUp(() => done(), { pausedUntil: () => pausedUntil });
		pausedUntil = start + pauseMs;
		expect((await clock.run(wait('t', 30_000))).kind).toBe('done');
		expect(looks).toEqual([{ taskId: 't', ...look }]);
	});

	test.each<[string, unknown, RegExp]>([
		['why', new Error('the network is down'), /The last look at it failed: the network is down\./],
		['so where what was thrown does not', 'gone', /The last look at it failed: the look failed\./],
	])('and says %s when the time is over', async (_name, thrown, expected) => {
		const { clock, wait } = setUp(() => {
			throw thrown as Error;
		});
		expect(failureOf(await clock.run(wait('t', 20_000))).description).toMatch(expected);
	});
});

describe('deadline', () => {
	test('the last look comes at the deadline, and what is done by then is done', async () => {
		const { clock, looks, wait } = setUp((_, age) => (age < 59_999 ? running() : done()));
		expect((await clock.run(wait('t', 60_000))).kind).toBe('done');
		expect(looks.at(-1)?.ageMs).toBe(60_000);
	});

	test('a look that lasted beyond it was the last one', async () => {
		const { clock, start, looks, wait } = setUp(async (_, age) => {
			if (age > 25_000) await clock.sleep(29_000 + 1_500 - age);
			return running();
		});
		const failure = failureOf(await clock.run(wait('t', 29_000)));
		expect(failure.outcome).toBe('timed_out');
		expect(clock.now() - start).toBe(30_500);
		expect(looks.at(-1)?.ageMs).toBeLessThan(29_000);
	});
});

describe('the end of looks that hang', () => {
	/** A service that never answers: each look lasts as long as it may. */
	const hanging = () => {
		const all = setUp(async () => {
			await all.clock.sleep(all.looks.at(-1)?.timeoutMs ?? 0);
			return busy();
		});
		return all;
	};

	test('a look may last 20 s, and at most 2 s beyond the deadline', async () => {
		const { clock, start, looks, loop, watchOf } = hanging();
		const waited = await clock.run(loop.wait(watchOf('t', 30_000)));
		expect(failureOf(waited).outcome).toBe('timed_out');
		const timeouts = looks.map(({ timeoutMs }) => timeoutMs);
		expect(timeouts[0]).toBe(20_000);
		expect(timeouts.every((timeoutMs) => timeoutMs <= 20_000)).toBe(true);
		expect(clock.now() - start).toBe(32_000);
	});

	test('however long the looks at other tasks hold all slots', async () => {
		const { clock, start, loop, watchOf } = hanging();
		for (let id = 0; id < 10; id += 1)
			void loop.wait(watchOf(`${id}`, 600_000, { pace: 'atOnce' }));
		const waited = await clock.run(loop.wait(watchOf('t', 5_000)));
		expect(failureOf(waited)).toMatchObject({ outcome: 'timed_out', taskId: 't' });
		expect(clock.now() - start).toBe(7_000);
	});

	test('nothing goes on after a task that is given up while another look hangs', async () => {
		const { clock, loop, watchOf } = setUp(async () => await new Promise(() => undefined));
		for (let id = 0; id < 10; id += 1) {
			const hanging = watchOf(`${id}`, 600_000, { pace: 'atOnce' });
			clock.at(clock.now() + 1_000, () => loop.release(hanging));
			void loop.wait(hanging);
		}
		expect(failureOf(await clock.run(loop.wait(watchOf('t', 5_000)))).outcome).toBe('timed_out');
		await clock.advance(0);
		expect(clock.sleeping).toBe(0);
	});
});

describe('siblings', () => {
	test('one of another kind changes nothing', async () => {
		const looksAt = async (others: string[]) => {
			const { clock, looks, wait } = setUp(
				({ taskId }, age) => (age < (taskId === 't' ? 90_000 : 60_000) ? running() : done()),
				{ random: () => 0.5 },
			);
			const rest = others.map(async (id) => await wait(id, 600_000, { kind: 'image' }));
			await clock.run(Promise.all([wait(), ...rest]));
			return looks.flatMap(({ taskId, ageMs }) => (taskId === 't' ? ageMs : []));
		};
		expect(await looksAt(['image'])).toEqual(await looksAt([]));
	});
});

describe('the last of many', () => {
	/** How often the tasks that take a minute are looked at, of eight whose others are refused after 3 s. */
	const looksAtLong = async (long: number) => {
		const { clock, looks, wait } = setUp(
			({ taskId }, age) => {
				if (taskId.startsWith('short')) return age < 3_000 ? running() : task('error');
				return age < 60_000 ? running() : done();
			},
			{ random: () => 0.5 },
		);
		const ids = Array.from({ length: 8 }, (_, i) => `${i < long ? 'long' : 'short'} ${i}`);
		await clock.run(Promise.all(ids.map(async (id) => await wait(id))));
		return looks.filter(({ taskId }) => taskId === 'long 0').length;
	};

	test('are looked at more often, as a batch waits for them', async () => {
		const [last, many] = [await looksAtLong(2), await looksAtLong(3)];
		expect(last).toBeGreaterThan(many * 1.4);
		expect(last).toBeLessThan(many * 2);
	});

	test('as are tasks whose slots others wait for', async () => {
		const looksAt = async (slotWanted: boolean) => {
			const { clock, looks, wait } = setUp((_, age) => (age < 60_000 ? running() : done()), {
				random: () => 0.5,
				slotWanted: () => slotWanted,
			});
			await clock.run(wait());
			return looks.length;
		};
		expect(await looksAt(true)).toBeGreaterThan((await looksAt(false)) * 1.4);
	});
});

describe('letting go', () => {
	test('cancelling ends everything at once, also in the middle of a look', async () => {
		const stop = new AbortController();
		const { clock, start, loop, looks, wait } = setUp(
			async (watch) => {
				if (watch.taskId === 'hanging') await new Promise(() => undefined);
				return running();
			},
			{ signal: stop.signal },
		);
		clock.at(start + 30_000, () => stop.abort());
		const results = await clock.run(Promise.all([wait('hanging'), wait('t')]));
		expect(clock.now() - start).toBe(30_000);
		expect(results.map((waited) => failureOf(waited).outcome)).toEqual(['cancelled', 'cancelled']);
		expect(failureOf(results[1]).message).toBe(
			'The execution was stopped while task t was running',
		);
		expect(failureOf(results[1])).toMatchObject({ taskId: 't', status: 'doing' });
		const before = looks.length;
		await clock.advance(0);
		expect(clock.sleeping).toBe(0);
		await clock.advance(600_000);
		expect(looks).toHaveLength(before);
		loop.close();
	});

	test('one wait, and that one only, with what was seen last', async () => {
		const { clock, start, loop, watchOf } = setUp((_, age) =>
			age < 20_000 ? running(10) : done(),
		);
		const [one, other] = [watchOf('a'), watchOf('b')];
		clock.at(start + 10_000, () => {
			loop.release(one);
			loop.release(watchOf('c'));
		});
		const ends = await clock.run(Promise.all([loop.wait(one), loop.wait(other)]));
		expect(ends).toMatchObject([{ kind: 'released', task: { progress: 10 } }, { kind: 'done' }]);
	});

	test('a closed loop no longer listens for the end of the execution', () => {
		const stop = new AbortController();
		const { loop } = setUp(() => done(), { signal: stop.signal });
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
		loop.close();
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
		expect(() => setUp(() => done()).loop.close()).not.toThrow();
	});
});
