/**
 * The operations that only read: credits, API keys and `task: get`. They cost nothing, so a request that fails for the moment is repeated.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { failureItem, nodeError } from '../delivery/failure';
import type { Operation } from '../operations/operation';
import { ItemFields } from '../operations/fields';
import { listedItems, taskItem, taskListFields } from '../operations/task';
import { createClient, type ServiceClient } from '../service/client';
import { attempt, denied, FailureError, missing, type Failure } from '../service/failures';
import { lookAtTask, type Look } from '../service/look';
import {
	readAnswer,
	readWithRetries,
	retriesFor,
	unreadable,
	valueOf,
	type Try,
} from '../service/reading';
import { readTaskList } from '../service/taskList';

const TIMEOUT_MS = 20_000;

/** What a look at a task is for someone who only wants to see it. */
function seen(taskId: string, look: Look): Try<IDataObject> {
	switch (look.kind) {
		// Who only wants to see it sees what the service says.
		case 'doubtful':
		case 'task': {
			const value = taskItem(taskId, look.task.raw);
			return { kind: 'read', value };
		}
		case 'denied':
			return { kind: 'refused', failure: denied(taskId, look) };
		case 'missing':
			return { kind: 'refused', failure: missing(taskId, look) };
		case 'busy': {
			const { detail, httpStatus, retryAfterMs } = look;
			const failure = unreadable(`Task ${taskId}`, detail, httpStatus);
			return { kind: 'busy', failure, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
		}
	}
}

/** One look at a task, repeated only while the service is busy. Throws a FailureError. */
async function getTask(
	client: ServiceClient,
	taskId: string,
	signal?: AbortSignal,
): Promise<IDataObject> {
	const at = { taskId, kind: 'task', route: 'auto', timeoutMs: TIMEOUT_MS, signal } as const;
	return valueOf(
		await readWithRetries(retriesFor(client, { signal }), async () =>
			seen(taskId, await lookAtTask(client, at)),
		),
	);
}

async function readItem(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ work }: Operation,
	index: number,
) {
	const signal = context.getExecutionCancelSignal();
	const fields = new ItemFields(context, index);
	if (work.kind === 'lists') {
		const wanted = taskListFields(fields);
		const list = valueOf(await readTaskList({ client, signal, ...wanted }));
		if (list.kind === 'none') throw new FailureError(list.failure);
		return listedItems(list.tasks);
	}
	if (work.kind !== 'reads') {
		return [await getTask(client, valueOf(attempt(() => fields.taskId())), signal)];
	}
	const items = work.items(valueOf(await readAnswer({ client, path: work.path, signal })));
	if (items === undefined)
		throw new FailureError(unreadable(work.path, 'the answer has an unexpected shape'));
	return items as IDataObject[];
}

function asFailure(error: unknown): Failure {
	if (error instanceof FailureError) return error.failure;
	return {
		outcome: 'invalid',
		message: error instanceof Error ? error.message : 'The item could not be read',
		description: 'Check the fields and the credential of the node.',
	};
}

/** One item, or several, per input item. */
export async function readItems(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	let client: ServiceClient | undefined;
	for (let index = 0; index < context.getInputData().length; index += 1) {
		try {
			client ??= await createClient(context);
			const records = await readItem(context, client, operation, index);
			for (const json of records) output.push({ json, pairedItem: { item: index } });
		} catch (error) {
			const failure = asFailure(error);
			if (!context.continueOnFail()) throw nodeError(context.getNode(), failure, index);
			output.push(failureItem(context.getNode(), failure, index, undefined));
		}
	}
	return output;
}
