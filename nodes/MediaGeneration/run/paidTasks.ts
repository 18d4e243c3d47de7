import type { IExecuteFunctions } from 'n8n-workflow';
import { logOf } from '../n8n/log';
import type { Clock } from '../base/clock';

/**
 * Names a run's paid tasks in the log, in case n8n dies before the execution is saved. Tasks of one turn of the event loop share a line,
 * because n8n writes each line before it continues, which takes longer than everything else that is done for a task.
 */
export class PaidTasks {
	private unwritten: string[] = [];

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly executionId: string,
		private readonly sleep: Clock['sleep'],
	) {}

	add(taskId: string, item: number): void {
		this.unwritten.push(`task ${taskId} for item ${item} of execution ${this.executionId}`);
		if (this.unwritten.length === 1) void this.sleep(0).then(() => this.write());
	}

	/** Writes what is not written yet. */
	write(): void {
		if (this.unwritten.length === 0) return;
		const line = this.unwritten.join('; ');
		this.unwritten = [];
		logOf(this.context).info(line);
	}
}
