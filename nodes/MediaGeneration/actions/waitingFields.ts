/** The fields about waiting: those that all creating operations share, and those of `task: wait`. */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { Resource } from './operation';
import * as ui from './ui';
import {
	AWAITING_GRACE_S,
	GRACE_S,
	MAX_ACTIVE_TASKS,
	POLL_TIMEOUT_S,
	SUSPEND_TIMEOUT_S,
} from './waiting';

const NOT_WAITING = { waitForCompletion: [false] };
const SUSPENDING = { waitMode: ['callback'] };
const DOWNLOADING = { downloadOutput: [true] };

export const downloadField = ui.toggle('Download Output', 'downloadOutput', {
	default: true,
	description:
		'Whether to put the files of the finished task into binary data. Their addresses are in the output either way.',
});

export const filesField = ui.text('Put Output Files in Field', 'outputBinaryField', {
	required: true,
	default: 'data',
	description:
		'Name of the output field for the first file. Give each node a name of its own if a Merge node combines their items by position: files in fields of the same name replace each other.',
	hint: 'The first file gets this name, the next ones get _1, _2, ... appended',
	displayOptions: { show: DOWNLOADING },
});

export function callbackUrlField(description: string): INodeProperties {
	const placeholder = 'e.g. https://n8n.example.com/webhook/.../callback';
	return ui.text('Callback URL', 'callbackUrl', { placeholder, description });
}

const startingFields: INodeProperties[] = [
	ui.notice(
		'The model decides how often it calls this tool. Add the option "Stop After Credits" to limit what that costs.',
		'toolNotice',
		{ displayOptions: { show: ui.AS_TOOL } },
	),
	ui.toggle('Wait for Completion', 'waitForCompletion', {
		default: true,
		description:
			'Whether to wait until the task is finished and output its result. If off, the node outputs the task ID at once.',
	}),
	...ui.shownWhen(NOT_WAITING, [
		callbackUrlField(
			'Where the service posts the finished task: the Production URL of a Media Generation Trigger. Publish the workflow of that trigger first: until then n8n answers callbacks with an error, and nothing starts. Leave empty to get the result later with "Task: Wait".',
		),
	]),
];

const waitingFields: INodeProperties[] = [
	ui.select('Wait Mode', 'waitMode', {
		options: [
			ui.choice(
				'Poll',
				'poll',
				'The execution keeps running and polls the service. Best for up to a few minutes.',
			),
			ui.choice(
				'Suspend',
				'callback',
				'The execution sleeps until its tasks have finished, and survives a restart. For long tasks. Needs no public address, but n8n must reach itself at its own webhook address.',
			),
		],
		default: 'poll',
		description:
			'Whether the execution keeps running while its tasks run, or sleeps until they have finished',
		// An agent waits for its tool.
		displayOptions: { hide: ui.AS_TOOL },
	}),
	ui.notice(
		'The execution sleeps until a callback comes, this n8n sees that all tasks have finished, or the timeout passes. Add a node with "Task: Wait" after this one: it passes finished items through, waits for the others, and fails for failed tasks. Without it, a failed task continues as a normal item. Stop ends the waiting, not the task.',
		'suspendNotice',
		{ displayOptions: { show: SUSPENDING } },
	),
	// An agent gets the JSON only.
	...ui.hiddenWhen(ui.AS_TOOL, [downloadField, filesField]),
];

const creatingOptions: readonly INodeProperties[] = [
	ui.text('Callback Reference', 'callbackReference', {
		placeholder: 'e.g. order-1042',
		description:
			'Returned as "reference" in the output of the trigger, to show what the task is for. Usually an expression: {{ $json.order }}.',
		displayOptions: { show: NOT_WAITING },
	}),
	ui.amount('Minimum Credits', 'minimumCredits', {
		typeOptions: { minValue: 0 },
		description: 'Create nothing if the account has fewer credits than this',
	}),
	ui.toggle('Resend If Answer Was Lost', 'sendUnclearAgain', {
		description:
			"Whether Retry On Fail and n8n's Retry send a creation again if its answer never came and its task was not found. It may then be paid for twice.",
	}),
	ui.amount('Stop After Credits', 'maximumCredits', {
		typeOptions: { minValue: 0 },
		default: 100,
		description:
			"Create no further task once the account's balance has fallen by this much since this node began. A task that is under way may cost more. Loop iterations, retries and tool calls share this limit. If 'On Error' is Stop Workflow, finished items are held back: n8n's Retry or Task: Wait gets them. Uses the value of the first item.",
	}),
];

