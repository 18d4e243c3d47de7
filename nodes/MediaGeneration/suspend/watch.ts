/** Watches over the sleeping executions of this process, a loop each: a lost callback leaves none asleep until its deadline. */
import { backoffMs, OncePerMinute, type Backoff } from '../base/clock';
import { isObject } from '../base/json';
import { Limiter } from '../base/limiter';
import { logOf } from '../n8n/clean';
import { realClock } from '../n8n/clock';
import { pace } from '../task/pace';
import { waitForTask } from '../task/wait';
import { callSelf, type N8nContext, type SelfReply, type ServiceClient } from '../transport/client';
import { lastDeadline, type NotedTask } from './notes';

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
	/** All tasks have ended, and n8n is being called. */
	calls: boolean;
}

const loops = new Map<string, Loop>();

/**
 * Sees to it that a sleeping execution has a loop in this process.
 * @param when `later`: it has just been polled. `now`: a caller says that tasks are over; a loop that polls rarely is replaced.
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

/** Of one execution. */
export const POLLS_AT_ONCE = 10;
/** A task whose end is told by a callback is polled when its age has grown by this share: that callback can be lost. */
const RARELY = { shortestMs: 30_000, ageShare: 0.35 };
/** A callback gets this long to wake the execution before this process calls n8n. */
const CALLBACK_FIRST_MS = 20_000;

function pauseFor({ called, createdAt }: NotedTask): number {
	const ageMs = realClock.now() - createdAt;
	const { shortestMs, ageShare } = RARELY;
	return called ? Math.max(shortestMs, ageMs * ageShare) : pace(ageMs);
}

const firstPause = (tasks: readonly NotedTask[]) =>
	tasks.reduce((soonest, task) => Math.min(soonest, pauseFor(task)), Infinity);

async function follow(asleep: Asleep, loop: Loop, when: 'later' | 'now'): Promise<void> {
	const { tasks } = asleep;
	const { signal } = loop.stop;
	if (when === 'later') await realClock.sleep(firstPause(tasks), signal);
	const left = [...tasks];
	const polls = new Limiter(POLLS_AT_ONCE);
	const followOneByOne = async () => {
		for (let task = left.shift(); task !== undefined; task = left.shift())
			await untilOver(task, asleep, { polls, signal });
	};
	await Promise.all(Array.from({ length: POLLS_AT_ONCE }, followOneByOne));
	if (signal.aborted) return;
	loop.calls = true;
	if (when === 'later' && tasks.some(({ called }) => called))
		await realClock.sleep(CALLBACK_FIRST_MS);
	await callUntilAwake(asleep);
}

async function untilOver(
	task: NotedTask,
	{ client }: Asleep,
	running: { polls: Limiter; signal: AbortSignal },
): Promise<void> {
	const { now, sleep } = realClock;
	const sleepRarely = async (ms: number, signal?: AbortSignal) =>
		await sleep(Math.max(ms, Math.min(pauseFor(task), task.deadline - now())), signal);
	const clock = { now, sleep: task.called ? sleepRarely : sleep };
	const waited = await waitForTask(task, { ...clock, ...running, client });
	const isOver =
		waited.kind === 'done' || (waited.kind === 'failed' && waited.failure.outcome === 'failed');
	if (isOver) client.account.taskEnded(task.taskId);
}

/** As many as find a place at once (`wake.ts`). */
const ownCalls = new Limiter(2);

/** Separates the calls of an execution that does not wake. */
const CALL_AGAIN: Backoff = { firstMs: 1_000, mostMs: 60_000 };
/** Where this node has answered, another call makes sure after this: n8n can lose a resumption that it has accepted. */
const HANDLED_MS = 60_000;

async function callUntilAwake(asleep: Asleep): Promise<void> {
	const { tasks, resumeUrl, context } = asleep;
	const deadline = lastDeadline(tasks);
	const body = { id: tasks[0]?.taskId, [ALL_OVER]: true };
	let wasTaken = false;
	// At its deadline n8n wakes it by itself.
	for (let calls = 1; realClock.now() < deadline; calls += 1) {
		const reply = await ownCalls.run(async () => await callSelf(context, resumeUrl, body));
		if (says(reply, FINAL_WORDS) || (wasTaken && saysItRuns(reply))) return;
		const isHandled = isOwnAnswer(reply);
		wasTaken ||= isHandled && reply.status === 200;
		if (!isHandled && !says(reply, N8N_WORDS)) reportStranger(asleep, reply);
		await realClock.sleep(isHandled ? HANDLED_MS : backoffMs(calls, CALL_AGAIN));
	}
}

/** Field of a call by which a loop says that it has seen all tasks end, or refused for long enough. */
export const ALL_OVER = 'all_over';

export const NOT_WAITED_FOR = 'no task is waited for here';
export const FOREIGN_TASK = 'the task does not belong to this execution';
/** n8n's words come from its waiting-webhooks.js (2.41). A status says too little: 404 also comes from an n8n that is starting. */
const RUNNING_WORDS = ['is running'];
const FINAL_WORDS = [
	...['has finished', 'does not exist', 'does not contain a waiting webhook'],
	...[NOT_WAITED_FOR, FOREIGN_TASK],
];
/** Other words of n8n's: two calls woke it at the same moment, and n8n is starting. */
const N8N_WORDS = [...RUNNING_WORDS, 'already being resumed', 'is not registered'];

function says(reply: SelfReply, anyOf: readonly string[]): boolean {
	if (reply.status === undefined || !isObject(reply.body)) return false;
	const { message, error, ignored } = reply.body;
	const words = [message, error, ignored].filter((said) => typeof said === 'string').join(' ');
	return anyOf.some((said) => words.includes(said));
}

const isOwnAnswer = (reply: SelfReply) =>
	reply.status !== undefined && isObject(reply.body) && typeof reply.body.received === 'boolean';

/** n8n refuses calls of an execution that runs. It fails for one of the editor that it has not saved yet. */
export const saysItRuns = (reply: SelfReply) =>
	says(reply, [...RUNNING_WORDS, "reading 'resumeToken'"]);

export function shownReply(reply: SelfReply): string {
	return reply.status === undefined ? reply.reason : `it answered HTTP ${reply.status}`;
}

const strangers = new OncePerMinute();

function reportStranger({ context, tasks, resumeUrl }: Asleep, reply: SelfReply): void {
	if (!strangers.isDue(realClock.now())) return;
	const { origin, pathname } = new URL(resumeUrl);
	const ids = tasks.map(({ taskId }) => taskId);
	const more = ids.length > 3 ? `, and ${ids.length - 3} more` : '';
	logOf(context).warn(
		`an execution that sleeps can't be woken, because n8n does not answer at its own address ${origin}${pathname} (${shownReply(reply)}). Its tasks are over: ${ids.slice(0, 3).join(', ')}${more}. Check N8N_WEBHOOK_URL, N8N_PATH and the proxy in front of n8n`,
	);
}
