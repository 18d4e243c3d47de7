/**
 * Limits the resumptions that are under way in this process, of all accounts. n8n loads a whole execution for each call that wakes one, and
 * runs out of memory and of connections to its database where hundreds come at once: beyond a few, calls are refused at once, and this
 * process looks at their tasks by itself.
 */
import { backoffMs, OncePerMinute, type Clock } from '../base/clock';
import { seconds } from '../base/failures';
import { isObject } from '../base/json';
import { Limiter } from '../base/limiter';
import type { callSelf } from '../transport/client';

/** n8n 2.41 has two connections to PostgreSQL, unless told otherwise (DB_POSTGRESDB_POOL_SIZE), and a resumption keeps one core busy. */
export const RESUMPTIONS_AT_ONCE = 4;

/** Refused calls are asked to come back one after another: together they would take the time that waking needs. In ms. */
const COME_BACK = { firstMs: 5_000, eachMs: 100, mostMs: 60_000 };

class Resumptions {
	private handled = 0;
	private refused = 0;
	/** The refused call that comes back last is expected then, in epoch ms. */
	private lastBackAt = 0;
	private readonly turns = new Limiter(RESUMPTIONS_AT_ONCE);
	/** Those that wait for a turn came then, in epoch ms. */
	private readonly waiting = new Set<{ since: number }>();
	private readonly report = new OncePerMinute();

	/** A call has arrived. @returns to be called once it is answered; undefined where there are too many */
	enter(): (() => void) | undefined {
		if (this.handled >= RESUMPTIONS_AT_ONCE) {
			this.refused += 1;
			return undefined;
		}
		this.handled += 1;
		let isInside = true;
		return () => {
			if (isInside) this.handled -= 1;
			isInside = false;
		};
	}

	/** @returns in how many seconds a refused call is to come back */
	comeBackInS(nowMs: number): number {
		const { firstMs, eachMs, mostMs } = COME_BACK;
		const inMs = Math.max(firstMs, this.lastBackAt + eachMs - nowMs);
		this.lastBackAt = nowMs + Math.min(inMs, mostMs);
		return Math.floor((this.lastBackAt - nowMs) / 1_000);
	}

	/** This process calls n8n, with as few calls at once. Rejects where the signal aborts first. */
	async call<T>(nowMs: number, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
		const me = { since: nowMs };
		this.waiting.add(me);
		const leave = await this.turns.take(1, signal).finally(() => this.waiting.delete(me));
		return await call().finally(leave);
	}

	/** Writes the line that the log gets once a minute while calls are refused. */
	news(nowMs: number): string | undefined {
		if (this.refused === 0 || !this.report.isDue(nowMs)) return undefined;
		const { refused, waiting } = this;
		this.refused = 0;
		const [oldest] = waiting;
		const since = oldest === undefined ? '' : `, the oldest for ${seconds(nowMs - oldest.since)}`;
		return `Media Generation: executions are woken ${RESUMPTIONS_AT_ONCE} at a time; since the last line, calls refused: ${refused}; resumptions that wait: ${waiting.size}${since}`;
	}
}

export const resumptions = new Resumptions();

/** These pauses separate the calls of an execution that does not wake. */
const CALL_AGAIN = { firstMs: 300, mostMs: 60_000 };
/** n8n 2.41 says that it runs while it saves one that falls asleep, which takes a moment, or while one that was woken waits for a worker. */
const CALL_RUNNING = { firstMs: 1_000, mostMs: 300_000 };
/** Another call makes sure this long after an answer that says "woken". */
const MAKE_SURE_MS = 60_000;

export const NOT_WAITED_FOR = 'no task is waited for here';
export const FOREIGN_TASK = 'the task does not belong to this execution';
const BEYOND_CALLS = ['has finished', 'does not exist', NOT_WAITED_FOR, FOREIGN_TASK];
const IS_RUNNING = ['is running'];

type SelfAnswer = Awaited<ReturnType<typeof callSelf>>;

/** Tells whether n8n, or this node, says so. A status says too little: 404 also comes from an n8n that is starting, 409 from one that is saving. */
function says(answer: SelfAnswer, anyOf: readonly string[]): boolean {
	if (answer.status === undefined || !isObject(answer.body)) return false;
	const { message, error, ignored } = answer.body;
	const words = [message, error, ignored].filter((said) => typeof said === 'string').join(' ');
	return anyOf.some((said) => words.includes(said));
}

interface Calling extends Clock {
	call: () => Promise<SelfAnswer>;
	signal: AbortSignal;
	/** Is in epoch ms. */
	until: number;
	/** Tells whether another process calls, where the execution sleeps on. */
	othersCall: () => boolean;
}

/** Calls n8n until it says that the execution is awake, or nothing is left to be done here. */
export async function callUntilAwake(calling: Calling): Promise<'awake' | 'left'> {
	const { call, now, sleep, signal, until, othersCall } = calling;
	let wasTaken = false;
	for (let calls = 1; !signal.aborted && now() < until; calls += 1) {
		const answer = await resumptions.call(now(), signal, call).catch(() => undefined);
		if (answer === undefined) break;
		const isRunning = says(answer, IS_RUNNING);
		// n8n answers a call that wakes an execution once it has stored that.
		if (says(answer, BEYOND_CALLS) || (wasTaken && isRunning)) return 'awake';
		if (answer.status === 202 && othersCall()) break;
		wasTaken ||= answer.status === 200;
		const pauseMs = backoffMs(calls, isRunning ? CALL_RUNNING : CALL_AGAIN);
		await sleep(answer.status === 200 ? MAKE_SURE_MS : pauseMs, signal);
	}
	return 'left';
}
