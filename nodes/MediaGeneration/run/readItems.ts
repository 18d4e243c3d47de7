/** The operations that only read: credits, API keys and `task: get`. They cost nothing, so a request that fails for the moment is repeated. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { failureItem, nodeError } from '../delivery/failure';
import type { Operation } from '../operations/operation';
import { ItemFields } from '../operations/fields';
import { listedItems, taskItem, taskListFields } from '../operations/task';
import type { ServiceClient } from '../service/client';
import { attemptLater, denied, FailureError, missing, valueOf } from '../service/failures';
import { lookAtTask, type Look } from '../service/look';
import { readBody, readWithRetries, retriesFor, unreadable, type Try } from '../service/reading';
import { readTaskList } from '../service/taskList';
import { openClient } from './prepare';

const TIMEOUT_MS = 20_000;

function seen(taskId: string, look: Look): Try<IDataObject> {
	switch (look.kind) {
		// Who only wants to see it sees what the service says.
		case 'doubtful':
		case 'task':
			return { kind: 'read', value: taskItem(taskId, look.task.raw) };
		case 'denied':
			return { kind: 'refused', failure: denied(taskId, look) };
		case 'missing':
			return { kind: 'refused', failure: missing(taskId, look) };
		case 'busy': {
			const failure = unreadable(`Task ${taskId}`, look.detail, look.httpStatus);
			return { kind: 'busy', failure, retryAfterMs: look.retryAfterMs };
		}
	}
}

async function getTask(
	client: ServiceClient,
	taskId: string,
	signal?: AbortSignal,
): Promise<IDataObject> {
	const at = { taskId, kind: 'task', route: 'auto', timeoutMs: TIMEOUT_MS, signal } as const;
	return await readWithRetries(retriesFor(client, { signal }), async () =>
		seen(taskId, await lookAtTask(client, at)),
	);
}

async function readItem(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ operation: { work }, index }: { operation: Operation; index: number },
): Promise<IDataObject[]> {
	const signal = context.getExecutionCancelSignal();
	const fields = new ItemFields(context, index);
	if (work.kind === 'lists') {
		const wanted = taskListFields(fields);
		const list = await readTaskList({ client, signal, ...wanted });
		if (list.kind === 'none') throw new FailureError(list.failure);
		return listedItems(list.tasks);
	}
	if (work.kind !== 'reads') return [await getTask(client, fields.taskId(), signal)];
	const items = work.items(await readBody({ client, path: work.path, signal }));
	if (items === undefined)
		throw new FailureError(unreadable(work.path, 'the answer has an unexpected shape'));
	return items as IDataObject[];
}

export async function readItems(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	const opened = await attemptLater(async () => valueOf(await openClient(context)));
	for (let index = 0; index < context.getInputData().length; index += 1) {
		const at = { operation, index };
		const read = await attemptLater(async () => await readItem(context, valueOf(opened), at));
		if (read.ok) {
			for (const json of read.value) output.push({ json, pairedItem: { item: index } });
			continue;
		}
		if (!context.continueOnFail()) throw nodeError(context.getNode(), read.failure, index);
		output.push(failureItem(context.getNode(), read.failure, index, undefined));
	}
	return output;
}
