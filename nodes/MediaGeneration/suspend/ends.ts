/** Asks the service whether all tasks of a sleeping execution have finished. */
import { now } from '../base/clock';
import { realClock } from '../n8n/realClock';
import type { Failure } from '../base/outcomes';
import { askUntilClear } from '../transport/until';
import { asFailed, verdictOf, withoutFiles, type Ended } from '../answers/verdict';
import type { Sleep, WaitingTask } from './notes';
import { POLLS_AT_ONCE } from './watch';

/** `late`: the task's own deadline passed while the execution slept on for other tasks. */
type TaskEnd = Ended | 'late';

export interface Reported {
	taskId: string;
	/** Whether the caller says that this task failed. */
	saysFailed: boolean;
	/** How tasks failed, or were given up, in the eyes of our own loop, which has polled all until they finished. */
	givenUp: readonly Failure[];
}

export type Ends = ReadonlyMap<string, TaskEnd>;

/** `unread`: nothing tells whether this task has finished. */
type Polled = { kind: 'finished'; ends: Ends } | { kind: 'running' | 'unread'; taskId: string };

/** Begins with the task that the caller names, and stops at the first one that has not finished. */
export async function pollUntilOneRuns(
	sleep: Sleep,
	reported: Reported,
	signal: AbortSignal,
): Promise<Polled> {
	const isReported = ({ taskId }: WaitingTask) => taskId === reported.taskId;
	const others = sleep.tasks.filter((task) => !isReported(task));
	const ends = new Map<string, TaskEnd>();
	let some = sleep.tasks.filter(isReported);
	for (let at = 0; some.length > 0; at += POLLS_AT_ONCE) {
		const polled = some.map(async (task) => {
			return { taskId: task.taskId, end: await endOf(sleep, { ...task, signal }, reported) };
		});
		for (const { taskId, end } of await Promise.all(polled)) {
			if (end === 'running' || end === 'unread') return { kind: end, taskId };
			ends.set(taskId, end);
		}
		some = others.slice(at, at + POLLS_AT_ONCE);
	}
	return { kind: 'finished', ends };
}

async function endOf(
	{ client }: Sleep,
	task: WaitingTask & { signal: AbortSignal },
	reported: Reported,
): Promise<TaskEnd | 'running' | 'unread'> {
	const { taskId, known, deadline } = task;
	const givenUp = reported.givenUp.find((failure) => failure.taskId === taskId);
	const reportedFailed =
		givenUp !== undefined || (reported.saysFailed && reported.taskId === taskId);
	const at = { ...task, timeoutMs: 5_000, reportedFailed };
	const poll = await askUntilClear(client, at, realClock);
	const seen = poll.kind === 'task' ? poll.task : known;
	const verdict = seen && verdictOf(taskId, seen, task);
	if (verdict !== undefined && verdict.kind !== 'running') return verdict;
	if (givenUp !== undefined) {
		if (seen?.state === 'done') return withoutFiles(taskId, seen, task);
		if (poll.kind === 'denied' || poll.kind === 'missing') return asFailed(givenUp);
	}
	if (now() >= deadline) return 'late';
	return verdict === undefined ? 'unread' : 'running';
}
