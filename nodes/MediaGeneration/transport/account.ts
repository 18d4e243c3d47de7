/** What all runs of this process share of an account, i.e. of one base URL and key. Sources: docs/service.md, "Limits", "HTTP", "Poll routes". */
import { createHash } from 'crypto';
import { ABORTED } from '../base/abort';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { now } from '../base/clock';
import { Limiter } from '../base/limiter';
import { askedPauseMs, isAboutTasks, limitIn } from '../answers/limits';
import type { CreationRequest } from '../answers/request';
import type { Said } from '../answers/said';
import { MAX_RETRY_AFTER_MS } from '../base/bounds';

export type PollRoute = 'v1' | 'v1e';

export type SpeechRoute = 'v1' | 'v3';

/**
 * What a request is for. A pause applies to one purpose: throttled polls hold back no creation, and a creation that met a limit
 * holds back no poll. What somebody causes by posting to a webhook holds back other callbacks only.
 */
export type Purpose = 'create' | 'poll' | 'read' | 'callback';

/** Tasks that this process made, or found for a creation without an answer. They belong to no other request. */
export class MadeTasks {
	private readonly tasks = new BoundedMap<string, { since: number; hasEnded: boolean }>(20_000);
	private ending: AbortController | undefined;
	/** How many of them have ended. */
	ends = 0;

	/** @param since epoch ms */
	add(taskId: string, since: number = now()): void {
		if (!this.has(taskId)) this.tasks.set(taskId, { since, hasEnded: false });
	}

	has(taskId: string): boolean {
		return this.tasks.has(taskId);
	}

	/** @param since epoch ms */
	wasMadeSince(taskId: string, since: number): boolean {
		return (this.tasks.get(taskId)?.since ?? -1) >= since;
	}

	/** Polls, callbacks and deletions report here that a task has ended. One of these leaves a slot for another. */
	noteEnd(taskId: string): void {
		const task = this.tasks.get(taskId);
		if (task === undefined || task.hasEnded) return;
		task.hasEnded = true;
		this.ends += 1;
		this.ending?.abort(ABORTED);
		this.ending = undefined;
	}

	/** Aborts when the next one ends. */
	get nextEnd(): AbortSignal {
		return (this.ending ??= new AbortController()).signal;
	}
}

export class Account {
	private readonly pauses = new Map<Purpose, number>();
	/** The one that last showed a task. */
	pollRoute: PollRoute = 'v1';
	/** The one that last created a task after the other one had refused it. */
	speechRoute: SpeechRoute | undefined;
	/** Turns to call n8n for a sleeping execution. No account shares them, because calls wait for its files; `handOvers` bounds what follows. */
	readonly resumptions = new Limiter(4);
	readonly made = new MadeTasks();
	/** Requests whose task is not known yet: sent, or searched for. */
	readonly expected = new Set<{ request: CreationRequest }>();

	/** Epoch ms. */
	pausedUntil(purpose: Purpose): number {
		return this.pauses.get(purpose) ?? 0;
	}

	/** Holds back this purpose in all runs of the account; never shortens a pause. Callbacks are held back for 30 s at most. */
	pause(purpose: Purpose, nowMs: number, pauseMs: number): void {
		const longestMs = purpose === 'callback' ? 30_000 : MAX_RETRY_AFTER_MS;
		const until = nowMs + Math.min(pauseMs, longestMs);
		this.pauses.set(purpose, Math.max(this.pausedUntil(purpose), until));
	}

	/**
	 * Pauses for a 429 or 503 with Retry-After, whatever its words. But the reset of a daily limit holds back nobody else, and what is full
	 * holds back only its own kind, voice or model (`task/creationLine`).
	 */
	noteThrottling(purpose: Purpose, said: Said, nowMs: number = now()): void {
		if (said.answer.status !== 429 && said.answer.status !== 503) return;
		if (purpose === 'create' && isAboutTasks(said)) return;
		const wait = askedPauseMs(said);
		if (wait === undefined || (wait > MAX_RETRY_AFTER_MS && limitIn(said) === 'cap')) return;
		this.pause(purpose, nowMs, wait);
	}
}

const accounts = new BoundedMap<string, Account>();

export function accountOf(baseUrl: string, apiKey: string): Account {
	const id = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex');
	return getOrCreate(accounts, id, () => new Account());
}
