/** Calling a sleeping execution by its resume URL until it is awake. */
import { callSelf, type N8nContext } from '../service/client';
import type { Clock } from '../service/clock';
import { isObject } from '../service/json';

/** Pauses between the calls of an execution that does not wake, in ms; the last one repeats. */
const CALL_PAUSES_MS = [300, 700, 1_500, 3_000, 6_000, 12_000, 30_000, 60_000];
/** After an answer that says "woken": time for the delivery, before another call makes sure. */
const MAKE_SURE_MS = 60_000;

/** Answers to calls that no sleeping execution here waits for. */
export const NOT_WAITED_FOR = 'no task is waited for here';
export const FOREIGN_TASK = 'the task does not belong to this execution';
const BEYOND_CALLS = ['has finished', 'does not exist', NOT_WAITED_FOR, FOREIGN_TASK];

/**
 * Whether an answer, in n8n's own words or in ours, says that the execution no longer sleeps, or does not wait for this
 * task. A status alone says too little: 404 also comes from a proxy or from an n8n that is still starting, 409 from one that is still saving.
 */
function isBeyondCalls(answer: Awaited<ReturnType<typeof callSelf>>): boolean {
	if (answer.status === undefined || !isObject(answer.body)) return false;
	const { message, error, ignored } = answer.body;
	const words = [message, error, ignored].filter((said) => typeof said === 'string').join(' ');
	return BEYOND_CALLS.some((said) => words.includes(said));
}

export interface Calls {
	/** Read for each call, as the latest context serves all. */
	context: () => N8nContext;
	clock: Clock;
	resumeUrl: string;
	/** A task of the execution that is over. */
	taskId: string;
	/** Before the first call, in ms. */
	delayMs: number;
	/** When to give up, in epoch ms. */
	until: number;
	/** Aborts when the execution wakes. */
	woken: AbortSignal;
	/** Whether this process watches all of its tasks, so that it knows better than an answer that says "waiting". */
	knowsAll: boolean;
}

/** Calls until the execution wakes. Returns whether n8n has said that it no longer sleeps, though nothing here woke it. Never rejects. */
export async function callUntilAwake(calls: Calls): Promise<boolean> {
	const { context, clock, resumeUrl, taskId, delayMs, until, woken, knowsAll } = calls;
	if (delayMs > 0) await clock.sleep(delayMs, woken);
	for (let call = 0; !woken.aborted && clock.now() < until; call += 1) {
		const answer = await callSelf(context(), resumeUrl, { id: taskId });
		if (isBeyondCalls(answer)) return true;
		if (answer.status === 202 && !knowsAll) return false;
		const pauseMs = CALL_PAUSES_MS[Math.min(call, CALL_PAUSES_MS.length - 1)] ?? 0;
		await clock.sleep(answer.status === 200 ? MAKE_SURE_MS : pauseMs, woken);
	}
	return false;
}
