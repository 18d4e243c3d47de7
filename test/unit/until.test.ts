/** When an answer about a task counts. The table of the policies is in transport/until.ts. */
import { backoffMs } from '../../nodes/MediaGeneration/base/clock';
import type { Look } from '../../nodes/MediaGeneration/transport/look';
import {
	LOOK_POLICIES,
	untilClear,
	type Looking,
} from '../../nodes/MediaGeneration/transport/until';
import { parseTask } from '../../nodes/MediaGeneration/transport/task';
import { VirtualClock } from '../support/virtualClock';

function task(status: string, extra: object = {}): Look {
	const found = parseTask({ id: 't', status, ...extra });
	if (found === undefined) throw new Error('no task');
	return { kind: 'task', task: found };
}
const running = () => task('doing');
const done = () => task('done', { metadata: { output_uri: 'https://files.example/a.mp3' } });
const busy = (retryAfterMs?: number): Look => ({
	kind: 'busy',
	detail: 'HTTP 503: busy',
	...(retryAfterMs !== undefined && { retryAfterMs }),
});
const missing: Look = { kind: 'missing', detail: 'HTTP 404', httpStatus: 404 };
const denied: Look = { kind: 'denied', detail: 'HTTP 401', httpStatus: 401 };
const doubtfulBy = (look: Look): Look =>
	look.kind === 'task' ? { kind: 'doubtful', task: look.task, detail: 'no ID' } : look;
const doubtful = doubtfulBy(task('error', { error: 'no luck' }));
const otherDone = doubtfulBy(done());

/** What comes out, in short, and when each look began, in ms. The last look repeats. */
async function asked(
	policy: Exclude<keyof typeof LOOK_POLICIES, 'wait'>,
	looks: Look[],
	given: (start: number) => Partial<Looking> = () => ({}),
) {
	const clock = new VirtualClock();
	const start = clock.now();
	const began: number[] = [];
	const look = async () => {
		began.push(clock.now() - start);
		return await Promise.resolve(looks[Math.min(began.length, looks.length) - 1] ?? busy());
	};
	const { now, sleep } = clock;
	const looking = { now, sleep, ...given(start) };
	const found = await clock.run(untilClear(look, LOOK_POLICIES[policy], looking));
	const end = found.kind === 'task' ? found.task.state : found.kind;
	return { end, began, detail: found.kind === 'task' ? undefined : found.detail };
}

test.each<[Exclude<keyof typeof LOOK_POLICIES, 'wait'>, Look[], end: string, began: number[]]>([
	['question', [running()], 'running', [0]],
	['question', [busy()], 'busy', [0]],
	['question', [missing], 'missing', [0]],
	['question', [denied], 'denied', [0]],
	['question', [doubtful, doubtful], 'failed', [0, 2_500]],
	['question', [doubtful, running()], 'running', [0, 2_500]],
	['question', [doubtful, busy()], 'busy', [0, 2_500]],
	// A service can drop what failed; what is done elsewhere is not confirmed by that.
	['question', [doubtful, missing], 'failed', [0, 2_500]],
	['question', [otherDone, missing], 'missing', [0, 2_500]],
	['question', [otherDone], 'done', [0, 2_500]],
	['show', [doubtful], 'failed', [0]],
	['show', [missing], 'missing', [0]],
	['show', [busy()], 'busy', [0, 500, 1_500, 3_500]],
	['show', [busy(2_000), running()], 'running', [0, 2_000]],
	['show', [busy(61_000)], 'busy', [0]],
	['cost', [missing, missing, running()], 'running', [0, 500, 1_500]],
	['cost', [denied], 'denied', [0, 500, 1_500, 3_500]],
	['cost', [busy(10_001)], 'busy', [0]],
	['callback', [missing], 'missing', [0, 1_500]],
	['callback', [denied, missing], 'missing', [0, 1_500]],
	['callback', [busy(), missing, busy(), denied], 'denied', [0, 250, 1_750, 2_750]],
	[
		'callback',
		[busy(), busy(), busy(), busy(), busy(), done()],
		'done',
		[0, 250, 750, 1_750, 3_750, 5_750],
	],
])('%s of %j: %s', async (policy, looks, end, began) => {
	expect(await asked(policy, looks)).toMatchObject({ end, began });
});

test('a report that the task failed counts as one look, once the service says the same', async () => {
	const reported = () => ({ reportedFailed: true });
	expect(await asked('question', [doubtful], reported)).toMatchObject({
		end: 'failed',
		began: [0],
	});
	expect((await asked('question', [otherDone], reported)).began).toHaveLength(2);
	expect((await asked('question', [running()], reported)).end).toBe('running');
});

test('a task that was seen is looked at again where it does not say enough', async () => {
	const isEnough = ({ state }: { state: string }) => state !== 'running';
	expect(await asked('callback', [running(), done()], () => ({ isEnough }))).toMatchObject({
		end: 'done',
		began: [0, 250],
	});
});

describe('the last look counts', () => {
	test('at the deadline, beyond which no look begins', async () => {
		const looked = await asked('callback', [busy()], (start) => ({ deadline: start + 1_000 }));
		expect(looked).toMatchObject({ end: 'busy', detail: 'HTTP 503: busy', began: [0, 250, 750] });
	});

	test('where the execution is stopped', async () => {
		const stop = new AbortController();
		stop.abort();
		const looked = await asked('show', [running()], () => ({ signal: stop.signal }));
		expect(looked).toEqual({ end: 'busy', detail: 'the service was not asked', began: [] });
	});
});

test('a pause that the account was asked for is waited out, unless it is too long', async () => {
	const pausedFor = (ms: number) => (start: number) => ({ pausedUntil: () => start + ms });
	expect((await asked('show', [running()], pausedFor(7_000))).began).toEqual([7_000]);
	expect(await asked('show', [running()], pausedFor(61_000))).toEqual({
		end: 'busy',
		detail: 'the service asked for a pause of 61 s',
		began: [],
	});
});

test.each<
	[failures: number, retryAfterMs: number | undefined, random: number | undefined, ms: number]
>([
	[1, undefined, undefined, 500],
	[2, undefined, undefined, 1_000],
	[9, undefined, undefined, 3_000],
	[5_000, undefined, undefined, 3_000],
	[2, undefined, 0, 750],
	[2, undefined, 0.999_999, 1_250],
	// "Come back in 0 s" does not allow a tight loop.
	[2, 0, 0.5, 1_000],
	[2, 999, 0.5, 1_000],
	[2, 1_000, 0.5, 1_250],
	[2, 9_000, undefined, 9_000],
])(
	'the back-off after failure %d, asked for %j, random %j: %d ms',
	(failures, retryAfterMs, random, ms) => {
		const pause = { firstMs: 500, mostMs: 3_000, retryAfterMs };
		expect(backoffMs(failures, pause, random)).toBeCloseTo(ms, 2);
	},
);
