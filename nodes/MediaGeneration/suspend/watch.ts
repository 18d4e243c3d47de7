/** Watches the sleeping executions of this process, one loop each, so that a lost callback leaves none asleep until its deadline. */
import { backoffMs, OncePerMinute } from '../base/clock';
import { isObject } from '../base/json';
import { Limiter } from '../base/limiter';
import { logOf } from '../n8n/clean';
import { realClock } from '../n8n/realClock';
import { pace, rarePace } from '../task/pace';
import { waitForTask } from '../task/wait';
import { callSelf, type N8nContext, type SelfReply, type ServiceClient } from '../transport/client';
import { lastDeadline, WEBHOOK_PATH, type NotedTask } from './notes';

/** A sleeping execution. Its context and client are its own: another one's credential can be deleted or changed. */
export interface Asleep {
	/** As in its notes. */
	id: string;
	tasks: readonly NotedTask[];
	resumeUrl: string;
	context: N8nContext;
	client: ServiceClient;
}

interface Loop {
	stop: AbortController;
	/** Whether all tasks have ended, and n8n is being called. */
	calls: boolean;
}

const loops = new Map<string, Loop>();

/**
 * Makes sure that a sleeping execution has a loop in this process.
 * @param when `later`: it has just been polled. `now`: a caller says that tasks have ended, so a loop that polls rarely is replaced.
 */
export function watchOver(asleep: Asleep, when: 'later' | 'now'): void {
	const { id } = asleep;
	const before = loops.get(id);
	if (before !== undefined && (when === 'later' || before.calls)) return;
	before?.stop.abort();
	const loop: Loop = { stop: new AbortController(), calls: false };
	loops.set(id, loop);
	void follow(asleep, loop, when).finally(() => {
		if (loops.get(id) === loop) loops.delete(id);
	});
}

/** Concurrent polls of one execution. */
export const POLLS_AT_ONCE = 10;

async function follow(asleep: Asleep, loop: Loop, when: 'later' | 'now'): Promise<void> {
	const { tasks } = asleep;
	const { signal } = loop.stop;
	const pauses = tasks.map(({ called, createdAt }) => {
		const ageMs = realClock.now() - createdAt;
		return called ? rarePace(ageMs) : pace(ageMs);
	});
	const pauseMs = pauses.reduce((one, other) => Math.min(one, other), Infinity);
	if (when === 'later') await realClock.sleep(pauseMs, signal);
	const givenUp = await untilAllEnd(asleep, signal);
	if (signal.aborted) return;
	loop.calls = true;
	// The last callback gets some time to wake it first.
	if (when === 'later' && tasks.some(({ called }) => called)) await realClock.sleep(20_000);
	await callUntilAwake(asleep, givenUp, signal);
}

/** Returns the IDs of those that did not end by the service's own word, such as refused ones. */
async function untilAllEnd({ tasks, client }: Asleep, signal: AbortSignal): Promise<string[]> {
	const turns = new Limiter(POLLS_AT_ONCE);
	const polling = { ...realClock, client, signal, polls: new Limiter(POLLS_AT_ONCE) };
	const ends = await Promise.all(
		tasks.map(async (task) => await turns.run(async () => await waitForTask(task, polling))),
	);
	return tasks.flatMap(({ taskId }, index) => {
		const end = ends[index];
		return end?.kind === 'failed' && end.failure.outcome !== 'failed' ? [taskId] : [];
	});
}

/** n8n loads the whole execution for each call, keeps a core busy with each resumption, and loses executions if too many come at once. */
export const RESUMPTIONS_AT_ONCE = 4;

const ownCalls = new Limiter(RESUMPTIONS_AT_ONCE);

