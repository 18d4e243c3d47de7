/** Has the fields about waiting: those that all creating operations share, and those that `task: wait` has as well. */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import {
	amount,
	AS_TOOL,
	choice,
	hiddenWhen,
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
import { GRACE_S, MAX_ACTIVE_TASKS, POLL_TIMEOUT_S, waitingRules } from './waiting';

const NOT_WAITING = { waitForCompletion: [false] };
const SUSPENDING = { waitMode: ['callback'] };
const DOWNLOADING = { downloadOutput: [true] };

export const downloadField = toggle('Download Output', 'downloadOutput', {
	default: true,
	description:
		'Whether to put the files of the finished task into binary data. Their addresses are in the output either way.',
});

export const filesField = text('Put Output Files in Field', 'outputBinaryField', {
	required: true,
	default: 'data',
	hint: 'Name of the binary field of the first file; the next ones get _1, _2, ... appended',
	displayOptions: { show: DOWNLOADING },
});

const startingFields: INodeProperties[] = [
	toggle('Wait for Completion', 'waitForCompletion', {
		default: true,
		description:
			'Whether to wait until the task is finished and output its result. If off, the node outputs the task ID at once.',
		// A joined file needs all of its parts.
		displayOptions: { hide: { longText: ['join'] } },
	}),
	text('Callback URL', 'callbackUrl', {
		placeholder: 'e.g. https://n8n.example.com/webhook/.../callback',
		description:
			'Where the service posts the finished task: the Production URL of a Media Generation Trigger. Publish the workflow of that trigger first: until then n8n answers callbacks with an error, and nothing starts. Leave empty to get the result later with "Task: Wait".',
		displayOptions: { show: NOT_WAITING },
	}),
];

const waitingFields = (suspendNotice: string): INodeProperties[] => [
	select('Wait Mode', 'waitMode', {
		options: [
			choice(
				'Poll',
				'poll',
				'The execution keeps running and polls the service until its tasks are over. Best for up to a few minutes.',
			),
			choice(
				'Suspend',
				'callback',
				'The execution sleeps until its tasks are over, and survives a restart. For long tasks; needs no public address.',
			),
		],
		default: 'poll',
		description: 'How to wait for the result',
		// An agent waits for its tool, and a sleeping execution goes on with one item per input item.
		displayOptions: { hide: { ...AS_TOOL, longText: ['parts'] } },
	}),
	notice(suspendNotice, 'suspendNotice', { displayOptions: { show: SUSPENDING } }),
	notice(
		'The option Timeout ends the sleep after ten minutes or less. Without it, the execution sleeps for up to a day.',
		'timeoutNotice',
		{
			displayOptions: {
				show: { ...SUSPENDING, '/options.timeout': [{ _cnd: { lte: POLL_TIMEOUT_S } }] },
			},
		},
	),
	downloadField,
	filesField,
];

function extraFieldsOption(example: string): INodeProperties {
	const what = 'Further fields for the body of the request';
	const field = jsonField('Extra Body Fields', 'extraFields', { what, example });
	const description = `${field.description} Nested objects are merged, and a field given here overrides the same field above.`;
	return { ...field, description };
}

/** The most used come first, as everywhere here. */
const creatingOptions: INodeProperties[] = [
	amount('Max Active Tasks', 'maxActiveTasks', {
		typeOptions: { minValue: 1 },
		default: MAX_ACTIVE_TASKS,
		description:
			'How many tasks of this run may be in progress at the same time. Uses the value of the first item.',
	}),
	amount('Max Credits', 'maximumCredits', {
		typeOptions: { minValue: 0 },
		default: 100,
		description:
			'Create no further task once the tasks of this node have cost this many credits in this execution, according to the service. All rounds of a loop, all tries and all calls of a tool count together. Uses the value of the first item.',
	}),
	amount('Min Credits', 'minimumCredits', {
		typeOptions: { minValue: 0 },
		description: 'Create nothing if the account has fewer credits than this',
	}),
	text('Callback Reference', 'callbackReference', {
		placeholder: 'e.g. order-1042',
		description:
			'Comes back as "reference" in the output of the trigger, to show what the task is for',
		displayOptions: { show: NOT_WAITING },
	}),
];

const fileNameOption = text('File Name', 'fileName', {
	placeholder: 'e.g. {{ $json.title }}',
	description:
		'Name of the files, without their ending. Files of different types share it; further files of the same type get _1, _2, ... appended. Characters that file systems refuse are replaced. Leave empty to name files after type and task.',
	displayOptions: { show: DOWNLOADING },
});

const includeInputOption = toggle('Include Input', 'includeInput', {
	description:
		'Whether each output item, failed ones too, carries the JSON of its input item as "input"',
});

const timeoutOf = (seconds: number, hide: IDisplayOptions['hide']) =>
	amount('Timeout (Seconds)', 'timeout', {
		typeOptions: { minValue: 1 },
		default: seconds,
		displayOptions: { hide },
		description: `How long to wait for each task. Without this option: ${seconds} seconds.`,
	});

/** One name has two defaults, of which the editor shows one: the first where Wait Mode is an expression. */
const timeoutOptions = [
	timeoutOf(POLL_TIMEOUT_S, SUSPENDING),
	timeoutOf(waitingRules.suspend.timeoutS, { waitMode: [{ _cnd: { not: 'callback' } }] }),
];

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
			'The item goes on with the task as last seen and unfinished set to true',
		),
	],
	default: 'error',
	description: 'What to do when a task is not finished in time. It is paid for either way.',
});

