/** Deletes tasks: running ones end and are refunded, finished ones stay unless the option says otherwise (docs/service.md, "Deletion, prices, lists"). */
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { MAX_ERRORS } from '../base/bounds';
import { attemptAsync, FailureError, invalid } from '../base/outcomes';
import { asNumber, isObject } from '../base/json';
import { askOptional } from '../transport/reading';
import { isFilled } from '../answers/reply';
import type { Task } from '../answers/task';
import { quote } from '../base/words';
import type { ItemFields } from './fields';
import type { ReadSource } from './operation';
import * as ui from './ui';
import { refusedQuestion } from './refusal';
import { Limiter } from '../base/limiter';
import { readTaskIds, taskIdField } from './taskIds';
import { readTask } from './getTasks';

const deleteFinishedOption = ui.toggle('Delete Finished', 'deleteFinished', {
	description:
		'Whether to delete finished tasks as well. They disappear from the list of the service, and nothing is refunded for them.',
});
export const deletionFields: INodeProperties[] = [
	{
		...taskIdField,
		description: 'The task to delete; several as an array or separated by commas',
	},
	ui.optionsField([deleteFinishedOption]),
];

interface Deletion {
	refund: number | undefined;
	/** What the service could not delete, in its own words. */
	errors: string;
}

/** Sends once: neither the refusal of a repeat nor its credits would say what the first request did. */
async function sendDeletion(from: ReadSource, task_ids: string[]): Promise<Deletion> {
	const asking = {
		...from,
		path: '/v1/task/delete',
		body: { task_ids },
		what: 'The deletion of tasks',
		tries: 1,
	};
	const deletion = await attemptAsync(async () => await askOptional(asking, 'delete tasks'));
	if (deletion.ok) {
		const { value: answer } = deletion;
		const said = isObject(answer.data) ? { ...answer.data, ...answer } : answer;
		const { errors, failed } = said;
		return {
			refund: asNumber(said.refunded_credits ?? said.refund_credits),
			errors: JSON.stringify([errors, failed].filter(isFilled)).slice(0, MAX_ERRORS),
		};
	}
	const failure = refusedQuestion(deletion.failure, ui.labelsOf({ task_ids: taskIdField }));
	const description =
		failure.outcome === 'unreachable'
			? 'The tasks may have been deleted anyway: "Task: Get" shows those that are still there.'
			: failure.description;
	throw new FailureError({ ...failure, description });
}

async function readBeforeDeletion(from: ReadSource, taskId: string): Promise<Task> {
	const task = await attemptAsync(async () => await readTask(from, taskId));
	if (task.ok) return task.value;
	const { message, description } = task.failure;
	throw new FailureError({
		...task.failure,
		message: `No deletion was requested: ${message}`,
		description: `${description} Then delete the tasks again.`,
	});
}

/** Reads every task first: if one can't be read, nothing is deleted. */
export async function deleteTasks(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const taskIds = readTaskIds(fields);
	const deletesFinished = fields.boolean(deleteFinishedOption);
	const kept: Array<Record<'task_id' | 'status', string>> = [];
	const doomed: string[] = [];
	const turns = new Limiter(10);
	// All at once, so that few finish between the look and the deletion.
	const tasks = await Promise.all(
		taskIds.map(async (taskId) => ({
			taskId,
			...(await turns.run(async () => await readBeforeDeletion(from, taskId))),
		})),
	);
	for (const { taskId, state, status } of tasks) {
		if (state === 'running' || deletesFinished) doomed.push(taskId);
		else kept.push({ task_id: taskId, status });
	}
	if (doomed.length === 0)
		throw invalid(
			`Nothing was deleted: ${kept.map(({ task_id, status }) => `task ${task_id} has finished (${status})`).join(', ')}`,
			"Only tasks that are still running are deleted. To delete finished ones, turn the option 'Delete Finished' on.",
		);
	const { refund, errors } = await sendDeletion(from, doomed);
	const named = new Set(errors.toLowerCase().match(/[^\s"',:;{}[\]]+/g));
	const deleted = doomed.filter((taskId) => !named.has(taskId.toLowerCase()));
	if (deleted.length === 0) {
		const message = `The service deleted nothing: ${quote(errors) ?? ''}`;
		throw new FailureError({
			outcome: 'rejected',
			message,
			description: 'The tasks are still there.',
		});
	}
	for (const taskId of deleted) from.client.account.made.noteEnd(taskId);
	for (const { taskId, status } of tasks)
		if (doomed.includes(taskId) && !deleted.includes(taskId))
			kept.push({ task_id: taskId, status });
	return [
		{
			deleted: true,
			task_ids: deleted,
			...(refund !== undefined && { refunded_credits: refund }),
			...(kept.length > 0 && { kept }),
		},
	];
}
