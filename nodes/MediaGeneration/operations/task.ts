/** Tasks made earlier: `GET /v1/task/{task_id}` and `GET /v1e/task/{task_id}`. Spec, Endpoints. Nothing is paid again. */
import type { INodeProperties } from 'n8n-workflow';
import { operationField, shownFor } from './operation';

const RESOURCE = 'task';

export const taskFields: INodeProperties[] = [
	operationField(RESOURCE, 'get', [
		{
			name: 'Get',
			value: 'get',
			action: 'Get a task',
			description: 'Read the current state of a task once, whatever it is',
		},
		{
			name: 'Wait',
			value: 'wait',
			action: 'Wait for a task',
			description: 'Wait for a task made earlier and get its files. Nothing is paid again.',
		},
	]),
	{
		displayName: 'Task ID',
		name: 'taskId',
		type: 'string',
		required: true,
		default: '={{ $json.task_id }}',
		placeholder: 'e.g. 7f9c2ba4',
		description: 'The task_id that the service returned when the task was created',
		displayOptions: shownFor(RESOURCE, 'get', 'wait'),
	},
];
