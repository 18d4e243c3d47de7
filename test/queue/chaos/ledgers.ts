/**
 * Lays the three ledgers beside each other: the service's tasks, n8n's executions with its logs, and what the flows delivered.
 * What a person could recover a task by comes from n8n alone; the service's ledger says only whether that is all of it.
 */
import type { Item } from '../../n8n/harness/execution';
import type { TaskRecord } from '../../service';
import { textOf } from '../../n8n/asleep/workbench';
import type { TaskLog } from './logs';
import type { Batch, Kind } from './plan';
import type { Run } from './runs';

/** What became of one job. */
export type Fate =
	| 'delivered'
	/** Its item or error names the task and says what is wrong: it failed, timed out, is unreachable ... */
	| 'named'
	/** Created for the trigger, whose callback was lost; the creating execution has the ID. */
	| 'not called'
	/** Its execution died with a process; the log has the ID. */
	| 'orphaned'
	/** The creation's answer was lost: its item says `unknown`, for nobody told the node an ID. */
	| 'unknown'
	/** The process was killed while the creation was under way: only the service knows of the task. */
	| 'in flight'
	/** Nothing was created, and its item or execution says so. */
	| 'not created'
	/** Anything else breaks a promise. */
	| 'LOST'
	| 'CREATED TWICE'
	| 'DELIVERED TWICE';

export interface Entry {
	text: string;
	kind: Kind;
	fate: Fate;
	/** By the service's ledger. */
	made: string[];
	/** By n8n's executions and logs: what the task can be recovered by, where it was not delivered and can still be. */
	recoverBy: string | undefined;
	detail: string;
}

export interface Ledgers {
	batches: readonly Batch[];
	tasks: readonly TaskRecord[];
	/** Of the generating workflows, and of the trigger's. */
	runs: readonly Run[];
	log: TaskLog;
	/** When processes were killed, in epoch ms. */
	killedAt: readonly number[];
	/** Jobs whose execution was never started, because nobody took the call. */
	refused: ReadonlySet<string>;
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const dead = ['crashed', 'error', 'canceled'];
/** How long before a kill a creation may have been sent that nobody noted any more. */
const IN_FLIGHT_MS = 3_000;

/** What n8n says of a task. */
interface Word {
	outcome: string;
	/** Nothing is left to be fetched. */
	final: boolean;
}

interface Reports {
	/** Executions that delivered it, by task ID. */
	delivered: Map<string, string[]>;
	/** By task ID. */
	named: Map<string, Word>;
	/** Executions that failed or died, by the text of each job. */
	died: Map<string, string>;
	/** Items without a task ID, by the text of their job. */
	without: Map<string, string>;
	/** Task IDs by the text of the job: in the log, in an item, or in an error of its execution. */
	known: Map<string, Set<string>>;
}

function readReports({ runs, log }: Ledgers): Reports {
	const reports: Reports = {
		delivered: new Map(),
		named: new Map(),
		died: new Map(),
		without: new Map(),
		known: new Map(),
	};
	for (const run of runs) {
		const { id, status, error, jobs, received, output } = run;
		const isDead = dead.includes(status);
		const reason = `execution ${id} ${status}: ${error ?? 'no message'}`;
		jobs.forEach(({ text }, item) => {
			const ids = reports.known.get(text) ?? new Set();
			for (const taskId of log.of(id, item)) ids.add(taskId);
			reports.known.set(text, ids);
			if (isDead) reports.died.set(text, reason);
		});
		if (isDead)
			for (const taskId of [...received, ...(error?.match(uuid) ?? [])])
				reports.named.set(taskId, { outcome: reason, final: false });
		output.forEach((item, index) => noteItem(reports, item, { run, text: jobs[index]?.text }));
	}
	return reports;
}

function noteItem(
	reports: Reports,
	{ json }: Item,
	{ run, text }: { run: Run; text: string | undefined },
): void {
	const taskId = typeof json.task_id === 'string' ? json.task_id : undefined;
	const failed = json.outcome !== undefined || json.status === 'error' || json.unfinished === true;
	if (taskId === undefined) {
		if (text !== undefined && failed)
			reports.without.set(text, `${JSON.stringify(json.outcome)} ${String(json.error)}`);
		return;
	}
	if (text !== undefined) reports.known.get(text)?.add(taskId);
	if (failed) {
		const outcome = json.unfinished === true ? 'timed_out' : (json.outcome ?? json.status);
		const final = outcome === 'failed' || outcome === 'error';
		reports.named.set(taskId, { outcome: String(outcome), final });
	} else if (run.status === 'success' && json.status === 'done') {
		reports.delivered.set(taskId, [...(reports.delivered.get(taskId) ?? []), run.id]);
	}
}

/** The fate of every job. */
export function reconcile(ledgers: Ledgers): Entry[] {
	const reports = readReports(ledgers);
	const made = new Map<unknown, TaskRecord[]>();
	for (const task of ledgers.tasks)
		made.set(textOf(task), [...(made.get(textOf(task)) ?? []), task]);
	return ledgers.batches.flatMap(({ kind, jobs }) =>
		jobs.map(({ text }) => {
			const tasks = made.get(text) ?? [];
			const [fate, detail, recoverBy] = fateOf({ text, kind, tasks }, reports, ledgers);
			return { text, kind, fate, detail, recoverBy, made: tasks.map(({ id }) => id) };
		}),
	);
}

function fateOf(
	{ text, kind, tasks }: { text: string; kind: Kind; tasks: TaskRecord[] },
	{ delivered, named, died, without, known }: Reports,
	{ refused, killedAt }: Ledgers,
): [fate: Fate, detail: string, recoverBy?: string] {
	const dying = died.get(text);
	const said = without.get(text);
	const [task] = tasks;
	if (tasks.length > 1) return ['CREATED TWICE', tasks.map(({ id }) => id).join(', ')];
	if (task === undefined) {
		const why = refused.has(text) ? 'the call was refused' : (said ?? dying);
		return why === undefined ? ['LOST', 'no trace'] : ['not created', why];
	}
	const { id } = task;
	const deliveries = delivered.get(id) ?? [];
	if (deliveries.length > 1) return ['DELIVERED TWICE', deliveries.join(', ')];
	if (deliveries.length === 1) return ['delivered', ''];
	const word = named.get(id);
	if (word !== undefined) return ['named', word.outcome, word.final ? undefined : id];
	const [knownId] = known.get(text) ?? [];
	if (knownId !== undefined) {
		if (knownId !== id) return ['LOST', `n8n knows ${knownId}, the service ${id}`];
		if (dying !== undefined) return ['orphaned', dying, knownId];
		return kind === 'trigger'
			? ['not called', '', knownId]
			: ['LOST', `task ${id} in the log only`];
	}
	if (said?.startsWith('"unknown"') === true) return ['unknown', said];
	const inFlight = killedAt.some(
		(at) => task.createdAt <= at && task.createdAt > at - IN_FLIGHT_MS,
	);
	return dying !== undefined && inFlight ? ['in flight', dying] : ['LOST', `task ${id}`];
}

/** How many jobs met which fate, by kind. */
export function count(entries: readonly Entry[]): Record<string, Record<Kind, number>> {
	const table: Record<string, Record<Kind, number>> = {};
	for (const { kind, fate } of entries)
		(table[fate] ??= { poll: 0, suspend: 0, trigger: 0 })[kind] += 1;
	return table;
}
