/** Reading one task, and deleting tasks: what still runs ends and is refunded, what is over stays unless it is asked for (docs/service.md, "Deletion, prices, lists"). */
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { realClock } from '../base/clock';
import { FailureError, invalid } from '../base/failures';
import { asNumber, isObject } from '../base/json';
import { lookAtTask } from '../service/look';
import { askOptional, unreadable } from '../service/reading';
import type { Task } from '../service/task';
import { denied, taskMissing } from '../service/taskFailures';
import { LOOK_POLICIES, untilClear } from '../service/until';
import type { ItemFields } from './fields';
import { optionsField, text, toggle, type ReadSource } from './operation';

const GET_TASK_TIMEOUT_MS = 20_000;

/** Throws a FailureError where it can't be read. */
export async function readTask(from: ReadSource, taskId: string): Promise<Task> {
	const { client, signal } = from;
	const at = { taskId, kind: 'task', timeoutMs: GET_TASK_TIMEOUT_MS, signal } as const;
	const look = await untilClear(async () => await lookAtTask(client, at), LOOK_POLICIES.show, {
		...realClock,
		signal,
		pausedUntil: () => client.account.pausedUntil('read'),
	});
	switch (look.kind) {
		case 'task':
			return look.task;
		case 'denied':
			throw new FailureError(denied(taskId, look));
		case 'missing':
			throw new FailureError(taskMissing(taskId, look));
		case 'doubtful':
		case 'busy': {
			const status = look.kind === 'busy' ? look.httpStatus : undefined;
			throw new FailureError(unreadable(`Task ${taskId}`, look.detail, status));
		}
	}
}

export const deletionFields: INodeProperties[] = [
	text('Task ID', 'taskId', {
		required: true,
		placeholder: 'e.g. 7f9c2ba4',
		description: 'The task to delete; several as an array or separated by commas',
	}),
	optionsField([
		toggle('Delete Finished', 'deleteFinished', {
			description:
				'Whether to delete tasks that are over as well. They are gone from the list of the service then, and nothing comes back.',
		}),
	]),
];

/** Looks at every task first: where one can't be read, nothing is deleted. */
export async function deleteTasks(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const taskIds = fields.taskIds(undefined);
	const kept: Array<{ task_id: string; status: string }> = [];
	const doomed: string[] = [];
	const running: string[] = [];
	for (const taskId of taskIds) {
		const { state, status } = await readTask(from, taskId);
		if (state === 'running') running.push(taskId);
		if (state === 'running' || fields.options.deleteFinished === true) doomed.push(taskId);
		else kept.push({ task_id: taskId, status });
	}
	if (doomed.length === 0)
		throw invalid(
			`Nothing was deleted: ${kept.map(({ task_id, status }) => `task ${task_id} is over (${status})`).join(', ')}`,
			'Only tasks that still run are deleted. To delete finished ones, turn the option "Delete Finished" on.',
		);
	const body = { task_ids: doomed };
	let isRepeat = false;
	const onRepeat = () => (isRepeat = true);
	const asking = { ...from, path: '/v1/task/delete', body, onRepeat };
	const answer = await askOptional(asking, 'deletion of tasks');
	for (const taskId of running) from.client.account.taskEnded(taskId);
	const said = isObject(answer.data) ? { ...answer.data, ...answer } : answer;
	// The answer to a repeat knows nothing of what an earlier try gave back.
	const refunded_credits = isRepeat
		? undefined
		: asNumber(said.refunded_credits ?? said.refund_credits);
	return [
		{
			deleted: true,
			task_ids: doomed,
			...(refunded_credits !== undefined && { refunded_credits }),
			...(kept.length > 0 && { kept }),
		},
	];
}