async function callUntilAwake(
	asleep: Asleep,
	givenUp: string[],
	signal: AbortSignal,
): Promise<void> {
	const { tasks, resumeUrl, context } = asleep;
	const deadline = lastDeadline(tasks);
	let over = givenUp;
	let wasTaken = false;
	// At its deadline n8n wakes it by itself.
	for (let calls = 1; realClock.now() < deadline; calls += 1) {
		const body = { id: tasks[0]?.taskId, [ALL_OVER]: over };
		const reply = await ownCalls.run(async () => await callSelf(context, resumeUrl, body));
		const meaning = meaningOf(reply);
		if (meaning === 'sleeps no more' || (wasTaken && meaning === 'runs')) return;
		// n8n has had a minute to store that the execution sleeps here.
		if (meaning === 'at a form' && calls > 6) return;
		wasTaken ||= meaning === 'handled' && reply.status === 200;
		if (meaning === 'unknown') reportUnknown(asleep, reply);
		// n8n can lose a resumption that it has accepted, so another call makes sure.
		const pauseMs = backoffMs(calls, { firstMs: 1_000, mostMs: 60_000 });
		await realClock.sleep(meaning === 'handled' ? 60_000 : pauseMs);
		if (meaning !== 'handled' || reply.status === 200) continue;
		// The node has seen a task otherwise than this loop: refused by now, or running.
		const seenEnded = tasks.map((task) => ({ ...task, called: false }));
		over = await untilAllEnd({ ...asleep, tasks: seenEnded }, signal);
	}
}

/** Field by which the call of a loop says that it has seen all tasks end, with the IDs of those that it gave up. */
export const ALL_OVER = 'all_over';

export const NOT_WAITED_FOR = 'no task is waited for here';
export const OTHER_EXECUTION = 'the task does not belong to this execution';

/** `handled`: this node has answered. `n8n`: n8n is starting, or two calls woke it at the same time. */
type Meaning = 'sleeps no more' | 'runs' | 'at a form' | 'handled' | 'n8n' | 'unknown';

/** n8n's words come from its waiting-webhooks.js (2.41). A status says too little: a starting n8n answers 404, too. */
const WORDS: ReadonlyArray<readonly [Meaning, string]> = [
	['sleeps no more', 'has finished'],
	['sleeps no more', 'does not exist'],
	['sleeps no more', 'does not contain a waiting webhook'],
	['sleeps no more', NOT_WAITED_FOR],
	['sleeps no more', OTHER_EXECUTION],
	['runs', 'is running'],
	// n8n fails like this for a manual execution that it has not saved yet.
	['runs', "reading 'resumeToken'"],
	['n8n', 'already being resumed'],
	['n8n', 'is not registered'],
];

/** n8n redirects callers to a form while that is the last node which it has stored, whether the execution runs, waits or has finished. */
const TO_FORM = new RegExp(`^/(?!.*webhook-waiting).*/${WEBHOOK_PATH}\\?`);

export function meaningOf(reply: SelfReply): Meaning {
	if (reply.status === undefined) return 'unknown';
	const { body, location } = reply;
	if (typeof location === 'string' && TO_FORM.test(location)) return 'at a form';
	if (!isObject(body)) return 'unknown';
	const { message, error, ignored, received } = body;
	const said = [message, error, ignored].filter((each) => typeof each === 'string').join(' ');
	const [meaning] = WORDS.find(([, words]) => said.includes(words)) ?? [];
	return meaning ?? (typeof received === 'boolean' ? 'handled' : 'unknown');
}

export function shownReply(reply: SelfReply): string {
	return reply.status === undefined ? reply.reason : `it answered HTTP ${reply.status}`;
}

const unknownReplies = new OncePerMinute();

function reportUnknown({ context, tasks, resumeUrl }: Asleep, reply: SelfReply): void {
	if (!unknownReplies.isDue(realClock.now())) return;
	const { origin, pathname } = new URL(resumeUrl);
	const ids = tasks.map(({ taskId }) => taskId);
	const more = ids.length > 3 ? `, and ${ids.length - 3} more` : '';
	logOf(context).warn(
		`an execution that sleeps can't be woken, because n8n does not answer at its own address ${origin}${pathname} (${shownReply(reply)}). Its tasks are over: ${ids.slice(0, 3).join(', ')}${more}. Check N8N_WEBHOOK_URL, N8N_PATH and the proxy in front of n8n`,
	);
}
