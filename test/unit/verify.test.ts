import {
	VERIFY_BUDGET_MS,
	verifyTask,
	type VerifyOptions,
} from '../../nodes/MediaGeneration/callback/verify';
import type { Look } from '../../nodes/MediaGeneration/service/look';
import { parseTask } from '../../nodes/MediaGeneration/service/task';
import { VirtualClock } from './virtualClock';

function task(
	status: string,
	metadata: object = { output_uri: 'https://files.example/a.mp3' },
): Look {
	const found = parseTask({ id: 't', status, metadata });
	if (found === undefined) throw new Error('no task');
	return { kind: 'task', task: found };
}
const missing: Look = { kind: 'missing', detail: 'HTTP 404' };
const busy: Look = { kind: 'busy', detail: 'HTTP 503: busy' };

const failedOnce = task('error', {});
if (failedOnce.kind !== 'task') throw new Error('no task');
const doubtful: Look = { kind: 'doubtful', task: failedOnce.task, detail: 'no ID' };
const denied: Look = { kind: 'denied', detail: 'HTTP 401', httpStatus: 401 };

async function verify(
	script: (count: number, misses: number) => Look,
	{
		lookMs = 0,
		...options
	}: Partial<VerifyOptions> & {
		lookMs?: number;
	} = {},
) {
	const clock = new VirtualClock();
	const start = clock.now();
	let looks = 0;
	const look = async (timeoutMs: number, misses: number) => {
		looks += 1;
		await clock.sleep(Math.min(lookMs, timeoutMs));
		return script(looks, misses);
	};
	const verdict = await clock.run(
		verifyTask(
			{ look, now: clock.now, sleep: clock.sleep },
			{
				taskId: 't',
				budgetMs: VERIFY_BUDGET_MS,
				claimsEnd: true,
				...options,
			},
		),
	);
	return { verdict, looks, elapsed: clock.now() - start };
}

test.each<[string, Look[], string, number]>([
	['done', [task('done')], 'done', 1],
	['failed', [task('error', {})], 'failed', 1],
	['failed, but it may be another task', [doubtful, task('doing'), task('done')], 'done', 3],
	['failed twice, but it names no task', [doubtful, busy, doubtful], 'failed', 3],
	['running for a moment', [task('doing'), task('doing'), task('done')], 'done', 3],
	['busy, then done', [busy, busy, task('done')], 'done', 3],
	['unknown for a moment', [missing, task('done')], 'done', 2],
	['unknown', [missing], 'unknown', 2],
	['unknown, busy between', [missing, busy, missing], 'unknown', 3],
	['done, files a moment later', [task('done', {}), task('done')], 'done', 2],
	['done, files much later', [...Array<Look>(6).fill(task('done', {})), task('done')], 'done', 7],
	['a key that is refused once', [denied, task('done')], 'done', 2],
	['a key that is refused', [denied], 'unavailable', 2],
])('%s', async (_name, answers, kind, expected) => {
	const { verdict, looks } = await verify(
		(count) => answers[Math.min(count, answers.length) - 1] ?? busy,
	);
	expect(verdict.kind).toBe(kind);
	expect(looks).toBe(expected);
});

test('each look hears how often the task was unknown so far', async () => {
	const heard: number[] = [];
	await verify((_count, misses) => {
		heard.push(misses);
		return missing;
	});
	expect(heard).toEqual([0, 1]);
});

test('a young task has a moment between the two looks', async () => {
	const { elapsed } = await verify((count) => (count === 1 ? missing : task('done')));
	expect(elapsed).toBe(1_500);
});

test('no look takes longer than 5 s, or than what is left', async () => {
	const heard: number[] = [];
	const clock = new VirtualClock();
	const look = async (timeoutMs: number) => {
		heard.push(timeoutMs);
		await clock.sleep(timeoutMs);
		return busy;
	};
	const deps = { look, now: clock.now, sleep: clock.sleep };
	await clock.run(verifyTask(deps, { taskId: 't', budgetMs: 12_000, claimsEnd: true }));
	expect(heard).toEqual([5_000, 5_000, 12_000 - 10_000 - 250 - 500]);
});

test('a service that is busy is asked again, whatever the callback claims', async () => {
	const answers = [busy, task('done')];
	const { verdict, looks } = await verify((count) => answers[count - 1] ?? busy, {
		claimsEnd: false,
	});
	expect([verdict.kind, looks]).toEqual(['done', 2]);
});

test('a task that runs on is looked at once where the callback claims no more', async () => {
	const { verdict, looks } = await verify(() => task('doing'), { claimsEnd: false });
	expect([verdict.kind, looks]).toEqual(['running', 1]);
});

test.each<[string, Look, string]>([
	['still running though its callback says otherwise', task('doing'), 'running'],
	['done without a file', task('done', {}), 'running'],
	['busy', busy, 'unavailable'],
])('%s: looked at for the whole budget, and not longer', async (_name, look, kind) => {
	const { verdict, looks, elapsed } = await verify(() => look);
	expect(verdict.kind).toBe(kind);
	expect(looks).toBe(9);
	expect(elapsed).toBeGreaterThan(VERIFY_BUDGET_MS - 2_000);
	expect(elapsed).toBeLessThanOrEqual(VERIFY_BUDGET_MS);
});

test('a service that hangs: unavailable, within the budget', async () => {
	const { verdict, elapsed } = await verify(() => busy, { lookMs: 1_000_000 });
	expect(verdict).toEqual({ kind: 'unavailable', reason: 'HTTP 503: busy' });
	expect(elapsed).toBeLessThanOrEqual(VERIFY_BUDGET_MS);
});

test('a Retry-After beyond the budget is not waited for, a shorter one is', async () => {
	const late = await verify(() => ({ ...busy, retryAfterMs: 60_000 }));
	expect([late.verdict.kind, late.elapsed, late.looks]).toEqual(['unavailable', 0, 1]);
	const atTheEnd = await verify(() => ({ ...busy, retryAfterMs: VERIFY_BUDGET_MS }));
	expect([atTheEnd.elapsed, atTheEnd.looks]).toEqual([0, 1]);
	const soon = await verify((count) =>
		count === 1 ? { ...busy, retryAfterMs: 5_000 } : task('done'),
	);
	expect([soon.verdict.kind, soon.elapsed, soon.looks]).toEqual(['done', 5_000, 2]);
});

test('no budget, no look', async () => {
	const { verdict, looks } = await verify(() => busy, { budgetMs: 0 });
	expect([verdict, looks]).toEqual([
		{ kind: 'unavailable', reason: 'the service was not asked' },
		0,
	]);
});
