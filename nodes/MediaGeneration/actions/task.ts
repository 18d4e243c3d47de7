/** Serves tasks made earlier, and makes tasks of kinds that have no operation of their own (docs/service.md, "Endpoints" and "More routes"). */
import type { IDataObject } from 'n8n-workflow';
import { pathProblem } from '../transport/baseUrl';
import { FailureError, invalid } from '../base/failures';
import { asText, type JsonObject } from '../base/json';
import { outputsOf, resolved } from '../transport/outputs';
import { withoutEmptyError } from '../n8n/failedItems';
import { parseTask } from '../transport/task';
import { readTaskList, timeOf, type ListedTask } from '../transport/taskList';
import { maskKeys } from './account';
import type { ItemFields } from './fields';
import { bodyTypeField, formFiles, formFields, formTexts, isForm } from './inputFiles';
import { deepMerge } from './jsonObjects';
import { localTimeOf } from './localTime';
import {
	dateTime,
	filtersField,
	jsonField,
	limitFields,
	shownWhen,
	text,
	type Resource,
	type ReadSource,
} from './operation';
import { deleteTasks, deletionFields, readTask } from './taskDeletion';

const queryField = jsonField('Query', 'query', {
	what: 'Query parameters of the request',
	example: '{"output_format": "mp3_44100_128"}',
});
const bodyField = jsonField('Body', 'body', {
	what: 'Body of the request',
	example: '{"prompt": "A slow waltz"}',
});

const MAX_PATH = 2_000;
/** A path may have these unencoded (RFC 3986, 3.3), but encodeURIComponent encodes them. */
const PLAIN_IN_PATHS = /%(?:24|26|2B|2C|3A|3D|40)/g;

function refusedPath(reason: string): FailureError {
	return invalid(
		`The field "Path" can't be used: ${reason}`,
		'Enter the path of the endpoint as the service documents it, beginning with one slash, e.g. /v1m/task/music-generation. Parameters go into the field "Query".',
	);
}

