/** Waiting for a paid task: when it is polled, and what ends the waiting. */
import {
	body,
	busy,
	denied,
	done,
	failed,
	failureOf,
	fileless,
	missing,
	running,
} from './waitSetting';
import { S, setUp, silence, doubtful, type Script } from './waitSetting';

const endsAt =
	(durationS: number): Script =>
	(ageMs) =>
		ageMs < durationS * S ? running() : done();
/** What the polls bring, one after another; the last one repeats. */
const inTurn =
	(...replies: Array<ReturnType<typeof running> | ReturnType<typeof silence>>): Script =>
	(_, count) =>
		replies[Math.min(count, replies.length) - 1] ?? silence();

describe('a task is polled', () => {
	test('after a second, then by its age', async () => {
		const { waited, atS } = await setUp(endsAt(13)).run();
		expect(waited.kind).toBe('done');
		expect(atS).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.1, 13.31]);
	});

	test('at once where it is older, or was only named', async () => {
		const old = setUp(() => done());
		expect((await old.run({ createdAt: old.clock.now() - 5 * S })).atS).toEqual([0]);
		expect((await setUp(() => done()).run({ named: true })).atS).toEqual([0]);
	});

	test('when its progress promises its end', async () => {
		const { atS } = await setUp((ageMs) => (ageMs < 60 * S ? running(ageMs / 600) : done())).run();
		expect(atS.at(-1)).toBeCloseTo(60.05, 2);
	});

	test.each([
		['done without a file', fileless()],
		['ended, but not plainly', doubtful()],
	])('rarely where a callback tells its end, and soon again once it is %s', async (_, end) => {
		const { waited, atS } = await setUp(inTurn(running(), end, done())).run({ callsBack: true });
		expect(waited.kind).toBe('done');
		expect(atS[1]).toBe(31);
		expect(atS[2]).toBeLessThan(34);
	});

	test('ten of a run at a time; whoever waits for a turn has the next one', async () => {
		const { clock, wait, polls } = setUp(async () => {
			await clock.sleep(100);
			return done();
		});
		const waits = Array.from({ length: 45 }, async () => await wait({ named: true }));
		const start = clock.now();
		await clock.run(Promise.all(waits));
		expect(clock.now() - start).toBe(500);
		expect(polls).toHaveLength(45);
	});
});

describe('a service that is busy', () => {
	test('and says so as a failure without the ID, beside a refusal or in words of a limit: the task has not failed', async () => {
		const refused = body('error', { success: false, error_message: 'try again' });
		const throttled = body('error', { message: 'Too many requests' });
		const outage = [doubtful(), refused, throttled, missing(), doubtful()];
		expect((await setUp(inTurn(running(), ...outage, done())).run()).waited.kind).toBe('done');
	});

	test.each([
		['without a usable answer', silence()],
		['by its own word', busy()],
	])('%s never fails a task, and is asked less often', async (_name, reply) => {
		const { waited, atS } = await setUp(inTurn(reply, reply, reply, running(), done())).run();
		expect(waited.kind).toBe('done');
		expect(atS).toEqual([1, 2, 3, 4, 5]);
	});

	test('an old task is asked for soon again, at growing pauses', async () => {
		const { clock, run } = setUp(inTurn(busy(), busy(), busy(), done()));
		expect((await run({ createdAt: clock.now() - 3_600 * S })).atS).toEqual([0, 1, 3, 7]);
	});

	test('is left alone as long as it asks for', async () => {
		const { atS } = await setUp(inTurn(busy(20), done())).run();
		expect(atS).toEqual([1, 21]);
	});

	test('so are tasks that waited for their turn when it asked for that', async () => {
		const { clock, wait, polls } = setUp(inTurn(busy(20), done()), { atOnce: 1 });
		const both = ['t', 't'].map(async (taskId) => await wait({ taskId, named: true }));
		await clock.run(Promise.all(both));
		expect(polls.map(({ ageMs }) => ageMs)).toEqual([0, 20 * S, 20 * S]);
	});
});

