/** What a callback's task is, by the service's own word: whatever it answers, within the budget. */
import { confirm } from '../../nodes/MediaGeneration/callback/confirm';
import type { Answer, ApiRequest } from '../../nodes/MediaGeneration/service/client';
import { pause } from '../../nodes/MediaGeneration/base/clock';
import { parseTask } from '../../nodes/MediaGeneration/service/task';
import { onMachine } from '../model/machine';
import { answer, scriptedClient } from '../support/replies';

const BUDGET_MS = 12_000;
const FILE = { output_uri: 'https://files.example/a.mp3' };
const task = (status: string, metadata: object = FILE) =>
	answer(200, { id: 't', status, metadata });
const missing = answer(404);
const busy = answer(503, { message: 'busy' });
const doubtful = answer(200, { status: 'error', metadata: {} });
const denied = answer(401, { error: 'no' });

interface Setting {
	over?: boolean;
	budgetMs?: number;
	/** How long the service takes to answer. */
	lookMs?: number;
}

async function verify(
	script: (count: number, request: ApiRequest) => Answer,
	{ over = true, budgetMs = BUDGET_MS, lookMs = 0 }: Setting = {},
) {
	return await onMachine(async (machine) => {
		const client = scriptedClient(async (request, count) => {
			await pause(Math.min(lookMs, request.timeoutMs));
			return script(count, request);
		});
		const claimed = over ? undefined : parseTask({ id: 't', status: 'doing' });
		const verdict = await confirm(client, { taskId: 't', task: claimed }, budgetMs);
		return { verdict, looks: client.requests.length, elapsed: machine.elapsed };
	});
}

test.each<[string, Answer[], string, number]>([
	['done', [task('done')], 'done', 1],
	['failed', [task('error', {})], 'failed', 1],
	['failed, but it may be another task', [doubtful, task('doing'), task('done')], 'done', 3],
	['failed twice, but it names no task', [doubtful, busy, doubtful], 'failed', 3],
	['running for a moment', [task('doing'), task('doing'), task('done')], 'done', 3],
	['busy, then done', [busy, busy, task('done')], 'done', 3],
	['unknown for a moment', [missing, task('done')], 'done', 2],
	['unknown', [missing], 'missing', 2],
	['unknown, busy between', [missing, busy, missing], 'missing', 3],
	['done, files a moment later', [task('done', {}), task('done')], 'done', 2],
	['done, files much later', [...Array<Answer>(6).fill(task('done', {})), task('done')], 'done', 7],
	['a key that is refused once', [denied, task('done')], 'done', 2],
	['a key that is refused', [denied], 'denied', 2],
])('%s', async (_name, answers, kind, expected) => {
	const { verdict, looks } = await verify(
		(count) => answers[Math.min(count, answers.length) - 1] ?? busy,
	);
	expect(verdict.kind).toBe(kind);
	expect(looks).toBe(expected);
});

test('no look takes longer than 5 s, or than what is left', async () => {
	const heard: number[] = [];
	await verify(
		(_count, { timeoutMs }) => {
			heard.push(timeoutMs);
			return busy;
		},
		{ lookMs: 60_000 },
	);
	expect(heard).toEqual([5_000, 5_000, 12_000 - 10_000 - 250 - 500]);
});

test('a task that runs on is looked at once where the callback claims no more', async () => {
	const { verdict, looks } = await verify(() => task('doing'), { over: false });
	expect([verdict.kind, looks]).toEqual(['running', 1]);
});

test.each<[string, Answer, string]>([
	['still running though its callback says otherwise', task('doing'), 'running'],
	['done without a file', task('done', {}), 'running'],
	['busy', busy, 'busy'],
])('%s: looked at for the whole budget, and not longer', async (_name, look, kind) => {
	const { verdict, looks, elapsed } = await verify(() => look);
	expect(verdict.kind).toBe(kind);
	expect(looks).toBe(9);
	expect(elapsed).toBeGreaterThan(BUDGET_MS - 2_000);
	expect(elapsed).toBeLessThanOrEqual(BUDGET_MS);
});

test('a Retry-After beyond the budget is not waited for, a shorter one is', async () => {
	const late = await verify(() => answer(503, '', { 'retry-after': '60' }));
	expect([late.verdict.kind, late.elapsed, late.looks]).toEqual(['busy', 0, 1]);
	const atTheEnd = await verify(() => answer(503, '', { 'retry-after': '12' }));
	expect([atTheEnd.elapsed, atTheEnd.looks]).toEqual([0, 1]);
	const soon = await verify((count) =>
		count === 1 ? answer(503, '', { 'retry-after': '5' }) : task('done'),
	);
	expect([soon.verdict.kind, soon.elapsed, soon.looks]).toEqual(['done', 5_000, 2]);
});

test('no budget, no look', async () => {
	const { verdict, looks } = await verify(() => busy, { budgetMs: 0 });
	expect([verdict, looks]).toEqual([{ kind: 'busy', detail: 'the service was not asked' }, 0]);
});
