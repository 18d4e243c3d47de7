/** One task waited for in virtual time: by the nodes' own loop, and as a plain loop of HTTP Request and Wait would. */
import { seededRandom, VirtualClock } from '../test/unit/virtualClock';
import { PollLoop } from '../nodes/MediaGeneration/wait/poll';
import { parseTask } from '../nodes/MediaGeneration/service/task';
import type { Look } from '../nodes/MediaGeneration/service/look';
import { check } from './stats';

export const SECOND = 1_000;
export const HOUR = 3_600 * SECOND;

export type ProgressOf = (share: number, random: () => number) => number | undefined;
export const endsAtHalf = 'ends at half';
export const lies: Record<string, ProgressOf> = {
	'stuck at 0': () => 0,
	'stuck at 99': () => 99,
	random: (_, random) => Math.floor(100 * random()),
	backwards: (share) => 99 - Math.floor(99 * share),
	'twice too fast': (share) => Math.min(99, Math.floor(200 * share)),
	[endsAtHalf]: (share) => Math.floor(50 * share),
};
export const truths: Record<string, ProgressOf> = {
	none: () => undefined,
	honest: (share) => Math.floor(100 * share),
};

export interface Waited {
	delayMs: number;
	polls: number;
}

/** The real loop, one task, hours in milliseconds. */
export async function ours(
	durationMs: number,
	progressOf: ProgressOf,
	seed: number,
): Promise<Waited> {
	const clock = new VirtualClock();
	const random = seededRandom(seed);
	const createdAt = clock.now();
	let polls = 0;
	const look = (): Promise<Look> => {
		polls += 1;
		const share = (clock.now() - createdAt) / durationMs;
		const raw =
			share >= 1
				? { id: 't', status: 'done', metadata: { audio_url: 'https://files.example/a.mp3' } }
				: { id: 't', status: 'doing', progress: progressOf(share, random) };
		const task = parseTask(raw);
		check(task !== undefined, 'a task that cannot be read');
		return Promise.resolve({ kind: 'task', task });
	};
	const loop = new PollLoop({
		look,
		now: clock.now,
		sleep: clock.sleep,
		random,
		pausedUntil: () => 0,
	});
	const deadline = createdAt + 24 * HOUR;
	const waited = await clock.run(loop.wait({ taskId: 't', kind: 'x', createdAt, deadline }));
	check(waited.kind === 'done', 'a task was not waited for to its end');
	return { delayMs: clock.now() - createdAt - durationMs, polls };
}

/** What a loop of HTTP Request and Wait does: sleep, look, sleep longer, look. */
export function plain(durationMs: number, intervalOf: (poll: number) => number): Waited {
	let age = 0;
	let polls = 0;
	while (age < durationMs) age += intervalOf((polls += 1));
	return { delayMs: age - durationMs, polls };
}

export const others: Record<string, (poll: number) => number> = {
	'every 1 s': () => SECOND,
	'every 2 s': () => 2 * SECOND,
	'every 5 s': () => 5 * SECOND,
	'every 10 s': () => 10 * SECOND,
	'5 s growing to 30 s': (poll) => Math.min(30, 5 * 1.5 ** (poll - 1)) * SECOND,
};
