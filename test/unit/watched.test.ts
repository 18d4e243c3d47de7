/** One task that is waited for, without a clock: what a look found goes in, and the moment of the next look or the end comes out. */
import type { Look } from '../../nodes/MediaGeneration/transport/look';
import type { Watch } from '../../nodes/MediaGeneration/task/wait';
import { Watched, type LoopState } from '../../nodes/MediaGeneration/task/watched';
import { busy, done, failureOf, missing, running, task } from './pollSetting';

const S = 1_000;
const START = 1_000_000;
const denied: Look = { kind: 'denied', detail: 'HTTP 401: expired', httpStatus: 401 };
const withoutFiles = task('done', { metadata: {} });

const at = (ageMs: number, siblingAgesMs: number[] = [], random = 0.5): LoopState => ({
	nowMs: START + ageMs,
	random,
	siblingAgesMs,
	slotWanted: false,
	endWanted: false,
});

/** A task and its next look, by the task's age. */
function watched(extra: Partial<Watch> = {}, turn = 0, around = at(0)) {
	const one = new Watched(
		{
			taskId: 't',
			kind: 'x',
			createdAt: START,
			deadline: START + 600 * S,
			echoes: [],
			pace: 'poll',
			...extra,
		},
		turn,
		around,
	);
	return { one, next: () => one.nextLookAt - START };
}

const wanted = { ...at(0), slotWanted: true };
const ASLEEP = { pace: 'asleep' } as const;
test.each<[string, turn: number, LoopState, number, Partial<Watch>]>([
	['comes after a second', 0, at(0), 1_000, {}],
	['comes a little sooner or later each time', 0, at(0, [], 0), 800, {}],
	['counts what has passed since the creation', 0, at(400), 1_000, {}],
	['of the second one comes in its turn', 1, at(0), 1_927, {}],
	['of the third one lies between those', 2, at(0), 1_354, {}],
	['comes at once after a second', 1, at(1_000), 1_000, {}],
	['comes at once for what is older', 3, at(5_000), 5_000, {}],
	['comes in time where siblings are over within seconds', 1, at(0, [1_000, 1_100]), 1_020, {}],
	['at a task made long ago comes at once', 1, at(0), 0, { pace: 'atOnce' }],
	['asleep comes later', 1, at(0), 12_500, ASLEEP],
	['asleep comes sooner where creations wait for its place', 0, wanted, 2_500, ASLEEP],
	['asleep: n8n refuses callbacks while it falls asleep', 0, at(50_000), 52_500, ASLEEP],
])('the first look %s', (_name, turn, around, expected, extra) => {
	expect(watched(extra, turn, around).next()).toBeCloseTo(expected, 0);
});

test('asleep it is looked at as in polling where creations wait for its place', () => {
	const next = (slotWanted: boolean) => {
		const { one, next: nextLook } = watched({ pace: 'asleep' });
		one.evaluate(running(), { ...at(20 * S), slotWanted });
		return nextLook();
	};
	expect([next(false), next(true)]).toEqual([49_500, 22_060]);
});

test('a progress that is believed spares looks, also where a look brought none', () => {
	const { one, next } = watched();
	for (const [look, ageS] of [
		[running(), 1],
		[running(10), 60],
		[running(20), 120],
	] as const)
		one.evaluate(look, at(ageS * S));
	expect(next()).toBeCloseTo(149_664, 0);
});

describe('a sibling is found finished', () => {
	/** A task of 20 s that was looked at, and will be at 22.06 s. */
	const looked = (look: Look = running(), extra: Partial<Watch> = {}) => {
		const all = watched(extra);
		all.one.evaluate(look, at(20 * S));
		return all;
	};

	test('that took a little longer: the next look comes then', () => {
		const { one, next } = looked();
		expect(next()).toBe(22_060);
		one.lookSoonerAfterSibling(at(20 * S, [20.5 * S]));
		expect(next()).toBe(20_620);
	});

	test.each<[string, Look, Partial<Watch>, nextS: number, siblingS: number]>([
		['a refusal: one alone can come from throttling', denied, {}, 22.5, 20.5],
		['a refusal, nor later', denied, {}, 22.5, 90],
		['a service that asked for a pause', busy(9_000), {}, 29.25, 20.5],
		['what goes by its own age', running(), { pace: 'atOnce' }, 22.06, 20.5],
		['a task whose siblings took much longer, nor later', running(), {}, 22.06, 90],
	])('%s is repeated no sooner', (_name, look, extra, nextS, siblingS) => {
		const { one, next } = looked(look, extra);
		expect(next()).toBe(nextS * S);
		one.lookSoonerAfterSibling(at(20 * S, [siblingS * S]));
		// Siblings that end one after another do not put it off, either.
		one.lookSoonerAfterSibling(at(21.9 * S, [siblingS * S]));
		expect(next()).toBe(nextS * S);
	});

	test('nor does a caller who says that the task is over repeat a refusal sooner', () => {
		const { one, next } = looked(denied);
		one.hurry(START + 20 * S, false);
		expect(next()).toBe(22_500);
		expect(one.evaluate(running(), at(22_500))).toBeUndefined();
		// From then on as after any such call.
		expect(next()).toBe(25_000);
	});
});

