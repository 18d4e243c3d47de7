import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Execution, type Item, isFinished, nodeRun } from '../../test/n8n/harness/execution';
import type { Rest, SavedWorkflow } from '../../test/n8n/harness/rest';
import { waitUntil } from '../../test/n8n/harness/wait';
import type { StandIn } from '../../test/service';
import { table } from '../table';
import { startFolder } from './demo';

const trigger = 'When Clicked';
const timeoutMs = 30 * 60_000;
const resultsFolder = join(startFolder, 'results');

const words = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value) : '-';

const readableSize = (bytes: number) =>
	bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** The stand-in's view of the run's tasks; a real service's is only known to n8n. */
function tasksInWords(service: StandIn | undefined): string {
	if (!service) return 'running';
	const tasks = service.creations().map(({ kind, status }) => {
		const name = kind.replaceAll('_', ' ');
		return `${name} ${status === 'doing' ? 'under way' : status}`;
	});
	return tasks.join(', ') || 'no task yet';
}

/** Runs the first example to its end, and prints how its tasks get on. */
export async function runFirst(
	rest: Rest,
	workflow: SavedWorkflow,
	service?: StandIn,
): Promise<Execution> {
	const started = Date.now();
	const id = await rest.runManually(workflow, trigger);
	let last = '';
	return await waitUntil(
		async () => {
			const execution = await rest.execution(id);
			const now = tasksInWords(service);
			const seconds = ((Date.now() - started) / 1000).toFixed(0).padStart(3);
			if (now !== last) console.log(`  ${seconds} s  ${now}`);
			last = now;
			return isFinished(execution.status) && execution;
		},
		{ timeoutMs, intervalMs: 500, what: `The end of "${workflow.name}"` },
	);
}

/** Writes an item's files to the results folder; a table row for each. */
async function saveFiles(rest: Rest, nodeName: string, item: Item): Promise<string[][]> {
	return Promise.all(
		Object.entries(item.binary ?? {}).map(async ([field, entry]) => {
			const bytes = await rest.download(entry);
			const file = `${nodeName} - ${field}${extname(entry.fileName ?? '')}`;
			const name = file.replace(/[^\w. -]/g, '_');
			writeFileSync(join(resultsFolder, name), bytes);
			return [name, readableSize(bytes.length)];
		}),
	);
}

/** Prints what came out: a row for each task, further ones for its further files. Returns whether all went well. */
export async function printResults(rest: Rest, execution: Execution): Promise<boolean> {
	rmSync(resultsFolder, { recursive: true, force: true });
	mkdirSync(resultsFolder, { recursive: true });
	const rows: string[][] = [];
	for (const nodeName of Object.keys(execution.resultData.runData)) {
		if (nodeName === trigger) continue;
		const run = nodeRun(execution, nodeName);
		for (const item of run.data?.main[0] ?? []) {
			const [first = ['no file', ''], ...others] = await saveFiles(rest, nodeName, item);
			const seconds = `${(run.executionTime / 1000).toFixed(1)} s`;
			rows.push([nodeName, words(item.json.task_id), words(item.json.status), seconds, ...first]);
			rows.push(...others.map((file) => ['', '', '', '', ...file]));
		}
	}
	console.log(`\n${table(['Node', 'Task', 'Status', 'Time', 'File', 'Size'], rows)}`);
	console.log(`\n  The files are in ${resultsFolder}`);
	if (execution.status === 'success') return true;
	const { message = 'no message', description = '' } = execution.resultData.error ?? {};
	console.error(`\nThe run ended as "${execution.status}": ${message}\n${description}`);
	return false;
}
