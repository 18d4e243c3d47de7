/** Serves tasks made earlier, and makes tasks of kinds that have no operation of their own (docs/service.md, "Endpoints"). */
import type { IDataObject } from 'n8n-workflow';
import { invalid, type FailureError } from '../base/outcomes';
import { pathProblem } from '../base/url';
import { bodyTypeField, formFields, formFiles, formTexts, isForm } from './inputFiles';
import { deepMerge } from './jsonObjects';
import { getMany, type Resource } from './operation';
import * as ui from './ui';
import { deleteTasks, deletionFields } from './deleteTasks';
import { taskIdField } from './taskIds';
import { getTask, listingFields, listTasks } from './getTasks';

const pathField = ui.text('Path', 'path', {
	required: true,
	placeholder: 'e.g. /v1m/task/music-generation',
	description:
		'Path of the endpoint under the Base URL of the credential. The endpoint must answer with a task_id.',
});
const queryField = ui.jsonField('Query', 'query', {
	what: 'Query parameters of the request',
	example: '{"output_format": "mp3_44100_128"}',
});
const bodyField = ui.jsonField('Body', 'body', {
	what: 'Body of the request, or further fields of the form',
	example: '{"prompt": "A slow waltz"}',
});

function refusedPath(reason: string): FailureError {
	return invalid(
		`The field 'Path' can't be used: ${reason}`,
		"Enter the path of the endpoint as the service documents it, beginning with one slash, e.g. /v1m/task/music-generation. Parameters go into the field 'Query'.",
	);
}

export function endpointPath(given: string): string {
	const path = given.trim();
	if (!/^\/(?!\/)/.test(path)) throw refusedPath('it does not begin with exactly one slash');
	if (/[?#\\]/.test(path))
		throw refusedPath('it contains a question mark, a number sign (#) or a backslash');
	const problem = pathProblem(path);
	if (problem !== undefined) throw refusedPath(`it ${problem}`);
	// Encodes what no path may have as it is, such as spaces.
	return new URL(path, 'https://service.invalid').pathname;
}

export const task: Resource = {
	value: 'task',
	name: 'Task',
	defaultOperation: 'get',
	fields: [
		...ui.shownWhen({ operation: ['get', 'wait'] }, [
			{
				...taskIdField,
				default: '={{ $json.task_id }}',
				description:
					'The task_id that the service returned when the task was created. "Task: Wait" accepts several, as an array or separated by commas.',
			},
		]),
		...ui.shownWhen({ operation: ['create'] }, [
			pathField,
			queryField,
			bodyTypeField,
			...formFields,
			bodyField,
		]),
		...ui.shownWhen({ operation: ['delete'] }, deletionFields),
		...ui.shownWhen({ operation: ['getAll'] }, listingFields),
	],
	operations: [
		{
			value: 'delete',
			name: 'Delete',
			action: 'Delete task',
			description: 'Delete tasks that are still running; the service usually refunds them',
			work: { kind: 'reads', read: deleteTasks },
		},
		{
			value: 'get',
			name: 'Get',
			action: 'Get task',
			description: 'Get a task once, whatever its status',
			work: { kind: 'reads', read: getTask },
		},
		getMany('tasks', 'of the account, newest first, if the service lists them', listTasks),
		{
			value: 'wait',
			name: 'Wait',
			action: 'Wait for task',
			description: 'Wait for a task created earlier and get its files. Nothing is paid again.',
			work: { kind: 'awaits' },
		},
		{
			value: 'create',
			name: 'Create',
			action: 'Create task at another endpoint',
			description: ui.costing(
				'Create a task at an endpoint of the service that has no operation here',
				'as set by that endpoint',
			),
			subtitle: 'Create Task',
			subtitleField: 'path',
			work: {
				kind: 'creates',
				files: (item) => (isForm(item) ? formFiles(item) : []),
				request(item) {
					const path = endpointPath(item.requiredText(pathField));
					const query = item.json(queryField);
					const body = item.json(bodyField);
					const form = isForm(item);
					const { texts, repeated } = form ? formTexts(item) : { texts: {}, repeated: [] };
					return {
						kind: path,
						path,
						qs: Object.keys(query).length === 0 ? undefined : (query as IDataObject),
						form,
						...(repeated.length > 0 && { repeated }),
						body: deepMerge({}, { ...body, ...texts }) as IDataObject,
					};
				},
			},
		},
	],
};
