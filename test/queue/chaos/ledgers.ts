/** Lays the three ledgers beside each other: the service's tasks, n8n's executions, and what the flows delivered. */
import type { Item } from '../../n8n/harness/execution';
import type { TaskRecord } from '../../service';
import type { Batch, Kind } from './plan';
import type { Run } from './runs';

/** What became of one job. */
export type Fate =
	| 'delivered'
	/** Its item says that the task failed, was not delivered, is unreachable ..., and names it. */
	| 'named'
	/** The creation's answer was lost: its item says `unknown`, for nobody told the node an ID. */
	| 'unknown'
	/** Nothing was created, and its item or execution says so. */
	| 'not created'
	/** Its execution died with a process; the task is in the log and at the service, and recovered by ID. */
	| 'orphaned'
	/** Anything else breaks a promise. */
	| 'LOST'
	| 'CREATED TWICE'
	| 'DELIVERED TWICE';

export interface Entry {
	text: string;
	kind: Kind;
	fate: Fate;
	taskIds: string[];
	detail: string;
}

export interface Ledgers {
	batches: Batch[];
	tasks: readonly TaskRecord[];
	/** Of the generating workflows, and of the trigger's. */
	runs: Run[];
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const dead = ['crashed', 'error', 'canceled'];

interface Reports {
	delivered: Map<string, string[]>;
	/** Task IDs that an item or error names, with its outcome. */
	named: Map<string, string>;
	/** Executions that failed or died, by the text of each job that they were started with. */
	died: Map<string, string>;
	/** Items without a task ID, by the text of their job. */
	without: Map<string, string>;
}

function readReports(runs: Run[]): Reports {
	const reports: Reports = {
		delivered: new Map(),
		named: new Map(),
		died: new Map(),
		without: new Map(),
	};
	for (const { id, status, error, jobs, received, output } of runs) {
		if (dead.includes(status)) {
			const reason = `execution ${id} ${status}: ${error ?? 'no message'}`;
			for (const { text } of jobs) reports.died.set(text, reason);
			for (const taskId of received) reports.named.set(taskId, reason);
			for (const [taskId] of error?.matchAll(uuid) ?? []) reports.named.set(taskId, reason);
		}
		output.forEach(({ json }, index) =>
			noteItem(reports, { json, text: jobs[index]?.text, id, succeeded: status === 'success' }),
		);
	}
	return reports;
}

interface Note {
	json: Item['json'];
	text: string | undefined;
	id: string;
	succeeded: boolean;
}

function noteItem(reports: Reports, { json, text, id, succeeded }: Note): void {
	const taskId = typeof json.task_id === 'string' ? json.task_id : undefined;
	const failed = json.outcome !== undefined || json.status === 'error' || json.timed_out === true;
	if (taskId === undefined) {
		if (text !== undefined && failed)
			reports.without.set(text, `${JSON.stringify(json.outcome)} ${String(json.error)}`);
	} else if (failed) {
		reports.named.set(taskId, String(json.outcome ?? json.status));
	} else if (succeeded && json.status === 'done') {
		reports.delivered.set(taskId, [...(reports.delivered.get(taskId) ?? []), id]);
	}
}

/** The fate of every job. `refused`: jobs whose execution was never started, because nobody took the call. */
export function reconcile({ batches, tasks, runs }: Ledgers, refused: Set<string>): Entry[] {
	const reports = readReports(runs);
	return batches.flatMap(({ kind, jobs }) =>
		jobs.map(({ text }): Entry => {
			const made = tasks.filter(({ body }) => body.text === text);
			const taskIds = made.map(({ id }) => id);
			const entry = (fate: Fate, detail = ''): Entry => ({ text, kind, fate, taskIds, detail });
			const died = reports.died.get(text);
			const without = reports.without.get(text);
			const [taskId] = taskIds;
			if (taskIds.length > 1) return entry('CREATED TWICE', taskIds.join(', '));
			if (taskId === undefined) {
				const why = refused.has(text) ? 'the call was refused' : (without ?? died);
				return why === undefined ? entry('LOST', 'no trace') : entry('not created', why);
			}
			const deliveries = reports.delivered.get(taskId) ?? [];
			if (deliveries.length > 1) return entry('DELIVERED TWICE', deliveries.join(', '));
			if (deliveries.length === 1) return entry('delivered');
			const named = reports.named.get(taskId);
			if (named !== undefined) return entry('named', named);
			if (without?.startsWith('"unknown"')) return entry('unknown', without);
			return died === undefined ? entry('LOST', `task ${taskId}`) : entry('orphaned', died);
		}),
	);
}

/** How many jobs met which fate, by kind. */
export function count(entries: Entry[]): Record<string, Record<string, number>> {
	const table: Record<string, Record<string, number>> = {};
	for (const { kind, fate } of entries) {
		const row = (table[fate] ??= { poll: 0, suspend: 0, trigger: 0 });
		row[kind] = (row[kind] ?? 0) + 1;
	}
	return table;
}
