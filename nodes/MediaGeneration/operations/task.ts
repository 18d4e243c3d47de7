/** Tasks made earlier: `GET /v1/task/{task_id}` and `GET /v1e/task/{task_id}`. docs/service.md, "Endpoints". Nothing is paid again. */
import type { INodeProperties } from 'n8n-workflow';
import { shownFor, type Resource } from './operation';

const RESOURCE = 'task';

const fields: INodeProperties[] = [
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

export const task: Resource = {
	value: RESOURCE,
	name: 'Task',
	fields,
	operations: [
		{
			value: 'get',
			name: 'Get',
			action: 'Get task',
			description: 'Read the current state of a task once, whatever it is',
			subtitle: 'Get task',
			work: { kind: 'looks' },
		},
		{
			value: 'wait',
			name: 'Wait',
			action: 'Wait for task',
			description: 'Wait for a task made earlier and get its files. Nothing is paid again.',
			subtitle: 'Wait for task',
			work: { kind: 'awaits' },
		},
	],
};