const maxActiveOption = ui.amount('Max Active Tasks', 'maxActiveTasks', {
	typeOptions: { minValue: 1 },
	default: MAX_ACTIVE_TASKS,
	description:
		'How many tasks of this run may be in progress at the same time. Uses the value of the first item.',
});

const includeInputOption = ui.toggle('Include Input', 'includeInput', {
	default: true,
	description:
		'Whether each output item, failed ones too, carries the JSON of its input item as "input"',
});

const timeoutOf = (seconds: number, hide: IDisplayOptions['hide']) =>
	ui.amount('Timeout (Seconds)', 'timeout', {
		typeOptions: { minValue: 1 },
		default: seconds,
		displayOptions: { hide },
		description: `How long to wait for each task. Without this option: ${seconds} seconds.`,
	});

/** Options on how to wait, and on what to do with the files. */
const endingOptions = (graceS: number): INodeProperties[] => [
	...ui.shownWhen(DOWNLOADING, [
		ui.text('File Name', 'fileName', {
			placeholder: 'e.g. chapter-1',
			description:
				'Name of the files, without their ending. Usually an expression: {{ $json.title }}. Files of different types share it; further files of the same type get a number appended. Characters that file systems refuse are replaced. Leave empty to name files after type and task.',
		}),
		ui.maxFileSizeOption(
			'Larger files are not downloaded: the item fails, and its outputs keep the addresses',
		),
	]),
	ui.select('On Timeout', 'onTimeout', {
		options: [
			ui.choice(
				'Error',
				'error',
				'The item fails with the task ID, so that "Task: Wait" can continue from there',
			),
			ui.choice(
				'Return Task',
				'returnTask',
				'The item continues with the task as last seen and unfinished set to true',
			),
		],
		default: 'error',
		description: 'What to do when a task is not finished in time. It is paid for either way.',
	}),
	ui.amount('Polling Before Suspending (Seconds)', 'gracePeriod', {
		typeOptions: { minValue: 0 },
		default: graceS,
		description:
			'How long to poll before the execution goes to sleep, because short tasks finish sooner',
		displayOptions: { show: SUSPENDING },
	}),
	ui.toggle('Split Files', 'splitFiles', {
		default: true,
		description:
			'Whether to output one item per file instead of one item per task, e.g. one for each image',
		displayOptions: { hide: SUSPENDING },
	}),
	// The name has two defaults, of which the editor shows one: the first if Wait Mode is an expression.
	timeoutOf(POLL_TIMEOUT_S, SUSPENDING),
	timeoutOf(SUSPEND_TIMEOUT_S, { waitMode: [{ _cnd: { not: 'callback' } }] }),
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

/** A joined file needs all of its parts, and a sleeping execution continues with one item per input item. */
const HIDDEN_BY_LONG_TEXT: Readonly<Record<string, IDisplayOptions['hide']>> = {
	waitForCompletion: { longText: ['join'] },
	waitMode: { longText: ['parts'] },
};

export function creatingFields({ fields = [], options = [] }: Resource): INodeProperties[] {
	const all = [
		...options,
		...creatingOptions,
		includeInputOption,
		...ui.hiddenWhen(NOT_WAITING, [maxActiveOption, ...endingOptions(GRACE_S)]),
	];
	// A value of Long Text that speech has left hides nothing elsewhere.
	const hides = fields.some(({ name }) => name === 'longText') ? HIDDEN_BY_LONG_TEXT : {};
	return [
		...[...startingFields, ...ui.hiddenWhen(NOT_WAITING, waitingFields)].flatMap((field) =>
			ui.hiddenWhen(hides[field.name], [field]),
		),
		ui.optionsField(all.map(inCollection)),
	];
}

/** An operation that creates nothing always waits. */
export const awaitingFields: INodeProperties[] = [
	...waitingFields,
	ui.optionsField([includeInputOption, ...endingOptions(AWAITING_GRACE_S)].map(inCollection)),
];
