/** What the editor shows of waiting: fields that all creating operations share, and those that `task: wait` has as well. */
import type { INodeProperties } from 'n8n-workflow';
import { longTextOptions } from './longText';
import {
	amount,
	choice,
	jsonField,
	maxFileSizeOption,
	notice,
	optionsField,
	select,
	shownWhen,
	text,
	toggle,
	type Resource,
} from './operation';
import { GRACE_S, MAX_ACTIVE_TASKS, POLL_TIMEOUT_S } from './waiting';

const WAITING = { waitForCompletion: [true] };
const SUSPENDING = { waitMode: ['callback'] };
const DOWNLOADING = { downloadOutput: [true] };

export const downloadField = toggle('Download Output', 'downloadOutput', {
	default: true,
	description:
		'Whether to put the files of the finished task into binary data. Their addresses are in the output either way.',
});

export const filesField = text('Put Output Files in Field', 'binaryPropertyName', {
	required: true,
	default: 'data',
	hint: 'Name of the binary field of the first file; the next ones get _1, _2, ... appended',
	displayOptions: { show: DOWNLOADING },
});

const startingFields: INodeProperties[] = [
	toggle('Wait for Completion', 'waitForCompletion', {
		default: true,
		description:
			'Whether to wait until the task is finished and output its result. If off, the task ID goes out at once.',
	}),
	text('Callback URL', 'callbackUrl', {
		placeholder: 'e.g. https://n8n.example.com/webhook/.../callback',
		description:
			'Where the service posts the finished task: the Production URL of a Media Generation Trigger. Publish the workflow of that trigger first: until then n8n answers callbacks with an error, and nothing starts. Leave empty to get the result later with "Task: Wait".',
		displayOptions: { show: { waitForCompletion: [false] } },
	}),
];

const waitingFields: INodeProperties[] = [
	select('Wait Mode', 'waitMode', {
		options: [
			choice(
				'Poll',
				'poll',
				'Ask the service again and again. Best for tasks of up to a few minutes.',
			),
			choice(
				'Suspend Until Callback',
				'callback',
				'Put the execution to sleep until its tasks are over. Best for long tasks: holds no worker and survives a restart.',
			),
		],
		default: 'poll',
		description: 'How to wait for the result',
	}),
	notice(
		'The execution sleeps until a callback comes, this n8n sees that all tasks are over, or the timeout passes. Put a node with "Task: Wait" behind this one: it passes finished items through, waits for the others, and fails for failed tasks.',
		'suspendNotice',
		{ displayOptions: { show: SUSPENDING } },
	),
	downloadField,
	filesField,
];

function extraFieldsOption(example: string): INodeProperties {
	const what = 'Further fields for the body of the request';
	const field = jsonField('Extra Body Fields', 'extraFields', { what, example });
	const description = `${field.description} Nested objects are merged, and a field given here wins over the same field above.`;
	return { ...field, description };
}

/** The most used first, as everywhere here. */
const creatingOptions: INodeProperties[] = [
	amount('Max Active Tasks', 'maxActiveTasks', {
		typeOptions: { minValue: 1 },
		default: MAX_ACTIVE_TASKS,
		description:
			'How many tasks of this run may be in progress at the same time. The setting of the first item counts.',
	}),
	amount('Max Credits', 'maximumCredits', {
		typeOptions: { minValue: 0 },
		default: 100,
		description:
			'Create no further task of this run once its tasks cost this many credits according to the service. The setting of the first item counts. As a tool of an agent, all calls of an execution count together.',
	}),
	amount('Min Credits', 'minimumCredits', {
		typeOptions: { minValue: 0 },
		description: 'Create nothing if the account has fewer credits than this',
	}),
	toggle('Find Unclear Creations', 'findUnclear', {
		default: true,
		description:
			'Whether to look for a task whose creation was never answered in the list of tasks of the service, where it publishes one. Otherwise such an item fails at once with the outcome "unknown".',
	}),
	text('Callback Reference', 'callbackReference', {
		placeholder: 'e.g. order-1042',
		description:
			'Comes back as "reference" in the output of the trigger, to show what the task is for',
		displayOptions: { show: { waitForCompletion: [false] } },
	}),
];

