import { VERIFY_BUDGET_MS, verifyTask } from '../../nodes/MediaGeneration/callback/verify';
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

async function verify(
	script: (count: number, timeoutMs: number) => Look,
	{ lookMs = 0, budgetMs = VERIFY_BUDGET_MS, urls = [] as string[] } = {},
) {
	const clock = new VirtualClock();
	const start = clock.now();
	let looks = 0;
	const look = async (timeoutMs: number) => {
		looks += 1;
		await clock.sleep(Math.min(lookMs, timeoutMs));
		return script(looks, timeoutMs);
	};
	const verdict = await clock.run(
		verifyTask({ look, now: clock.now, sleep: clock.sleep }, budgetMs, urls),
	);
	return { verdict, looks, elapsed: clock.now() - start };
}

test.each<[string, Look[], string, number]>([
	['done', [task('done')], 'terminal', 1],
	['failed', [task('error', {})], 'terminal', 1],
	['still running: the body lied', [task('doing')], 'running', 1],
	['busy, then done', [busy, busy, task('done')], 'terminal', 3],
	['unknown for a moment', [missing, missing, task('done')], 'terminal', 3],
	['done, files a moment later', [task('done', {}), task('done')], 'terminal', 2],
	['done, files never', [task('done', {})], 'terminal', 4],
	['refused key', [{ kind: 'denied', detail: 'HTTP 401', httpStatus: 401 }], 'unavailable', 1],
])('%s', async (_name, answers, kind, expected) => {
	const { verdict, looks } = await verify(
		(count) => answers[Math.min(count, answers.length) - 1] ?? busy,
	);
	expect(verdict.kind).toBe(kind);
	expect(looks).toBe(expected);
});

test('404 for as long as a young task may need is unknown', async () => {
	const { verdict, elapsed, looks } = await verify(() => missing);
	expect(verdict).toEqual({ kind: 'unknown' });
	expect(looks).toBeGreaterThan(2);
	expect(elapsed).toBeLessThan(3_000);
});

test('a service that stays busy: unavailable, within the budget', async () => {
	const { verdict, elapsed } = await verify(() => busy);
	expect(verdict).toEqual({ kind: 'unavailable', reason: 'HTTP 503: busy' });
	expect(elapsed).toBeLessThanOrEqual(VERIFY_BUDGET_MS);
});

test('a service that hangs: unavailable, within the budget', async () => {
	const { verdict, elapsed } = await verify(() => busy, { lookMs: 1_000_000 });
	expect(verdict.kind).toBe('unavailable');
	expect(elapsed).toBeLessThanOrEqual(VERIFY_BUDGET_MS);
});

test('a Retry-After beyond the budget is not waited for', async () => {
	const { verdict, elapsed, looks } = await verify(() => ({ ...busy, retryAfterMs: 60_000 }));
	expect(verdict.kind).toBe('unavailable');
	expect([elapsed, looks]).toEqual([0, 1]);
});

test('an address that the request carried is no file', async () => {
	const { looks } = await verify(() => task('done'), { urls: ['https://files.example/a.mp3'] });
	expect(looks).toBe(4);
});
