import type { IExecuteFunctions } from 'n8n-workflow';
import { logOf } from './clean';
import type { Clock } from '../base/clock';

/**
 * Names a run's paid tasks in the log, should n8n die before the execution is saved. Tasks of one turn of the event loop share a line, as
 * n8n writes each line before it goes on, which takes longer than everything else that is done for a task.
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

	/** Writes what is still due. */
	write(): void {
		if (this.unwritten.length === 0) return;
		const line = this.unwritten.join('; ');
		this.unwritten = [];
		logOf(this.context).info(line);
	}
}
