/** What the logs of n8n's processes say of the tasks that were paid for: all that is left of an execution that died. */
import { readFileSync } from 'node:fs';
import type { Member } from '../cluster';

/** Tasks that were made at the same moment share a line. */
const line = /\btask (\S+) for item (\d+) of execution (\d+)/g;

/** The IDs of tasks, by execution and item; the logs of killed processes count like the others. */
export class TaskLog {
	private readonly ids = new Map<string, Set<string>>();

	constructor(members: readonly Member[]) {
		for (const { logFile } of members) {
			for (const [, taskId = '', item, execution] of readFileSync(logFile, 'utf8').matchAll(line)) {
				const slot = `${execution}:${item}`;
				this.ids.set(slot, (this.ids.get(slot) ?? new Set()).add(taskId));
			}
		}
	}

	of(execution: string, item: number): string[] {
		return [...(this.ids.get(`${execution}:${item}`) ?? [])];
	}
}
