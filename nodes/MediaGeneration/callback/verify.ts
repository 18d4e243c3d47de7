/**
 * A posted body is a hint; what counts is what the service itself says of the task (docs/service.md, "Callbacks").
 * The verdict comes within a fixed time, so that the sender gets its answer in time.
 */
import { CONFIRM_MS, type Look } from '../service/look';
import { verdictOf, type Verdict } from '../service/verdict';

export type Verification =
	| Verdict
	/** The service does not know the task. */
	| { kind: 'unknown' }
	/** The service can't be asked just now. */
	| { kind: 'unavailable'; reason: string };

export interface VerifyDeps {
	/** @param misses how often the service has answered 404 so far */
	look(timeoutMs: number, misses: number): Promise<Look>;
	now(): number;
	sleep(ms: number): Promise<void>;
}

export interface VerifyOptions {
	taskId: string;
	/** For all looks together, in ms. */
	budgetMs: number;
	/** Whether the callback says that the task is over: then a task that still runs is looked at again. */
	claimsEnd: boolean;
}

/** The whole answer to the sender comes within 15 s; this leaves time for the rest. */
export const VERIFY_BUDGET_MS = 12_000;
const LOOK_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;
/** A task can be unknown for a short time after its creation (docs/service.md, "Poll routes"). */
const PAUSE_AFTER_MISS_MS = 1_500;
/** How many 404 answers are enough to call a task unknown: an anonymous call must not cost many requests. */
const MISSES_ALLOWED = 2;
/** A single 401 can come from an edge, or from throttling (docs/service.md, "More routes"). */
const DENIALS_ALLOWED = 2;

function verdictOn(taskId: string, look: Look): Verification {
	switch (look.kind) {
		case 'task':
			return verdictOf(taskId, look.task);
		case 'missing':
			return { kind: 'unknown' };
		case 'denied':
		case 'doubtful':
		case 'busy':
			return { kind: 'unavailable', reason: look.detail };
	}
}

function pauseAfter(look: Look, attempt: number): number {
	if (look.kind === 'missing') return PAUSE_AFTER_MISS_MS;
	if (look.kind === 'doubtful') return CONFIRM_MS;
	const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
	return look.kind === 'busy' ? Math.max(pause, look.retryAfterMs ?? 0) : pause;
}

/**
 * Asks the service until it gives a clear answer or the budget is spent; then the last answer counts. Asked again are: a
 * busy service, `done` without any file, which can come for a moment (docs/service.md, "Status"), and a task that still
 * runs though its callback says otherwise, as a callback can be faster than the service's own read of that task.
 */
export async function verifyTask(
	deps: VerifyDeps,
	{ taskId, budgetMs, claimsEnd }: VerifyOptions,
): Promise<Verification> {
	const end = deps.now() + budgetMs;
	let verdict: Verification = { kind: 'unavailable', reason: 'the service was not asked' };
	let misses = 0;
	let denials = 0;
	let doubted = false;
	for (let attempt = 0; deps.now() < end; attempt += 1) {
		const look = await deps.look(Math.min(LOOK_TIMEOUT_MS, end - deps.now()), misses);
		if (look.kind === 'doubtful' && doubted) return verdictOf(taskId, look.task);
		doubted ||= look.kind === 'doubtful';
		verdict = verdictOn(taskId, look);
		if (look.kind === 'missing') misses += 1;
		if (look.kind === 'denied') denials += 1;
		if (verdict.kind === 'done' || verdict.kind === 'failed') return verdict;
		if (verdict.kind === 'running' && verdict.task.state === 'running' && !claimsEnd)
			return verdict;
		if (misses >= MISSES_ALLOWED || denials >= DENIALS_ALLOWED) return verdict;
		const pause = pauseAfter(look, attempt);
		if (deps.now() + pause >= end) return verdict;
		await deps.sleep(pause);
	}
	return verdict;
}
