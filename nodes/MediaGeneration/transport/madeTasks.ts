import { ABORTED } from '../base/abort';
import { BoundedMap } from '../base/boundedMap';
import { now } from '../base/clock';

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
