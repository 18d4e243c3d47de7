/**
 * Tasks made earlier (`GET /v1/task/{task_id}` and `GET /v1e/task/{task_id}`: nothing is paid again), and tasks of any kind that has no
 * operation of its own. docs/service.md, "Endpoints" and "More routes".
 */
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { endpointPath } from './endpointPath';
import { shownFor, type Resource } from './operation';

const RESOURCE = 'task';
const BODY_EXAMPLE = '{"prompt": "A slow waltz"}';
const QUERY_EXAMPLE = '{"output_format": "mp3_44100_128"}';

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
	{
		displayName: 'Path',
		name: 'path',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'e.g. /v1m/task/music-generation',
		description:
			'Path of the endpoint under the Base URL of the credential. It must be one that answers with a task_id.',
		displayOptions: shownFor(RESOURCE, 'create'),
	},
	{
		displayName: 'Body',
		name: 'body',
		type: 'json',
		default: '{}',
		placeholder: `e.g. ${BODY_EXAMPLE}`,
		description: 'Body of the request, as a JSON object',
		displayOptions: shownFor(RESOURCE, 'create'),
	},
	{
		displayName: 'Query',
		name: 'query',
		type: 'json',
		default: '{}',
		placeholder: `e.g. ${QUERY_EXAMPLE}`,
		description: 'Query parameters of the request, as a JSON object',
		displayOptions: shownFor(RESOURCE, 'create'),
	},
];

/**
 * What siblings are compared by. A path can end in an ID, such as a voice's, which says nothing about how long a task takes, and
 * kinds are remembered: so the path is cut after the name that follows "task", or else after two parts.
 */
function kindOf(path: string): string {
	const parts = path.split('/').slice(1);
	const task = parts.indexOf('task');
	return `/${parts.slice(0, task < 0 ? 2 : task + 2).join('/')}`;
}

export const task: Resource = {
	value: RESOURCE,
	name: 'Task',
	// Workflows are saved without a field that has its default value.
	defaultOperation: 'get',
	fields,
	operations: [
		{
			value: 'create',
			name: 'Create',
			action: 'Create task',
			description:
				'Create a task at any endpoint of the service that has no operation of its own, e.g. for music or dubbing',
			subtitle: 'Create task',
			work: {
				kind: 'creates',
				request(item) {
					const path = endpointPath(item.requiredText('path', 'Path'));
					const query = item.jsonField('query', 'Query', QUERY_EXAMPLE);
					return {
						kind: kindOf(path),
						path,
						...(Object.keys(query).length === 0 ? {} : { qs: query as IDataObject }),
						body: item.merged(item.jsonField('body', 'Body', BODY_EXAMPLE)),
					};
				},
			},
		},
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
