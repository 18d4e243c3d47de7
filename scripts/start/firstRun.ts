import { type Execution, isFinished, nodeRun } from '../../test/n8n/harness/execution';
import type { Rest, SavedWorkflow } from '../../test/n8n/harness/rest';
import { waitUntil } from '../../test/n8n/harness/wait';
import { table } from '../table';

const trigger = 'When Clicked';
const timeoutMs = 30 * 60_000;

const words = (value: unknown) =>
	typeof value === 'string' || typeof value === 'number' ? String(value) : '-';

/** Runs the first example to its end. */
export async function runFirst(rest: Rest, workflow: SavedWorkflow): Promise<Execution> {
	const id = await rest.runManually(workflow, trigger);
	return await waitUntil(
		async () => {
			const execution = await rest.execution(id);
			return isFinished(execution.status) && execution;
		},
		{ timeoutMs, intervalMs: 500, what: `The end of "${workflow.name}"` },
	);
}

/** Prints what came out: a row for each task, further ones for its further files. Returns whether all went well. */
export function printResults(execution: Execution): boolean {
	const rows: string[][] = [];
	for (const nodeName of Object.keys(execution.resultData.runData)) {
		if (nodeName === trigger) continue;
		const run = nodeRun(execution, nodeName);
		for (const { json, binary = {} } of run.data?.main[0] ?? []) {
			const [first = ['no file', ''], ...others] = Object.values(binary).map(
				({ fileName = '', fileSize = '' }) => [fileName, fileSize],
			);
			const seconds = `${(run.executionTime / 1000).toFixed(1)} s`;
			rows.push([nodeName, words(json.task_id), words(json.status), seconds, ...first]);
			rows.push(...others.map((file) => ['', '', '', '', ...file]));
		}
	}
	console.log(`\n${table(['Node', 'Task', 'Status', 'Time', 'File', 'Size'], rows)}`);
	if (execution.status === 'success') return true;
	const { message = 'no message', description = '' } = execution.resultData.error ?? {};
	console.error(`\nThe run ended as "${execution.status}": ${message}\n${description}`);
	return false;
}
