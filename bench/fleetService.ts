/** The service of the simulated processes: tasks that take their time, and a limit to how many are active. */
import { answer } from '../test/support/replies';
import type { VirtualClock } from '../test/support/virtualClock';
import { check } from './stats';

export interface Execution {
	/** Ms from the beginning. */
	at: number;
	/** Of each of its tasks, in ms. */
	tasks: readonly number[];
}

export interface Fleet {
	processes: number;
	/** Executions that a process runs at once. */
	concurrency: number;
	/** Tasks that the service lets be active. */
	active: number;
	maxActiveTasks: number;
	/** CPU time of a process, in ms. */
	requestMs: number;
	executionMs: number;
	/** From a process to the service, in ms. */
	latencyMs: number;
}

export class Service {
	readonly tasks = new Map<string, { createdAt: number; endsAt: number }>();
	active = 0;
	mostActive = 0;
	created = 0;
	refused = 0;
	polls = 0;

	constructor(
		private readonly clock: VirtualClock,
		private readonly fleet: Fleet,
	) {}

	create(ms: number) {
		if (this.active >= this.fleet.active) {
			this.refused += 1;
			return answer(429, { code: 'active_task_limit', error: 'active task limit' });
		}
		const id = `t${(this.created += 1)}`;
		const now = this.clock.now();
		this.active += 1;
		this.mostActive = Math.max(this.mostActive, this.active);
		this.tasks.set(id, { createdAt: now, endsAt: now + ms });
		this.clock.at(now + ms, () => (this.active -= 1));
		return answer(200, { task_id: id });
	}

	look(id: string) {
		this.polls += 1;
		const task = this.tasks.get(id);
		check(task !== undefined, 'a look at a task that nobody made');
		const now = this.clock.now();
		if (now < task.endsAt) {
			const share = (now - task.createdAt) / (task.endsAt - task.createdAt);
			const progress = Math.floor(100 * share);
			return answer(200, { id, status: 'doing', progress, metadata: {} });
		}
		this.tasks.delete(id);
		return answer(200, { id, status: 'done', metadata: { audio_url: 'https://files.example/a' } });
	}
}
