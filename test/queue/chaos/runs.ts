import { parse } from 'flatted';
import type { ExecutionStatus, Item, NodeRun } from '../../n8n/harness/execution';
import type { Rest, SavedWorkflow } from '../../n8n/harness/rest';
import type { Job } from '../workflows';

/** An execution as the ledgers want it. */
export interface Run {
	id: string;
	status: ExecutionStatus;
	error: string | undefined;
	/** What it was started with. */
	jobs: Job[];
	/** Tasks that a callback brought: they are in n8n's database even if the execution died. */
	received: string[];
	/** What its last node gave out. */
	output: Item[];
}

interface Stored {
	resultData?: {
		runData?: Record<string, NodeRun[]>;
		error?: { message: string; description?: string };
	};
	/** All that an execution has which died before its first node was through. */
	executionData?: { nodeExecutionStack?: Array<{ data?: { main?: Array<Item[] | null> } }> };
}

/** One execution. `jobs`: what it was started with; none for those of the trigger. */
async function readRun(rest: Rest, id: string, jobs: Job[]): Promise<Run> {
	const raw = await rest.request<{ status: ExecutionStatus; data: string }>(
		'GET',
		`/executions/${id}`,
	);
	const { resultData, executionData } = (parse(raw.data) ?? {}) as Stored;
	const runData = resultData?.runData ?? {};
	const itemsOf = (run: NodeRun[] | undefined) => run?.at(-1)?.data?.main[0] ?? [];
	const stacked = executionData?.nodeExecutionStack?.[0]?.data?.main?.[0] ?? [];
	const { message, description } = resultData?.error ?? {};
	return {
		id,
		status: raw.status,
		error: message && `${message} ${description ?? ''}`,
		jobs,
		received: [...itemsOf(runData.Finished), ...stacked].flatMap(({ json }) =>
			typeof json.task_id === 'string' ? [json.task_id] : [],
		),
		output: itemsOf(runData.Last ?? runData.Generate ?? runData.Finished),
	};
}

/** All executions of a workflow, their data included. */
export async function readRuns(rest: Rest, workflow: SavedWorkflow, jobs: Job[]): Promise<Run[]> {
	const runs: Run[] = [];
	for (const { id } of await rest.listExecutions(workflow.id))
		runs.push(await readRun(rest, id, jobs));
	return runs;
}