test('its end shows when to look at siblings, but for one whose files came late', () => {
	const { one } = watched();
	one.evaluate(withoutFiles, at(10 * S));
	expect(one.evaluate(done(), at(11 * S))?.kind).toBe('done');
	expect(one.predictsSiblings).toBe(false);
});

describe('files that come late', () => {
	test('are looked for three times more, at growing pauses', () => {
		const { one, next } = watched();
		const looks = [10, 11, 13, 16].map((ageS) => {
			const end = one.evaluate(withoutFiles, at(ageS * S));
			return `${end?.kind} ${next() / S}`;
		});
		expect(looks.join()).toBe('undefined 11,undefined 13,undefined 16,failed 16');
	});

	test.each([
		['the task is done, and names none', 't', 'undelivered'],
		['a status alone is not believed', undefined, 'timed_out'],
	])('and where the time ends before: %s', (_, id, outcome) => {
		const { one } = watched();
		one.evaluate(task('done', { id }), at(10 * S));
		expect(failureOf(one.timedOut()).outcome).toBe(outcome);
	});
});

test('what went wrong before the last look is not the reason', () => {
	const { one } = watched();
	for (const look of [busy(), running()]) one.evaluate(look, at(10 * S));
	expect(failureOf(one.timedOut()).description).not.toMatch(/The last look/);
	// The task as it was last seen goes out, though another look fails.
	one.evaluate(busy(), at(10 * S));
	expect(one.timedOut().task?.state).toBe('running');
});

describe('a refusal ends the wait', () => {
	/** What looks at those ages bring. */
	const ends = (pace: Watch['pace'], looks: Array<[ageS: number, Look]>) => {
		const { one } = watched({ pace });
		return looks.map(([ageS, look]) => one.evaluate(look, at(ageS * S))?.kind);
	};

	test.each<[string, number[], Look]>([
		['a minute after the first one', [100, 130, 159.9, 160], denied],
		['or of 404', [100, 130, 159.9, 160], missing],
		['and with the third one, where looks are rare', [100, 300, 500], missing],
	])('%s, polled and asleep', (_name, agesS, look) => {
		const seen = agesS.map((ageS): [number, Look] => [ageS, look]);
		const expected = [...agesS.slice(1).map(() => undefined), 'failed'];
		// What was seen before its streak says nothing of how long it lasts.
		const before: Array<[number, Look]> = [
			[10, look],
			[20, running()],
		];
		for (const pace of ['poll', 'asleep', 'atOnce'] as const)
			expect(ends(pace, [...before, ...seen])).toEqual([undefined, undefined, ...expected]);
	});

	test('by six looks at a key that was revoked', () => {
		const { one, next } = watched();
		const pauses = [0, 2.5, 7.5, 17.5, 37.5].map((ageS) => {
			one.evaluate(denied, at(ageS * S));
			return next() / S - ageS;
		});
		expect(pauses).toEqual([2.5, 5, 10, 20, 30]);
		expect(one.evaluate(denied, at(67.5 * S))).toMatchObject({
			failure: { outcome: 'unreachable' },
		});
	});

	test('no sooner at the deadline: the task is not finished in time then, and the refusal is named', () => {
		const { one } = watched({ deadline: START + 20 * S });
		for (const ageS of [15, 17.5, 20]) expect(one.evaluate(denied, at(ageS * S))).toBeUndefined();
		const failure = failureOf(one.timedOut());
		expect(failure.outcome).toBe('timed_out');
		expect(failure.description).toMatch(/The last look at it failed: HTTP 401: expired\.$/);
	});
});

describe('a failure that does not name the task', () => {
	const failedTask = task('error', { error_message: 'no luck' });
	if (failedTask.kind !== 'task') throw new Error('no task');
	const doubtful: Look = {
		kind: 'doubtful',
		task: failedTask.task,
		detail: 'HTTP 200 without an ID',
	};

	test('counts when a second look repeats it, some seconds later', () => {
		const { one, next } = watched();
		expect(one.evaluate(doubtful, at(10 * S))).toBeUndefined();
		expect(next()).toBe(12.5 * S);
		expect(one.evaluate(doubtful, at(12.5 * S))).toMatchObject({
			failure: { outcome: 'failed', taskId: 't' },
		});
	});

	test('counts at once, where a callback has said the same, or where the task is gone afterwards', () => {
		const { one } = watched();
		one.hurry(START + 10 * S, true);
		expect(one.evaluate(doubtful, at(10 * S))).toMatchObject({ failure: { outcome: 'failed' } });
		const other = watched().one;
		expect(other.evaluate(doubtful, at(10 * S))).toBeUndefined();
		expect(other.evaluate(missing, at(12.5 * S))).toMatchObject({ failure: { outcome: 'failed' } });
	});

	test('a look between the two that shows the task begins anew', () => {
		const { one } = watched();
		const looks = [doubtful, running(), doubtful].map((look) => one.evaluate(look, at(10 * S)));
		expect(looks).toEqual([undefined, undefined, undefined]);
	});
});