describe('at the deadline', () => {
	test.each<[string, Script, timeoutS: number, lastAtS: number]>([
		['what is done by then is done', endsAt(59.9), 60, 60],
		['also while the account is paused', inTurn(busy(120), done()), 30, 30],
		['and where it has passed before the first poll', () => done(), -5, 0],
	])('comes the last poll: %s', async (_name, script, timeoutS, lastAtS) => {
		const { waited, atS } = await setUp(script).run({ timeoutMs: timeoutS * S });
		expect([waited.kind, atS.at(-1)]).toEqual(['done', lastAtS]);
	});

	test('polls that hang end 2 s later, each after 20 s at most', async () => {
		const { clock, polls, run } = setUp(async () => {
			await clock.sleep(polls.at(-1)?.timeoutMs ?? 0);
			return silence();
		});
		const { waited, endS } = await run({ timeoutMs: 30 * S });
		expect(failureOf(waited)).toMatchObject({ outcome: 'timed_out', taskId: 't' });
		expect(failureOf(waited).description).toMatch(/The last poll failed: socket hang up\.$/);
		expect(polls.map(({ timeoutMs }) => timeoutMs)).toEqual([20 * S, 10 * S]);
		expect(endS).toBe(32);
	});

	test('so do polls that wait for a turn', async () => {
		const { clock, polls, wait } = setUp(
			async () => {
				await clock.sleep(polls.at(-1)?.timeoutMs ?? 0);
				return silence();
			},
			{ atOnce: 1 },
		);
		const start = clock.now();
		const waits = Array.from({ length: 20 }, async () => await wait({ timeoutMs: 5 * S }));
		await clock.run(Promise.all(waits));
		expect([clock.now() - start, polls.length]).toEqual([7 * S, 1]);
	});

	test('a task that was not finished in time says how it was last seen', async () => {
		const { waited } = await setUp(inTurn(busy(), running(10))).run({ timeoutMs: 5 * S });
		const { description, status } = failureOf(waited);
		expect(status).toBe('doing');
		expect(description).not.toMatch(/The last poll/);
		expect(waited).toMatchObject({ task: { progress: 10 } });
	});
});

describe('files that come late', () => {
	test('are asked for three times more, at growing pauses', async () => {
		const { waited, atS } = await setUp(() => fileless()).run();
		expect(failureOf(waited).outcome).toBe('undelivered');
		expect(atS).toEqual([1, 2, 4, 7]);
		expect((await setUp(inTurn(fileless(), done())).run()).waited.kind).toBe('done');
	});

	test('a task that is done at the deadline without one is undelivered', async () => {
		const { waited } = await setUp(() => fileless()).run({ timeoutMs: 3 * S });
		expect(failureOf(waited).outcome).toBe('undelivered');
	});
});

