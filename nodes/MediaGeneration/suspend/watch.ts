/** Watches the sleeping executions of this process, one loop each, so that a lost callback leaves none asleep until its deadline. */
import type { IDataObject } from 'n8n-workflow';
import { backoffMs, OncePerMinute } from '../base/clock';
import { isObject } from '../base/json';
import { Limiter } from '../base/limiter';
import { inBackground, logOf } from '../n8n/clean';
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
	tasks: readonly NotedTask[];
	stop: AbortController;
	/** Whether all tasks have ended, and n8n is being called. */
	calls: boolean;
}

const loops = new Map<string, Loop>();

/** Makes sure that a sleeping execution has a loop in this process. @param ended tasks that callers say have ended */
export function watchOver(asleep: Asleep, ended: readonly string[] = []): void {
	const { id, context } = asleep;
	const before = loops.get(id);
	if (before !== undefined && (ended.length === 0 || before.calls)) return;
	before?.stop.abort();
	// The service's answers can lag behind its callbacks, so these tasks are polled like new ones.
	const tasks = (before ?? asleep).tasks.map((task) =>
		ended.includes(task.taskId) ? { ...task, callsBack: false, createdAt: realClock.now() } : task,
	);
	const loop: Loop = { tasks, stop: new AbortController(), calls: false };
	loops.set(id, loop);
	const pauseMs = tasks.map(pauseOf).reduce((one, other) => Math.min(one, other), Infinity);
	const followed = callOnceOver(asleep, loop, ended.length > 0 ? 0 : pauseMs).finally(() => {
		if (loops.get(id) === loop) loops.delete(id);
	});
	inBackground(context, followed);
}

function pauseOf({ callsBack, createdAt }: NotedTask): number {
	const ageMs = realClock.now() - createdAt;
	return callsBack ? rarePace(ageMs) : pace(ageMs);
}

/** Concurrent polls of one execution. */
export const POLLS_AT_ONCE = 10;

/** Returns the IDs of those that did not end by the service's own word, such as refused ones. */
async function untilAllEnd(
	client: ServiceClient,
	tasks: readonly NotedTask[],
	signal: AbortSignal,
): Promise<string[]> {
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

/** @param firstMs pause before the first polls */
async function callOnceOver(asleep: Asleep, loop: Loop, firstMs: number): Promise<void> {
	const { id, client } = asleep;
	const { tasks, stop } = loop;
	const deadline = lastDeadline(tasks);
	await realClock.sleep(firstMs, stop.signal);
	let givenUp = await untilAllEnd(client, tasks, stop.signal);
	if (stop.signal.aborted) return;
	loop.calls = true;
	let wasMissing = false;
	// At its deadline n8n wakes it by itself.
	for (let calls = 1; realClock.now() < deadline; calls += 1) {
		// The ID in the notes proves that this is no stranger's call.
		const body = { id: tasks[0]?.taskId, sleep_id: id, given_up: givenUp };
		const reply = await callInTurn(asleep, body);
		const meaning = meaningOf(reply);
		if (meaning === 'over' || (meaning === 'missing' && wasMissing)) return;
		wasMissing = meaning === 'missing';
		if (meaning === 'unknown') reportUnknown(asleep, reply);
		// n8n can lose a resumption that it has accepted, and can be starting, so another call makes sure.
		const isClear = meaning === 'handled' || wasMissing;
		const growing = { firstMs: 1_000, maxMs: 60_000 };
		await realClock.sleep(isClear ? 60_000 : backoffMs(calls, growing));
		// The node has seen a task otherwise than this loop: refused by now, or running.
		const isRefused = meaning === 'handled' && reply.status !== 200;
		const seenEnded = tasks.map((task) => ({ ...task, callsBack: false }));
		if (isRefused) givenUp = await untilAllEnd(client, seenEnded, stop.signal);
	}
}

/** n8n loads the whole execution for each call. A call that waits for files gives its turn to the next one. */
async function callInTurn(
	{ context, client, resumeUrl }: Asleep,
	body: IDataObject,
): Promise<SelfReply> {
	const endTurn = await client.account.resumptions.take();
	const reply = callSelf(context, { url: resumeUrl, body }).finally(endTurn);
	inBackground(context, realClock.sleep(2_000).then(endTurn));
	return await reply;
}

/** `handled`: this node has answered. `n8n`: n8n itself, as it runs or starts. */
type Meaning = 'over' | 'missing' | 'handled' | 'n8n' | 'unknown';

/** n8n redirects callers to a form while that is the last node which it has stored, whether the execution runs, waits or has finished. */
const TO_FORM = new RegExp(`^/(?!.*webhook-waiting).*/${WEBHOOK_PATH}\\?`);

/** What a reply says about an execution that slept. n8n's own ones come from its waiting-webhooks.js and response-helper.js (2.41). */
export function meaningOf(reply: SelfReply): Meaning {
	if (reply.status === undefined) return 'unknown';
	const { status, body, location } = reply;
	if (typeof location === 'string' && TO_FORM.test(location)) return 'missing';
	if (!isObject(body)) return 'unknown';
	const { received, ignored, code, message } = body;
	if (typeof received === 'boolean') {
		const sleepsElsewhere = status === 404 || (status === 200 && ignored !== undefined);
		return sleepsElsewhere ? 'over' : 'handled';
	}
	if (typeof code !== 'number' || typeof message !== 'string') return 'unknown';
	if (message.includes('has finished')) return 'over';
	// A starting n8n answers so, too.
	return status === 404 ? 'missing' : 'n8n';
}

/** Whether this n8n has answered about an execution that runs. */
export function isOfRunning(reply: SelfReply): boolean {
	const meaning = meaningOf(reply);
	return meaning === 'n8n' || (meaning === 'missing' && reply.status !== 404);
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
		`an execution that sleeps can't be woken, because n8n does not answer at its own address ${origin}${pathname} (${shownReply(reply)}). Its tasks have finished: ${ids.slice(0, 3).join(', ')}${more}. Check N8N_WEBHOOK_URL, N8N_PATH and the proxy in front of n8n`,
	);
}
