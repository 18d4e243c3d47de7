/** Watches the sleeping executions of this process, one loop each, so that while it lives a lost callback leaves none asleep until its deadline. */
import { backoffMs } from '../base/backoff';
import { OncePerMinute } from '../base/clock';
import { Limiter } from '../base/limiter';
import type { Failure } from '../base/outcomes';
import { cleanerOf } from '../n8n/clean';
import { inBackground, logOf } from '../n8n/log';
import { realClock } from '../n8n/realClock';
import { pace, rarePace } from '../task/pace';
import { waitForTask } from '../task/wait';
import type { ServiceClient } from '../transport/client';
import { callSelf, type SelfReply } from '../transport/selfCall';
import { lastDeadline, type Sleep, type WaitingTask } from './notes';
import { meaningOf, ownCall, shownReply } from './ownCalls';

interface Loop {
	tasks: readonly WaitingTask[];
	stop: AbortController;
	/** Whether it has seen all tasks finish, so that it calls n8n, and nothing can hurry it until it is refused. */
	sawAllEnd: boolean;
}

const loops = new Map<string, Loop>();

/** Starts the loop of a sleep, unless this process has one. It begins with the shortest pause of its tasks. */
export function watchOver(sleep: Sleep): void {
	if (loops.has(sleep.id)) return;
	const pauses = sleep.tasks.map(({ callsBack, createdAt }) =>
		(callsBack ? rarePace : pace)(realClock.now() - createdAt),
	);
	const shortestMs = pauses.reduce((one, other) => Math.min(one, other), Infinity);
	startLoop(sleep, sleep.tasks, shortestMs);
}

/** Has a loop poll the tasks of a sleep soon, unless it has seen all of them finish. @param finished tasks that callers say have finished */
export function hurry(sleep: Sleep, finished: readonly string[]): void {
	const before = loops.get(sleep.id);
	if (before?.sawAllEnd === true) return;
	before?.stop.abort();
	// The service's answers can lag behind its callbacks, so these tasks are polled like new ones.
	const asNew = { callsBack: false, createdAt: realClock.now() };
	const tasks = (before ?? sleep).tasks.map((task) =>
		finished.includes(task.taskId) ? { ...task, ...asNew } : task,
	);
	startLoop(sleep, tasks, 0);
}

/** @param firstMs pause before the first polls */
function startLoop(sleep: Sleep, tasks: readonly WaitingTask[], firstMs: number): void {
	const { id, context } = sleep;
	const loop: Loop = { tasks, stop: new AbortController(), sawAllEnd: false };
	loops.set(id, loop);
	const followed = follow(sleep, loop, firstMs).finally(() => {
		if (loops.get(id) === loop) loops.delete(id);
	});
	inBackground(context, followed);
}

/** Concurrent polls of one execution. */
export const POLLS_AT_ONCE = 10;

/** Returns the failures of those that have failed, or that were refused for long enough. */
async function waitForAll(
	client: ServiceClient,
	tasks: readonly WaitingTask[],
	signal: AbortSignal,
): Promise<Failure[]> {
	const turns = new Limiter(POLLS_AT_ONCE);
	const polling = { ...realClock, client, signal, polls: new Limiter(POLLS_AT_ONCE) };
	const ends = await Promise.all(
		tasks.map(async (task) => await turns.run(async () => await waitForTask(task, polling))),
	);
	return ends.flatMap((end) =>
		end.kind === 'failed' && end.failure.outcome !== 'timed_out' ? [end.failure] : [],
	);
}

/** Waits until all tasks have finished, then calls n8n until the sleep has ended. */
async function follow(sleep: Sleep, loop: Loop, firstMs: number): Promise<void> {
	const { signal } = loop.stop;
	await realClock.sleep(firstMs, signal);
	for (;;) {
		const givenUp = await waitForAll(sleep.client, loop.tasks, signal);
		if (signal.aborted) return;
		loop.sawAllEnd = true;
		if ((await callUntilEnded(sleep, givenUp)) === 'ended') return;
		loop.tasks = loop.tasks.map((task) => ({ ...task, callsBack: false }));
		loop.sawAllEnd = false;
	}
}

/** Returns `refused` if the node has seen a task otherwise than this loop: refused by now, or running. */
async function callUntilEnded(sleep: Sleep, givenUp: Failure[]): Promise<'ended' | 'refused'> {
	const deadline = lastDeadline(sleep.tasks);
	let wasMissing = false;
	// At its deadline n8n wakes the execution by itself.
	for (let calls = 1; realClock.now() < deadline; calls += 1) {
		const reply = await callInTurn(sleep, givenUp);
		const meaning = meaningOf(reply);
		const isMissing = meaning === 'missing' || meaning === 'redirected';
		if (meaning === 'ended' || (isMissing && wasMissing)) break;
		wasMissing = isMissing;
		if (meaning === 'unknown') reportUnknown(sleep, reply);
		// n8n can lose a resumption that it has accepted, and can be starting, so another call makes sure.
		const isClear = meaning === 'handled' || isMissing;
		const growing = { firstMs: 1_000, maxMs: 60_000 };
		await realClock.sleep(isClear ? 60_000 : backoffMs(calls, growing));
		if (meaning === 'handled' && reply.status !== 200) return 'refused';
	}
	return 'ended';
}

/** n8n loads all of the execution for each call, so calls take turns. A call that waits for files gives its turn to the next one. */
async function callInTurn(sleep: Sleep, givenUp: Failure[]): Promise<SelfReply> {
	const { context, client, resumeUrl } = sleep;
	const endTurn = await client.account.resumptions.take();
	// The service's words can quote the key.
	const body = ownCall(sleep, { given_up: cleanerOf(context).value(givenUp) });
	const reply = callSelf(context, { url: resumeUrl, body }).finally(endTurn);
	inBackground(context, realClock.sleep(2_000).then(endTurn));
	return await reply;
}

const unknownReplies = new OncePerMinute();

function reportUnknown({ context, tasks, resumeUrl }: Sleep, reply: SelfReply): void {
	if (!unknownReplies.isDue(realClock.now())) return;
	const { origin, pathname } = new URL(resumeUrl);
	const ids = tasks.map(({ taskId }) => taskId);
	const more = ids.length > 3 ? `, and ${ids.length - 3} more` : '';
	logOf(context).warn(
		`an execution that sleeps can't be woken, because n8n does not answer at its own address ${origin}${pathname} (${shownReply(reply)}). Its tasks have finished: ${ids.slice(0, 3).join(', ')}${more}. Check N8N_WEBHOOK_URL, N8N_PATH and the proxy in front of n8n`,
	);
}
