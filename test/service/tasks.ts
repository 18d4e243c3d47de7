import { randomUUID } from 'node:crypto';
import { now, type Timers } from './clock';
import type { Random } from './random';
import type { JsonObject, Settings, Steering, TaskKind } from './types';

interface NewTask {
	kind: TaskKind;
	/** The creation's body as it came; of a form its fields, and its files by their names. */
	body: JsonObject;
	/** Path parameter and query of the v1 speech route. */
	params: { voice_id?: string; output_format?: string };
	cost: number;
}

const taskOf = (asked: NewTask, ms: number, createdAt = now()) => ({
	...asked,
	id: randomUUID() as string,
	steering: steeringOf(asked.body),
	receiveUrl: typeof asked.body.receive_url === 'string' ? asked.body.receive_url : null,
	/** ms since the epoch; `dueAt` is Infinity for a task that never ends. */
	createdAt,
	dueAt: createdAt + ms,
	finishedAt: null as number | null,
	status: 'doing' as 'doing' | 'done' | 'error',
	refunded: false,
	deleted: false,
	polls: 0,
	/** GETs answered since the task was done. */
	doneLooks: 0,
});
export type TaskRecord = ReturnType<typeof taskOf>;

/** All tasks. Their state follows from the time when asked; a timer each sees to it that nobody needs to ask. */
export class TaskStore {
	readonly tasks: TaskRecord[] = [];
	/** The most tasks that were active at once. */
	maxActive = 0;
	/** Called once for each task that ends. */
	onEnd: (task: TaskRecord) => void = () => {};
	private readonly byId = new Map<string, TaskRecord>();
	private readonly running = new Set<TaskRecord>();

	constructor(
		private readonly settings: Settings,
		private readonly random: Random,
		private readonly timers: Timers,
	) {}

	/** Tasks that have not ended. */
	get active(): number {
		return this.running.size;
	}

	create(asked: NewTask): TaskRecord {
		const { never_ends: isEndless = false, ms: given } = steeringOf(asked.body);
		const ms = isEndless ? Infinity : (given ?? this.durationMs());
		const task = taskOf(asked, ms);
		this.tasks.push(task);
		this.byId.set(task.id, task);
		this.running.add(task);
		this.maxActive = Math.max(this.maxActive, this.running.size);
		this.settings.credits -= task.cost;
		this.timers.after(ms, () => this.settle(task, true));
		return task;
	}

	/** The task, its state brought up to now. */
	get(id: string): TaskRecord | undefined {
		const task = this.byId.get(id);
		if (task) this.settle(task);
		return task?.deleted === true ? undefined : task;
	}

	/** Ends a task whose time has come: once. A failed one gives its credits back (docs/service.md, "Status"). */
	settle(task: TaskRecord, due = now() >= task.dueAt): void {
		if (!due || !this.running.has(task)) return;
		this.running.delete(task);
		task.finishedAt = task.dueAt;
		task.status = task.steering.end ?? 'done';
		if (task.status === 'error') {
			task.refunded = true;
			this.settings.credits += task.cost;
		}
		this.onEnd(task);
	}

	/** Takes a task out of the account; one that still runs ends without a callback and gives its credits back. */
	delete(task: TaskRecord): number {
		task.deleted = true;
		if (!this.running.delete(task)) return 0;
		task.refunded = true;
		this.settings.credits += task.cost;
		return task.cost;
	}

	/** Ends a task now. */
	finish(task: TaskRecord, changes: Steering): void {
		if (task.status !== 'doing') throw new Error(`Task ${task.id} has ended already`);
		Object.assign(task.steering, changes);
		task.dueAt = now();
		this.settle(task, true);
	}

	reset(): void {
		this.tasks.length = 0;
		this.byId.clear();
		this.running.clear();
		this.maxActive = 0;
	}

	private durationMs(): number {
		const { taskMs } = this.settings;
		if (typeof taskMs === 'number') return taskMs;
		return taskMs.min + this.random() * (taskMs.max - taskMs.min);
	}
}

export function known(store: TaskStore, id: string): TaskRecord {
	const task = store.get(id);
	if (!task) throw new Error(`No such task: ${id}`);
	return task;
}

/** A copy of the body's `stand_in` object; empty where there is none. */
export function steeringOf(body: JsonObject): Steering {
	const given = body.stand_in;
	return typeof given === 'object' && given !== null && !Array.isArray(given)
		? { ...(given as Steering) }
		: {};
}