const lastOptions: INodeProperties[] = [
	toggle('Split Files', 'splitFiles', {
		description: 'Whether to output one item per file instead of one item per task',
		displayOptions: { hide: SUSPENDING },
	}),
	...shownWhen(DOWNLOADING, [
		maxFileSizeOption(
			'Larger files are not downloaded: the item fails, and its outputs keep the addresses',
		),
	]),
	amount('Polling Before Suspending (Seconds)', 'gracePeriod', {
		typeOptions: { minValue: 0 },
		default: GRACE_S,
		description:
			'How long to poll before the execution goes to sleep, as short tasks finish sooner',
		displayOptions: { show: SUSPENDING },
	}),
];

/** Inside a collection, a slash before a name refers to the node's own field (`getPropertyValues`, n8n-workflow 2.41). */
function inCollection(option: INodeProperties): INodeProperties {
	const displayOptions: IDisplayOptions = {};
	for (const rule of ['show', 'hide'] as const) {
		const conditions = Object.entries(option.displayOptions?.[rule] ?? {}).map(
			([name, values]) => [name.startsWith('@') ? name : `/${name}`, values] as const,
		);
		if (conditions.length > 0) displayOptions[rule] = Object.fromEntries(conditions);
	}
	return { ...option, displayOptions };
}

const SLEEPING_CREATION =
	'The execution sleeps until a callback comes, this n8n sees that all tasks are over, or the timeout passes. Put a node with "Task: Wait" behind this one: it passes finished items through, waits for the others, and fails for failed tasks.';

export function creatingFields({
	extraFields = '{}',
	options: own = [],
	rareOptions = [],
}: Resource): INodeProperties[] {
	const options = [
		...own,
		...hiddenWhen(NOT_WAITING, [fileNameOption]),
		includeInputOption,
		...timeoutOptions,
		...hiddenWhen(NOT_WAITING, [onTimeoutOption]),
		...creatingOptions,
		extraFieldsOption(extraFields),
		...hiddenWhen(NOT_WAITING, lastOptions),
		...rareOptions,
	];
	return [
		...startingFields,
		...hiddenWhen(NOT_WAITING, waitingFields(SLEEPING_CREATION)),
		optionsField(options.map(inCollection)),
	];
}

/** An operation that creates nothing always waits. */
export const awaitingFields: INodeProperties[] = [
	...waitingFields(
		'The execution sleeps until this n8n sees that all tasks are over, or the timeout passes. The item of a task that still runs then has unfinished set to true, and that of a failed task has its outcome.',
	),
	optionsField(
		[fileNameOption, includeInputOption, ...timeoutOptions, onTimeoutOption, ...lastOptions].map(
			inCollection,
		),
	),
];
