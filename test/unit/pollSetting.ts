/** The waiting loop on a virtual clock, and what a look can find. */
import type { Failure } from '../../nodes/MediaGeneration/base/failures';
import type { Look } from '../../nodes/MediaGeneration/transport/look';
import { parseTask } from '../../nodes/MediaGeneration/transport/task';
import {
	PollLoop,
	type PollDeps,
	type Waited,
	type Watch,
} from '../../nodes/MediaGeneration/task/poll';
import { seededRandom, VirtualClock } from '../support/virtualClock';

export const URL_OF_FILE = 'https://files.example/a.mp3';

export function task(status: string, extra: object = {}): Look {
	const found = parseTask({ id: 't', status, ...extra });
	if (found === undefined) throw new Error('no task');
	return { kind: 'task', task: found };
}
export const running = (progress?: number): Look => task('doing', { progress });
export const done = (): Look => task('done', { metadata: { output_uri: URL_OF_FILE } });
export const busy = (retryAfterMs?: number): Look => ({
	kind: 'busy',
	detail: 'HTTP 503: busy',
	...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
export const missing: Look = { kind: 'missing', detail: 'HTTP 404', httpStatus: 404 };

export type Script = (watch: Watch, ageMs: number, count: number) => Look | Promise<Look>;

/** A loop on a virtual clock whose looks come from a script, and what it looked at. */
export function setUp(script: Script, overrides: Partial<PollDeps> = {}) {
	const clock = new VirtualClock();
	const start = clock.now();
	const looks: Array<{ taskId: string; ageMs: number; timeoutMs: number }> = [];
	const counts = new Map<string, number>();
	const loop = new PollLoop({
		async look(watch, timeoutMs) {
			const ageMs = clock.now() - watch.createdAt;
			const count = (counts.get(watch.taskId) ?? 0) + 1;
			counts.set(watch.taskId, count);
			looks.push({ taskId: watch.taskId, ageMs, timeoutMs });
			return await script(watch, ageMs, count);
		},
		now: clock.now,
		sleep: clock.sleep,
		random: seededRandom(1),
		pausedUntil: () => 0,
		...overrides,
	});
	const watchOf = (taskId = 't', timeoutMs = 600_000, extra: Partial<Watch> = {}): Watch => ({
		taskId,
		kind: 'speech',
		createdAt: start,
		deadline: start + timeoutMs,
		echoes: [],
		pace: 'poll',
		...extra,
	});
	const wait = async (...of: Parameters<typeof watchOf>) => await loop.wait(watchOf(...of));
	return { clock, start, looks, loop, watchOf, wait };
}

/** Why a wait failed. Fails where it did not. */
export function failureOf(waited: Waited): Failure {
	if (waited.kind !== 'failed') throw new Error(`it did not fail, but: ${waited.kind}`);
	return waited.failure;
}
