import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Execution, type Item, isFinished, nodeRun } from '../../test/n8n/harness/execution';
import type { Rest, SavedWorkflow } from '../../test/n8n/harness/rest';
import { waitUntil } from '../../test/n8n/harness/wait';
import type { StandIn, TaskKind } from '../../test/service';
import { startFolder } from './state';
import { readableSize, table } from '../table';

const trigger = 'When Clicked';
const timeoutMs = 30 * 60_000;
const resultsFolder = join(startFolder, 'results');

const kindNames: Record<TaskKind, string> = {
	sound_effect: 'sound effect',
	speech_by_id: 'speech',
	speech_by_name: 'speech',
	image: 'image',
	music: 'music',
};

/** A value out of somebody else's JSON, for printing. */
function words(value: unknown, otherwise: string): string {
	return typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;
}

/** The stand-in's view of the run's tasks; a real service's is only known to n8n. */
function tasksInWords(service: StandIn | undefined): string {
	if (!service) return 'running';
	const tasks = service.creations().map((task) => {
		const { progress } = service.payload(task.id);
		return `${kindNames[task.kind]} ${task.status === 'doing' ? `${words(progress, '?')} %` : task.status}`;
	});
	return tasks.length > 0 ? tasks.join(', ') : 'no task yet';
}

/** One line that is rewritten on a terminal; elsewhere a line for every change of note. */
function progressLine(): { show(text: string, seconds: number): void; end(): void } {
	let last = '';
	return {
		show(text, seconds) {
			if (process.stdout.isTTY) {
				process.stdout.write(`\r\x1b[K  ${seconds.toFixed(0).padStart(3)} s  ${text}`);
				return;
			}
			const coarse = text.replace(/\d+ %/g, 'under way');
			if (coarse !== last) console.log(`  ${seconds.toFixed(0).padStart(3)} s  ${coarse}`);
			last = coarse;
		},
		end() {
			if (process.stdout.isTTY) process.stdout.write('\n');
		},
	};
}

/** Runs the first example to its end, showing how its tasks get on. */
export async function runFirst(
	rest: Rest,
	workflow: SavedWorkflow,
	service?: StandIn,
): Promise<Execution> {
	const started = Date.now();
	const id = await rest.runManually(workflow, trigger);
	const progress = progressLine();
	const execution = await waitUntil(
		async () => {
			progress.show(tasksInWords(service), (Date.now() - started) / 1000);
			const now = await rest.execution(id);
			return isFinished(now.status) && now;
		},
		{ timeoutMs, intervalMs: 500, what: `The end of "${workflow.name}"` },
	);
	progress.show(tasksInWords(service), (Date.now() - started) / 1000);
	progress.end();
	return execution;
}

/** Writes an item's files to the results folder; a table row for each. */
async function saveFiles(rest: Rest, nodeName: string, item: Item): Promise<string[][]> {
	return Promise.all(
		Object.values(item.binary ?? {}).map(async (entry) => {
			const bytes = await rest.download(entry);
			const name = `${nodeName} - ${basename(entry.fileName ?? 'file')}`.replace(/[^\w. -]/g, '_');
			writeFileSync(join(resultsFolder, name), bytes);
			return [name, entry.mimeType, readableSize(bytes.length)];
		}),
	);
}

/** Prints what came out: a row for each task, further ones for its further files. Returns whether all went well. */
export async function printResults(rest: Rest, execution: Execution): Promise<boolean> {
	rmSync(resultsFolder, { recursive: true, force: true });
	mkdirSync(resultsFolder, { recursive: true });
	const rows: string[][] = [];
	for (const nodeName of Object.keys(execution.resultData.runData).filter(
		(name) => name !== trigger,
	)) {
		const run = nodeRun(execution, nodeName);
		for (const item of run.data?.main[0] ?? []) {
			const files = await saveFiles(rest, nodeName, item);
			const task = [nodeName, words(item.json.task_id, '-'), words(item.json.status, '-')];
			const seconds = `${(run.executionTime / 1000).toFixed(1)} s`;
			const [first = ['no file', '', ''], ...others] = files;
			rows.push([...task, seconds, ...first], ...others.map((file) => ['', '', '', '', ...file]));
		}
	}
	if (rows.length > 0) {
		console.log(`\n${table(['Node', 'Task', 'Status', 'Time', 'File', 'Type', 'Size'], rows)}`);
		console.log(`\n  The files are in ${resultsFolder}`);
	}
	if (execution.status === 'success') return true;
	const { error } = execution.resultData;
	console.error(
		`\nThe run ended as "${execution.status}": ${error?.message ?? 'no message'}\n${error?.description ?? ''}`,
	);
	return false;
}
