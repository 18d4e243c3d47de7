/** When the answer to a question about a task counts, and how often it is asked. */
import { backoffMs } from '../../nodes/MediaGeneration/base/backoff';
import { countPoll, PAID, UNSEEN } from '../../nodes/MediaGeneration/answers/poll';
import { askUntilClear } from '../../nodes/MediaGeneration/transport/until';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { busy, denied, done, failed, missing, running, S, doubtful } from './waitSetting';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const otherDone = () => answer(200, { id: 'other', status: 'done', metadata: { audio_url: 'x' } });

/** Without a task, but below the bound of what is read. */
const heavy = answer(200, JSON.stringify({ page: 'x'.repeat(5_000_000 - 11) }));

/** What comes out, in short, and when each poll began, in ms. The last answer repeats. */
async function asked(answers: Reply[], pausedMs = 0) {
	const clock = new VirtualClock();
	const { now, sleep } = clock;
	const start = now();
	const began: number[] = [];
	const client = scriptedClient(({ path }) => {
		if (path.startsWith('/v1e')) return missing();
		began.push(now() - start);
		return answers[Math.min(began.length, answers.length) - 1] ?? busy();
	}, now);
	client.account.pause('poll', start, pausedMs);
	const at = { taskId: 't', kind: 'x', timeoutMs: S, doubtfulCounts: true };
	const found = await clock.run(askUntilClear(client, at, { now, sleep }));
	const end = found.kind === 'task' ? found.task.state : found.kind;
	return { end, began, detail: found.kind === 'task' ? undefined : found.detail };
}

test.each<[string, Reply[], end: string, began: number[]]>([
	['so is its failure', [failed()], 'failed', [0]],
	['a refused key is asked once more', [denied(), running()], 'running', [0, 2_500]],
	['both of them count together', [denied(), missing()], 'missing', [0, 2_500]],
	['a failure without an ID counts when it is repeated', [doubtful()], 'failed', [0, 2_500]],
	['or when the task is gone', [doubtful(), missing()], 'failed', [0, 2_500]],
	['but not when the task is shown', [doubtful(), running()], 'running', [0, 2_500]],
	['what is done under another ID is another task', [otherDone(), done()], 'done', [0, 250]],
	['a busy service is asked four times', [busy()], 'busy', [0, 250, 750, 1_750]],
	['and not before the time it asks for', [busy(2), done()], 'done', [0, 2_000]],
	['nor at all where that is too long', [busy(61)], 'busy', [0]],
	['one that answers with 5 MB is asked every 5 s', [heavy], 'busy', [0, 5_000, 10_000, 15_000]],
])('%s', async (_name, answers, end, began) => {
	expect(await asked(answers)).toMatchObject({ end, began });
});

test('an answer that can never be read counts at once', () => {
	const poll = { kind: 'denied', detail: 'too large', final: true } as const;
	expect(countPoll(UNSEEN, poll, { nowMs: 0, required: PAID }).clear).toBe(poll);
});

test('a pause that the account was asked for is waited out, unless it is too long', async () => {
	expect((await asked([running()], 7_000)).began).toEqual([7_000]);
	expect(await asked([running()], 61_000)).toEqual({
		end: 'busy',
		detail: 'the service asked for a pause of 61 s',
		began: [],
	});
});

test.each<
	[failures: number, retryAfterMs: number | undefined, random: number | undefined, ms: number]
>([
	[2, undefined, undefined, 1_000],
	[9, undefined, undefined, 3_000],
	[2, undefined, 0.999_999, 1_250],
	// "Come back in 0 s" does not allow a tight loop.
	[2, 0, 0.5, 1_000],
	[2, 1_000, 0.5, 1_250],
	[2, 9_000, undefined, 9_000],
])(
	'the back-off after failure %d, asked for %j, random %j: %d ms',
	(failures, retryAfterMs, random, ms) => {
		const pause = { firstMs: 500, maxMs: 3_000, retryAfterMs };
		expect(backoffMs(failures, pause, random)).toBeCloseTo(ms, 2);
	},
);
