/**
 * A posted body is a hint; what counts is what the service itself says of the task (service-facts, "Callbacks").
 * The whole verdict comes within a bound, so that the sender gets its answer in time.
 */
import type { Look } from '../service/look';
import { outputsOf } from '../service/outputs';
import type { Task } from '../service/task';

export type Verdict =
	| { kind: 'terminal'; task: Task }
	| { kind: 'running'; task: Task }
	/** 404 for as long as we asked. */
	| { kind: 'unknown' }
	/** The service can't be asked just now. */
	| { kind: 'unavailable'; reason: string };

export interface VerifyDeps {
	look(timeoutMs: number): Promise<Look>;
	now(): number;
	sleep(ms: number): Promise<void>;
}

/** The whole answer to the sender comes within 15 s; this leaves room for the rest. */
export const VERIFY_BUDGET_MS = 12_000;
/** A task can be unknown for a short time after its creation (service-facts, "Poll routes"). */
const UNKNOWN_PATIENCE_MS = 3_000;
const LOOK_TIMEOUT_MS = 5_000;

/**
 * Asks the service until it gives a clear answer or the budget is spent.
 * `done` without any file is asked again: it can come for a moment (service-facts, "Status").
 *
 * @param budgetMs for all looks together
 */
export async function verifyTask(
	deps: VerifyDeps,
	budgetMs: number = VERIFY_BUDGET_MS,
	requestUrls: readonly string[] = [],
): Promise<Verdict> {
	const startedAt = deps.now();
	let verdict: Verdict = { kind: 'unavailable', reason: 'the service was not asked' };
	for (let attempt = 0; ; attempt += 1) {
		const left = budgetMs - (deps.now() - startedAt);
		if (left <= 0) return verdict;
		const look = await deps.look(Math.min(LOOK_TIMEOUT_MS, left));
		let patience = budgetMs;
		switch (look.kind) {
			case 'task':
				if (look.task.state === 'running') return { kind: 'running', task: look.task };
				verdict = { kind: 'terminal', task: look.task };
				if (
					look.task.state === 'failed' ||
					outputsOf(look.task, requestUrls).length > 0 ||
					attempt >= 3
				)
					return verdict;
				break;
			case 'missing':
				verdict = { kind: 'unknown' };
				patience = UNKNOWN_PATIENCE_MS;
				break;
			case 'denied':
				return { kind: 'unavailable', reason: look.detail };
			case 'busy':
				verdict = { kind: 'unavailable', reason: look.detail };
		}
		const asked = look.kind === 'busy' ? look.retryAfterMs : undefined;
		const wait = Math.max(asked ?? 0, 250 * 2 ** attempt);
		if (deps.now() - startedAt + wait >= patience) return verdict;
		await deps.sleep(wait);
	}
}
