/** Reads tasks made earlier, one or many (docs/service.md, "Endpoints" and "More routes"). */
import { tryToParseDateTime, type IDataObject, type INodeProperties } from 'n8n-workflow';
import { FailureError, invalid } from '../base/outcomes';
import { asText, type JsonObject } from '../base/json';
import type { Work } from '../base/work';
import { inPieces, realClock } from '../n8n/realClock';
import { withoutEmptyError } from '../n8n/errorItems';
import { outputsOf, resolved } from '../answers/outputs';
import { notShown, unreadable } from '../answers/failures';
import { parseTask, type Task } from '../answers/task';
import { readTaskList, type ListedTask } from '../transport/taskList';
import { askUntilClear } from '../transport/until';
import { maskKeys } from './credits';
import type { ItemFields } from './fields';
import type { ReadSource } from './operation';
import { readTaskId } from './taskIds';
import * as ui from './ui';

/** Throws a FailureError if it can't be read. */
export async function readTask(from: ReadSource, taskId: string): Promise<Task> {
	const { client, signal } = from;
	const at = { taskId, timeoutMs: 20_000, signal, doubtfulCounts: true } as const;
	const poll = await askUntilClear(client, at, realClock);
	if (poll.kind === 'task') return poll.task;
	if (poll.kind === 'denied' || poll.kind === 'missing')
		throw new FailureError(notShown(taskId, poll));
	const { httpStatus } = poll.kind === 'busy' ? poll : {};
	// A 401 or 403 of the service itself is no such answer.
	const answered = { httpStatus, isPage: true };
	throw new FailureError({ ...unreadable(`Task ${taskId}`, poll.detail, answered), taskId });
}

const createdAfterFilter = ui.dateTime('Created After', 'createdAfter', {
	description: 'Only tasks that were created after this time, in the time zone of the workflow',
});
const statusFilter = ui.text('Status', 'status', {
	placeholder: 'e.g. done',
	description: 'Only tasks with this status, as the service names it',
});
const typeFilter = ui.text('Type', 'type', {
	placeholder: 'e.g. sound_effect',
	description: 'Only tasks of this type, as the service names it',
});
export const listingFields: readonly INodeProperties[] = [
	...ui.limitFields,
	ui.filtersField([createdAfterFilter, statusFilter, typeFilter]),
];

/** Returns epoch ms, 0 for none. A time that names no zone is one of the workflow's, as n8n's date picker stores it. */
function timeAfter(createdAfter: unknown, timeZone: string): number {
	try {
		return createdAfter === undefined ? 0 : tryToParseDateTime(createdAfter, timeZone).toMillis();
	} catch {
		throw invalid(
			"The filter 'Created After' is not a time",
			'Enter a time such as 2026-01-31T12:00:00Z, or remove the filter. Nothing was sent.',
		);
	}
}

/** Status and time are compared here: no service is known to filter by them. A task without a time stays. */
function filtersOf(fields: ItemFields) {
	const type = fields.text(typeFilter);
	const status = fields.text(statusFilter);
	const after = timeAfter(fields.raw(createdAfterFilter.name) || undefined, fields.timeZone);
	const isOld = ({ createdAt = Infinity }: ListedTask) => createdAt <= after;
	const isWanted = (task: ListedTask) =>
		!isOld(task) && (!status || asText(task.raw.status)?.toLowerCase() === status.toLowerCase());
	// Only our own filters need pages larger than what is asked for.
	const own = status || after > 0 ? { isWanted, isOld } : {};
	return { type, ...own };
}

/** Puts the newest first if there is a time for each. A list that the limit cuts keeps the service's order: the ones left out could be newer. */
export async function listTasks(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const limit = fields.limit();
	const { entries, isWhole } = await readTaskList({ ...from, ...filtersOf(fields), limit });
	const isCut = !isWhole && entries.length >= limit;
	if (!isCut && entries.every(({ createdAt }) => createdAt !== undefined))
		entries.sort((one, other) => (other.createdAt ?? 0) - (one.createdAt ?? 0));
	return await inPieces(taskItems(from, entries));
}

function* taskItems(from: ReadSource, entries: readonly ListedTask[]): Work<IDataObject[]> {
	const items: IDataObject[] = [];
	for (const { taskId, raw } of entries) {
		// The list has the tasks of all the account's keys.
		const { error, ...item } = withoutEmptyError(taskItem(from, taskId, maskKeys(raw)));
		// Retry On Fail repeats a node whose first item has an `error` (`checkFailure`, n8n-core 2.41).
		items.push(error === undefined ? item : { ...item, task_error: error });
		yield;
	}
	return items;
}

function taskItem({ client }: ReadSource, taskId: string, raw: JsonObject): IDataObject {
	const task = parseTask(raw);
	const found = task?.state === 'done' ? outputsOf(task) : [];
	const outputs = resolved(found, client.credentials.baseUrl);
	const { outputs: task_outputs, ...fields } = raw;
	return {
		...(fields as IDataObject),
		...(task_outputs === undefined ? {} : { task_outputs }),
		task_id: taskId,
		outputs: outputs.map(({ url, kind }) => ({ url, kind })),
	};
}

/** Returns the task as it is. If it has failed, Retry On Fail reads it again because of its `error`, which costs nothing. */
export async function getTask(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const taskId = readTaskId(fields);
	return [taskItem(from, taskId, (await readTask(from, taskId)).raw)];
}
