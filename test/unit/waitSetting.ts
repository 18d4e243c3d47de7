/** Waiting for tasks on a virtual clock, at a service whose answers come from a script. */
import { setMaxListeners } from 'node:events';
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';
import { unlessAborted } from '../../nodes/MediaGeneration/base/abort';
import { isObject } from '../../nodes/MediaGeneration/base/json';
import { Limiter } from '../../nodes/MediaGeneration/base/limiter';
import { waitForTask, type Waited, type Watch } from '../../nodes/MediaGeneration/task/wait';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { answer, noAnswer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

export const S = 1_000;
export const URL_OF_FILE = 'https://files.example/a.mp3';
export const body = (status: string, extra: object) => answer(200, { id: 't', status, ...extra });
export const running = (progress?: number) => body('doing', { progress });
export const done = () => body('done', { metadata: { output_uri: URL_OF_FILE } });
export const fileless = () => body('done', { type: 'sound_effect', metadata: {} });
export const failed = () => body('error', { error_message: 'no luck' });
/** A failure that names no task: the request can be what failed. */
export const doubtful = () =>
	answer(200, { status: 'error', type: 'tts', error_message: 'no luck' });
export const busy = (retryAfterS?: number) =>
	answer(503, { message: 'busy' }, retryAfterS === undefined ? {} : { 'retry-after': retryAfterS });
export const missing = () => answer(404, { message: 'unknown task' });
export const denied = () => answer(401, { message: 'expired' });
export const silence = noAnswer;

/** @param count how often that task was polled, from 1 */
export type Script = (ageMs: number, count: number, taskId: string) => Reply | Promise<Reply>;

export function setUp(script: Script, { atOnce = 10 }: { atOnce?: number } = {}) {
	const clock = new VirtualClock();
	const { now, sleep } = clock;
	const start = now();
	const over = new AbortController();
	setMaxListeners(0, over.signal);
	const polls: Array<{ taskId: string; ageMs: number; timeoutMs: number }> = [];
	const client = scriptedClient(async ({ path, timeoutMs, signal = over.signal }) => {
		const [, route, , taskId = ''] = path.split('/');
		// Unknown tasks are looked for on the other route as well, in the same poll.
		if (route === 'v1e') return missing();
		const ageMs = now() - start;
		polls.push({ taskId, ageMs, timeoutMs });
		const count = polls.filter((poll) => poll.taskId === taskId).length;
		const reply = await unlessAborted(signal, script(ageMs, count, taskId));
		if (reply?.answered !== true) return reply ?? silence();
		const { body } = reply;
		return isObject(body) && body.id === 't' ? { ...reply, body: { ...body, id: taskId } } : reply;
	}, now);
	const asleep = new AbortController();
	const signals = { signal: over.signal, sleepSoon: asleep.signal };
	const waiting = { client, now, sleep, polls: new Limiter(atOnce), ...signals };
	const wait = async (extra: Partial<Watch> & { timeoutMs?: number } = {}) => {
		const { timeoutMs = 600 * S, ...fields } = extra;
		const watch: Watch = {
			taskId: 't',
			createdAt: start,
			deadline: start + timeoutMs,
			requestAddresses: [],
			named: false,
			...fields,
		};
		return await waitForTask(watch, waiting);
	};
	return {
		clock,
		polls,
		client,
		over,
		asleep,
		wait,
		/** Waits for one task. @returns also when it was polled and when the wait was over, in s since its creation */
		run: async (...of: Parameters<typeof wait>) => {
			const waited = await clock.run(wait(...of));
			const atS = polls.map(({ ageMs }) => Math.round(ageMs / 10) / 100);
			return { waited, atS, endS: (now() - start) / S };
		},
	};
}

/** Why a wait failed. Fails where it did not. */
export function failureOf(waited: Waited): Failure {
	if (waited.kind !== 'failed') throw new Error(`it did not fail, but: ${waited.kind}`);
	return waited.failure;
}
