/** The workflows of these suites, small enough to be written in code. */
import {
	action,
	called,
	generate,
	last,
	type Node,
	oneItemEach,
	trigger,
} from '../n8n/harness/nodes';

/** One task to be made: its text says which, so that the service's ledger can be laid beside ours. */
export interface Job {
	text: string;
	standIn: Record<string, unknown>;
}

interface GenerateOptions {
	fields?: Record<string, unknown>;
	options?: Record<string, unknown>;
}

const goOn = { onError: 'continueRegularOutput' };

/** `POST /webhook/PATH { jobs }` makes one task for each job; what comes out is in the node `Generate`. */
export function generating(path: string, { fields, options }: GenerateOptions = {}): Node[] {
	return [called(path), oneItemEach(), generate(fields, options, goOn), last()];
}

/** `POST /webhook/PATH { taskIds }` fetches tasks that exist already. */
export function recovering(path: string): Node[] {
	const wait = { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' };
	return [called(path), oneItemEach('taskIds', 'task_id'), action(wait, goOn)];
}

/** Runs once for each callback; what came is in the node `Finished`. */
export const triggered = (path: string): Node[] => [trigger(path), last()];