describe('a refusal ends the waiting', () => {
	test.each([
		[
			'of the key',
			denied,
			[1, 3.5, 8.5, 18.5, 33.5, 48.5, 63.5],
			/refused to show it \(HTTP 401: expired\)/,
		],
		['that it lasted for a minute', missing, undefined, /can't be found/],
	])('%s, after a minute', async (_name, reply, expected, words) => {
		const { waited, atS, endS } = await setUp(() => reply()).run();
		expect(failureOf(waited)).toMatchObject({ outcome: 'unreachable', taskId: 't' });
		expect(failureOf(waited).message).toMatch(words);
		if (expected) expect(atS).toEqual(expected);
		expect(endS).toBeGreaterThanOrEqual(61);
		expect(endS).toBeLessThan(64);
	});

	test('only by three polls, where each takes long', async () => {
		const { clock, run } = setUp(async () => {
			await clock.sleep(70 * S);
			return denied();
		});
		const { waited, atS } = await run();
		expect(failureOf(waited).outcome).toBe('unreachable');
		expect(atS).toHaveLength(3);
	});

	test('only where no poll in between showed the task', async () => {
		const script: Script = (ageMs) =>
			ageMs > 40 * S && ageMs < 50 * S ? running() : ageMs < 90 * S ? denied() : done();
		expect((await setUp(script).run()).waited.kind).toBe('done');
	});

	test('within ten seconds where a task that was only named was never there', async () => {
		const { waited, endS, atS } = await setUp(() => missing()).run({ named: true });
		expect(failureOf(waited).message).toMatch(/can't be found/);
		expect(endS).toBeGreaterThanOrEqual(10);
		expect(endS).toBeLessThan(13);
		expect(atS.length).toBeGreaterThan(1);
	});

	test.each<[string, Script, named: boolean]>([
		['a named task that was seen before', inTurn(running(), missing()), true],
		['a named task, and a refused key', () => denied(), true],
	])('but not for %s', async (_name, script, named) => {
		const { waited, endS } = await setUp(script).run({ named });
		expect(failureOf(waited).outcome).toBe('unreachable');
		expect(endS).toBeGreaterThanOrEqual(60);
	});

	test('no sooner at the deadline: the task was not finished in time, and the refusal is named', async () => {
		const { waited } = await setUp(() => denied()).run({ timeoutMs: 20 * S });
		expect(failureOf(waited).outcome).toBe('timed_out');
		expect(failureOf(waited).description).toMatch(/failed: HTTP 401: expired\.$/);
	});
});

test.each<[string, Script, ends: number]>([
	['done', () => done(), 1],
	['failed', () => failed(), 1],
	['not shown any more', () => denied(), 0],
])('the account learns that a task is %s', async (_name, script, ends) => {
	const { client, run } = setUp(script);
	client.account.made.add('t');
	await run();
	expect(client.account.made.ends).toBe(ends);
});

test('a failure by the service ends the waiting at once', async () => {
	const { waited, atS } = await setUp(() => failed()).run();
	expect(failureOf(waited)).toMatchObject({ outcome: 'failed', taskId: 't' });
	expect(atS).toEqual([1]);
});

describe('the signal ends the waiting', () => {
	test('asleep, in the middle of a poll and before a turn, with what was last seen', async () => {
		const { clock, over, polls, wait } = setUp(
			async (_, count, taskId) => {
				if (taskId === 'hangs') await new Promise(() => undefined);
				return running(count);
			},
			{ atOnce: 2 },
		);
		clock.at(clock.now() + 30 * S, () => over.abort());
		const waits = ['hangs', 't'].map(async (taskId) => await wait({ taskId }));
		const [hanging, asleep] = await clock.run(Promise.all(waits));
		expect([hanging, asleep]).toMatchObject([
			{ kind: 'released', task: undefined },
			{ kind: 'released', task: { state: 'running' } },
		]);
		const { length } = polls;
		await clock.advance(600 * S);
		expect([polls.length, clock.sleeping]).toEqual([length, 0]);
		expect(await clock.run(wait())).toEqual({ kind: 'released', task: undefined });
		expect(polls).toHaveLength(length);
	});
});

describe('before the execution sleeps', () => {
	const S30 = 30 * S;
	test.each<[string, Script, kind: string, polledAtS: number[]]>([
		['a task is polled once more', endsAt(60), 'released', [30]],
		['and what has ended by then has ended', endsAt(29.9), 'done', [30]],
		['but not while the service asks for a pause', inTurn(busy(60)), 'released', []],
	])('%s', async (_name, script, kind, polledAtS) => {
		const { clock, asleep, run } = setUp(script);
		clock.at(clock.now() + S30, () => asleep.abort());
		const { waited, atS, endS } = await run();
		expect([waited.kind, endS]).toEqual([kind, 30]);
		expect(atS.filter((s) => s > 29)).toEqual(polledAtS);
	});

	test('a poll that is under way then is the last one', async () => {
		const { clock, asleep, run } = setUp(async () => {
			await clock.sleep(2 * S);
			return running();
		});
		clock.at(clock.now() + 2 * S, () => asleep.abort());
		expect(await run()).toMatchObject({ waited: { kind: 'released' }, atS: [1], endS: 3 });
	});

	test('a poll that hangs takes 5 s', async () => {
		const { clock, asleep, polls, run } = setUp(async () => {
			await clock.sleep(polls.at(-1)?.timeoutMs ?? 0);
			return silence();
		});
		asleep.abort();
		expect(await run()).toMatchObject({ waited: { kind: 'released' }, endS: 5 });
	});
});
