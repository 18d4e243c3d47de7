/**
 * Closes the one gap that n8n leaves when an execution goes to sleep: until it is saved, n8n refuses callbacks with 409,
 * and a sender that does not try again would leave it asleep until the deadline. If every open task may have ended in that
 * moment, the execution calls itself back once it sleeps. Woken by this or by the service, the same code looks at the tasks.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { pause } from '../service/clock';
import type { Task } from '../service/task';

/** n8n was measured to refuse callbacks for up to 0.7 s (`npm run bench -- race`); this leaves a wide margin. */
const WINDOW_MS = 3_000;
/** So old a task should have told some progress, if it tells any. */
const SILENT_AFTER_MS = 5_000;
const PAUSES_MS = [700, 1_500, 3_000, 6_000, 12_000];
const CONFLICT = 409;

/** Whether a task may end in the moment in which callbacks are refused, as far as its progress tells. Pure. */
export function mayEndSoon(task: Task | undefined, ageMs: number): boolean {
	const progress = task?.progress;
	if (progress === undefined) return true;
	if (progress < 1) return ageMs > SILENT_AFTER_MS;
	return (ageMs * (100 - progress)) / progress < WINDOW_MS;
}

/** Calls the execution back until it sleeps. Never rejects: the deadline is the fallback. */
export async function nudge(
	context: IExecuteFunctions,
	resumeUrl: string,
	taskId: string,
): Promise<void> {
	for (const ms of PAUSES_MS) {
		await pause(ms);
		try {
			const response = (await context.helpers.httpRequest({
				method: 'POST',
				url: resumeUrl,
				body: { id: taskId },
				json: true,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
				timeout: 20_000,
			})) as { statusCode: number };
			if (response.statusCode !== CONFLICT && response.statusCode < 500) return;
		} catch (error) {
			const reason = error instanceof Error ? error.message : 'unknown reason';
			context.logger.debug(`Media Generation: n8n could not call its own resume URL: ${reason}`);
		}
	}
}
