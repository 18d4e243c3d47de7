/** Reads one task, and deletes tasks: those that run end and are refunded, those that are over stay unless asked for (docs/service.md, "Deletion, prices, lists"). */
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { realClock } from '../n8n/clock';
import { attemptLater, FailureError, invalid } from '../base/failures';
import { asNumber, isObject } from '../base/json';
import { lookAtTask } from '../transport/look';
import { askOptional, unreadable } from '../transport/reading';
import type { Task } from '../transport/task';
import { denied, taskMissing } from '../transport/taskFailures';
import { LOOK_POLICIES, untilClear } from '../transport/until';
import type { ItemFields } from './fields';
import { optionsField, text, toggle, type ReadSource } from './operation';
import { refusedQuestion } from './refusal';

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
				'Whether to delete finished tasks as well. They disappear from the list of the service, and nothing is refunded for them.',
		}),
	]),
];

type Kept = Record<'task_id' | 'status', string>;

/** Throws a FailureError where a task can't be read. */
async function stillThere(from: ReadSource, taskIds: readonly string[]): Promise<Kept[]> {
	const there: Kept[] = [];
	for (const task_id of taskIds) {
		const task = await attemptLater(async () => await readTask(from, task_id));
		if (task.ok) there.push({ task_id, status: task.value.status });
		else if (task.failure.httpStatus !== 404) throw new FailureError(task.failure);
	}
	return there;
}

/** Once an answer was lost, neither a refusal nor the credits of a repeat say what was deleted: then the tasks themselves tell. */
async function sendDeletion(from: ReadSource, task_ids: string[]) {
	let isRepeat = false;
	const onRepeat = () => (isRepeat = true);
	const asking = { ...from, path: '/v1/task/delete', body: { task_ids }, onRepeat };
	const deletion = await attemptLater(async () => await askOptional(asking, 'deletion of tasks'));
	if (deletion.ok) {
		const { value: answer } = deletion;
		const said = isObject(answer.data) ? { ...answer.data, ...answer } : answer;
		const refund = asNumber(said.refunded_credits ?? said.refund_credits);
		return { left: [], refund: isRepeat ? undefined : refund };
	}
	const left = isRepeat ? await stillThere(from, task_ids) : undefined;
	if (left === undefined || left.length === task_ids.length)
		throw new FailureError(refusedQuestion(deletion.failure, { task_ids: 'Task ID' }));
	return { left, refund: undefined };
}

async function readBeforeDeletion(from: ReadSource, taskId: string): Promise<Task> {
	const task = await attemptLater(async () => await readTask(from, taskId));
	if (task.ok) return task.value;
	const { message, description } = task.failure;
	throw new FailureError({
		...task.failure,
		message: `Nothing was deleted: ${message}`,
		description: `${description} Then delete the tasks again.`,
	});
}

/** Looks at every task first: where one can't be read, nothing is deleted. */
export async function deleteTasks(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const taskIds = fields.taskIds(undefined);
	const kept: Kept[] = [];
	const doomed: string[] = [];
	const running: string[] = [];
	for (const taskId of taskIds) {
		const { state, status } = await readBeforeDeletion(from, taskId);
		if (state === 'running') running.push(taskId);
		if (state === 'running' || fields.options.deleteFinished === true) doomed.push(taskId);
		else kept.push({ task_id: taskId, status });
	}
	if (doomed.length === 0)
		throw invalid(
			`Nothing was deleted: ${kept.map(({ task_id, status }) => `task ${task_id} has finished (${status})`).join(', ')}`,
			'Only tasks that still run are deleted. To delete finished ones, turn the option "Delete Finished" on.',
		);
	const { left, refund } = await sendDeletion(from, doomed);
	const stay = kept.concat(left);
	const gone = doomed.filter((taskId) => !left.some(({ task_id }) => task_id === taskId));
	for (const taskId of gone) if (running.includes(taskId)) from.client.account.taskEnded(taskId);
	return [
		{
			deleted: true,
			task_ids: gone,
			...(refund !== undefined && { refunded_credits: refund }),
			...(stay.length > 0 && { kept: stay }),
		},
	];
}