const fileNameOption = text('File Name', 'fileName', {
	placeholder: 'e.g. {{ $json.title }}',
	description:
		'Name of the first file, without its ending; the next ones get _1, _2, ... appended. Characters that file systems refuse are replaced. Leave empty to name files after type and task.',
	displayOptions: { show: DOWNLOADING },
});

const timeoutOption = amount('Timeout (Seconds)', 'timeout', {
	typeOptions: { minValue: 1 },
	default: POLL_TIMEOUT_S,
	description:
		'How long to wait for one task, counted from its creation, and for a full account to take it. Without this option: 600 seconds when polling, 86400 (one day) when suspending.',
});

const onTimeoutOption = select('On Timeout', 'onTimeout', {
	options: [
		choice(
			'Error',
			'error',
			'The item fails with the task ID, so that "Task: Wait" can go on from there',
		),
		choice(
			'Return Task',
			'returnTask',
			'The item goes on with the task as last seen and timed_out set to true',
		),
	],
	default: 'error',
	description: 'What to do when a task is not finished in time. It is paid for either way.',
});

const lastOptions: INodeProperties[] = [
	toggle('Split Files', 'splitFiles', {
		description:
			'Whether to output one item per file instead of one item per task. Needs the Wait Mode "Poll".',
	}),
	...shownWhen(DOWNLOADING, [
		maxFileSizeOption(
			'Larger files are not downloaded: the item fails, and its outputs keep the addresses',
		),
	]),
	amount('Polling Before Suspending (Seconds)', 'gracePeriod', {
		typeOptions: { minValue: 0 },
		default: GRACE_S,
		description: 'How long to poll before the execution sleeps, as short tasks need no sleep',
		displayOptions: { show: SUSPENDING },
	}),
	toggle('Watch While Asleep', 'watchWhileAsleep', {
		default: true,
		description:
			'Whether this n8n also asks the service, rarely, while the execution sleeps, so that a lost callback does not leave it asleep',
		displayOptions: { show: SUSPENDING },
	}),
	select('Poll Route', 'pollRoute', {
		options: [
			choice('Automatic', 'auto', 'Find out which route answers, and remember it'),
			choice('V1', 'v1', 'Ask /v1/task/{task_id}'),
			choice('V1e', 'v1e', 'Ask /v1e/task/{task_id}'),
		],
		default: 'auto',
		description: 'Which of the two addresses of the service to ask for the task',
	}),
];

/** From inside a collection, the node's own fields are named with a slash. */
function inCollection(option: INodeProperties): INodeProperties {
	const conditions = Object.entries(option.displayOptions?.show ?? {}).map(([name, values]) => {
		return [name.startsWith('@') ? name : `/${name}`, values] as const;
	});
	return { ...option, displayOptions: { show: Object.fromEntries(conditions) } };
}

export function creatingFields({ value: resource, extraFields = '{}' }: Resource) {
	const options = [
		...(resource === 'speech' ? longTextOptions : []),
		...shownWhen(WAITING, [fileNameOption]),
		timeoutOption,
		...shownWhen(WAITING, [onTimeoutOption]),
		...creatingOptions,
		extraFieldsOption(extraFields),
		...shownWhen(WAITING, lastOptions),
	];
	return [
		...startingFields,
		...shownWhen(WAITING, waitingFields),
		optionsField(options.map(inCollection)),
	];
}

/** Of an operation that creates nothing, and so always waits. */
export const awaitingFields: INodeProperties[] = [
	...waitingFields,
	optionsField([fileNameOption, timeoutOption, onTimeoutOption, ...lastOptions].map(inCollection)),
];