export function endpointPath(given: string): string {
	const path = given.trim();
	if (path.length > MAX_PATH) throw refusedPath(`it is longer than ${MAX_PATH} characters`);
	if (!path.startsWith('/')) throw refusedPath('it does not begin with a slash');
	if (path === '/') throw refusedPath('it names no endpoint');
	if (path.includes('//')) throw refusedPath('it has two slashes in a row');
	if (/[?#]/.test(path)) throw refusedPath('it has a question mark or a number sign (#)');
	const problem = pathProblem(path);
	if (problem !== undefined) throw refusedPath(`it ${problem}`);
	const normalized = (part: string) =>
		encodeURIComponent(decodeURIComponent(part)).replace(PLAIN_IN_PATHS, decodeURIComponent);
	try {
		return path.split('/').map(normalized).join('/');
	} catch {
		throw refusedPath('it has a percent sign that encodes nothing; write %25 for the sign itself');
	}
}

const CALLBACK_FIELD = /(receive|callback|webhook)_?url/i;

/** Takes out what would let a reader call a webhook or use a key: the list has the tasks of all keys of the account. */
function withoutSecrets<T>(value: T): T {
	return maskKeys(value, (text, name) =>
		CALLBACK_FIELD.test(name) ? text.replace(/[?#].*/s, '') : text,
	);
}

/** Status and time are compared here: no service is known to filter by them. A task without a time is not known to be older. */
function filtersOf(fields: ItemFields) {
	const { filters } = fields;
	const [type, status] = [filters.type, filters.status].map((each) => asText(each)?.trim());
	const createdAfter = filters.createdAfter || undefined;
	const after =
		createdAfter === undefined
			? -Infinity
			: (localTimeOf(createdAfter, fields.timeZone) ?? timeOf(createdAfter));
	if (after === undefined)
		throw invalid(
			'The filter "Created After" is not a time',
			'Enter a time such as 2026-01-31T12:00:00Z, or remove the filter. Nothing was sent.',
		);
	const isWanted = ({ raw, createdAt = Infinity }: ListedTask) =>
		createdAt > after && (!status || asText(raw.status)?.toLowerCase() === status.toLowerCase());
	// A list may cut its times to whole seconds.
	const isOld = ({ createdAt = Infinity }: ListedTask) => createdAt + 1_000 < after;
	// Only our own filters need pages larger than what is asked for.
	const own = status || createdAfter !== undefined ? { isWanted, isOld } : {};
	return { type: type || undefined, ...own };
}

/** Puts the newest first, where the service says of all of them when they began; else the service's order stays. */
async function listTasks(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const list = await readTaskList({ ...from, ...filtersOf(fields), limit: fields.limit() });
	if (list.kind === 'none') throw new FailureError(list.failure);
	const { tasks } = list;
	if (tasks.every(({ createdAt }) => createdAt !== undefined))
		tasks.sort((one, other) => (other.createdAt ?? 0) - (one.createdAt ?? 0));
	return tasks.map(({ taskId, raw }) => {
		const { error, ...item } = taskItem(from, taskId, withoutSecrets(raw));
		// n8n takes an item with an `error` for one that failed, and sends it to the error branch (`handleNodeErrorOutput`, n8n-core 2.41).
		return error === undefined ? item : { ...item, task_error: error };
	});
}

function taskItem({ client }: ReadSource, taskId: string, raw: JsonObject): IDataObject {
	const task = parseTask(raw);
	const found = task?.state === 'done' ? outputsOf(task) : [];
	const outputs = resolved(found, client.credentials.baseUrl);
	return {
		...withoutEmptyError(raw),
		task_id: taskId,
		outputs: outputs.map(({ url, kind }) => ({ url, kind })),
	};
}

async function getTask(from: ReadSource, fields: ItemFields): Promise<IDataObject[]> {
	const taskId = fields.taskId();
	return [taskItem(from, taskId, (await readTask(from, taskId)).raw)];
}

export const task: Resource = {
	value: 'task',
	name: 'Task',
	defaultOperation: 'get',
	fields: [
		text('Task ID', 'taskId', {
			required: true,
			default: '={{ $json.task_id }}',
			placeholder: 'e.g. 7f9c2ba4',
			description:
				'The task_id that the service returned when the task was created. "Task: Wait" accepts several, as an array or separated by commas.',
			displayOptions: { show: { operation: ['get', 'wait'] } },
		}),
		...shownWhen({ operation: ['create'] }, [
			text('Path', 'path', {
				required: true,
				placeholder: 'e.g. /v1m/task/music-generation',
				description:
					'Path of the endpoint under the Base URL of the credential. The endpoint must answer with a task_id.',
			}),
			queryField,
			bodyTypeField,
			bodyField,
			...formFields,
		]),
		...shownWhen({ operation: ['delete'] }, deletionFields),
		...shownWhen({ operation: ['getAll'] }, [
			...limitFields,
			filtersField([
				dateTime('Created After', 'createdAfter', {
					description:
						'Only tasks that were created after this time, in the time zone of the workflow',
				}),
				text('Status', 'status', {
					placeholder: 'e.g. done',
					description: 'Only tasks with this status, as the service names it',
				}),
				text('Type', 'type', {
					placeholder: 'e.g. sound_effect',
					description: 'Only tasks of this type, as the service names it',
				}),
			]),
		]),
	],
	operations: [
		{
			value: 'delete',
			name: 'Delete',
			action: 'Delete task',
			description: 'Delete tasks that still run; the service usually refunds them',
			subtitle: 'Delete Task',
			work: { kind: 'reads', read: deleteTasks },
		},
		{
			value: 'get',
			name: 'Get',
			action: 'Get task',
			description: 'Get a task once, whatever its status',
			subtitle: 'Get Task',
			work: { kind: 'reads', read: getTask },
		},
		{
			value: 'getAll',
			name: 'Get Many',
			action: 'Get many tasks',
			description: 'Get many tasks of the account, newest first, if the service lists them',
			subtitle: 'Get Many Tasks',
			work: { kind: 'reads', read: listTasks },
		},
		{
			value: 'wait',
			name: 'Wait',
			action: 'Wait for task',
			description: 'Wait for a task created earlier and get its files. Nothing is paid again.',
			subtitle: 'Wait for Task',
			work: { kind: 'awaits' },
		},
		{
			value: 'create',
			name: 'Create at Another Endpoint',
			action: 'Create task at another endpoint',
			description:
				'Create a task at an endpoint that has no operation here, e.g. for music or dubbing',
			subtitle: 'Create Task',
			subtitleField: 'path',
			work: {
				kind: 'creates',
				files: (item) => (isForm(item, item.raw('bodyContentType')) ? formFiles(item) : []),
				request(item) {
					const path = endpointPath(item.requiredText('path', 'Path'));
					const query = item.json(queryField);
					const body = item.json(bodyField);
					const form = isForm(item, item.raw('bodyContentType'));
					return {
						kind: path,
						path,
						qs: Object.keys(query).length === 0 ? undefined : (query as IDataObject),
						...(form && { form }),
						body: deepMerge({}, form ? { ...body, ...formTexts(item) } : body) as IDataObject,
					};
				},
			},
		},
	],
};
