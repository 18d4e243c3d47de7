import { parse } from 'flatted';

/** A file of an item as n8n keeps it: `id` points to the stored bytes, `data` has them itself in memory mode. */
export interface BinaryEntry {
	id?: string;
	data?: string;
	mimeType: string;
	fileName?: string;
	/** As n8n shows it. */
	fileSize?: string;
	bytes?: number;
}

export interface Item {
	json: Record<string, unknown>;
	binary?: Record<string, BinaryEntry>;
	pairedItem?: unknown;
}

interface ExecutionError {
	message: string;
	description?: string | null;
	node?: { name: string };
}

export interface NodeRun {
	startTime: number;
	executionTime: number;
	executionStatus: string;
	hints?: Array<{ message: string }>;
	data?: { main: Array<Item[] | null> };
	source?: Array<{
		previousNode: string;
		previousNodeOutput?: number;
		previousNodeRun?: number;
	} | null>;
}

export type ExecutionStatus =
	'new' | 'running' | 'waiting' | 'success' | 'error' | 'canceled' | 'crashed' | 'unknown';

/** An execution without its data, as the list gives it. */
export interface ExecutionSummary {
	id: string;
	status: ExecutionStatus;
	mode: string;
	workflowId: string;
	startedAt: string | null;
	stoppedAt: string | null;
	/** The execution that it is a Retry of. */
	retryOf?: string | null;
}

export interface Execution extends ExecutionSummary {
	/** What the list of executions is searched by. */
	customData?: Record<string, string>;
	resultData: {
		runData: Record<string, NodeRun[]>;
		error?: ExecutionError;
	};
}

/** n8n stores and sends an execution's data in flatted form, as a string. */
export function readExecution(raw: ExecutionSummary & { data: string }): Execution {
	const { data, ...summary } = raw;
	// A running execution that has saved nothing yet has no data at all.
	const stored = parse(data) as { resultData?: Partial<Execution['resultData']> } | undefined;
	return {
		...summary,
		resultData: { ...stored?.resultData, runData: stored?.resultData?.runData ?? {} },
	};
}

/** Over for good: nothing will change any more. */
export function isFinished(status: ExecutionStatus): boolean {
	return ['success', 'error', 'canceled', 'crashed'].includes(status);
}

/** A node's last run. */
export function nodeRun(execution: Execution, nodeName: string): NodeRun {
	const found = execution.resultData.runData[nodeName]?.at(-1);
	if (found) return found;
	const ran = Object.keys(execution.resultData.runData).join(', ') || 'none';
	const problem = execution.resultData.error?.message ?? 'no error';
	throw new Error(
		`Node "${nodeName}" did not run in execution ${execution.id} (${execution.status}; ${problem}); ran: ${ran}`,
	);
}

/** What a node gave out: the items of its last run's first output, unless told otherwise. */
export function items(
	execution: Execution,
	nodeName: string,
	{ output = 0 }: { output?: number } = {},
): Item[] {
	return nodeRun(execution, nodeName).data?.main[output] ?? [];
}
