/**
 * The fields that all generating operations share, and `task: wait` where they make sense: whether and how to wait,
 * what to do with the files, and the options (contract, "Fields of the generating operations").
 */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { PollRouteOption } from '../service/account';
import { isObject } from '../service/json';
import type { ItemFields } from './fields';

export type WaitMode = 'poll' | 'callback';
export type OnTimeout = 'error' | 'returnTask';

export interface FileSettings {
	download: boolean;
	binaryPropertyName: string;
	maxFileBytes: number;
	splitFiles: boolean;
}

export interface WaitSettings extends FileSettings {
	wait: boolean;
	waitMode: WaitMode;
	callbackUrl: string | undefined;
	callbackReference: string | undefined;
	timeoutMs: number;
	/** How long `callback` polls before it suspends. */
	graceMs: number;
	onTimeout: OnTimeout;
	maxActiveTasks: number;
	pollRoute: PollRouteOption;
	minimumCredits: number | undefined;
}

const POLL_TIMEOUT_S = 600;
const CALLBACK_TIMEOUT_S = 86_400;
const GRACE_S = 10;
export const MAX_FILE_MB = 500;
const MAX_ACTIVE_TASKS = 20;

const generating = { resource: ['image', 'soundEffect', 'speech'] };
const waitingFor = { resource: ['task'], operation: ['wait'] };

/** One entry for the generating resources and one for `task: wait`, as display conditions can't say "or". */
function shownForBoth(
	field: INodeProperties,
	extra: NonNullable<IDisplayOptions['show']> = {},
): INodeProperties[] {
	return [
		{ ...field, displayOptions: { show: { ...generating, ...extra } } },
		{ ...field, displayOptions: { show: { ...waitingFor, ...withoutWaitFlag(extra) } } },
	];
}

/** `task: wait` always waits, so it has no such flag to depend on. */
function withoutWaitFlag({
	waitForCompletion: _ignored,
	...rest
}: NonNullable<IDisplayOptions['show']>) {
	return rest;
}

const maxFileSizeOption: INodeProperties = {
	displayName: 'Max File Size (MB)',
	name: 'maxFileSize',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: MAX_FILE_MB,
	description: 'Larger files are not downloaded: the item fails and its outputs keep the addresses',
};

const waitingOptions: INodeProperties[] = [
	maxFileSizeOption,
	{
		displayName: 'On Timeout',
		name: 'onTimeout',
		type: 'options',
		options: [
			{
				name: 'Error',
				value: 'error',
				description: 'The item fails with the task ID, so that "Task: Wait" can go on from there',
			},
			{
				name: 'Return Task',
				value: 'returnTask',
				description: 'The item goes on with the task as last seen and timed_out set to true',
			},
		],
		default: 'error',
		description: 'What to do when a task is not finished in time. It is paid for either way.',
	},
	{
		displayName: 'Poll Route',
		name: 'pollRoute',
		type: 'options',
		options: [
			{
				name: 'Automatic',
				value: 'auto',
				description: 'Find out which one answers, and remember it',
			},
			{ name: 'V1', value: 'v1', description: 'Ask /v1/task/{task_id}' },
			{ name: 'V1e', value: 'v1e', description: 'Ask /v1e/task/{task_id}' },
		],
		default: 'auto',
		description: 'Which of the two addresses of the service to ask for the task',
	},
	{
		displayName: 'Polling Before Suspending (Seconds)',
		name: 'gracePeriod',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: GRACE_S,
		description:
			'With Wait Mode "Suspend Until Callback": how long to poll first, as short tasks need no suspending',
	},
	{
		displayName: 'Split Files',
		name: 'splitFiles',
		type: 'boolean',
		default: false,
		description:
			'Whether to output one item per file instead of one item per task. Not available when suspending.',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: POLL_TIMEOUT_S,
		description:
			'How long to wait for one task, counted from its creation. Without this option: 600 seconds when polling, 86400 (one day) when suspending.',
	},
];

const creatingOptions: INodeProperties[] = [
	{
		displayName: 'Callback Reference',
		name: 'callbackReference',
		type: 'string',
		default: '',
		placeholder: 'e.g. order-1042',
		description:
			'Comes back as "reference" in the output of the trigger, to tell which task belongs to what',
	},
	{
		displayName: 'Extra Body Fields',
		name: 'extraFields',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. {"voice_settings": {"speed": 1.1}}',
		description:
			'Further fields for the body of the request, as a JSON object. They are merged in depth and win over the fields above.',
	},
	{
		displayName: 'Max Active Tasks',
		name: 'maxActiveTasks',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: MAX_ACTIVE_TASKS,
		description:
			'How many tasks of this run may be in progress at the same time. The setting of the first item counts.',
	},
	{
		displayName: 'Minimum Credits',
		name: 'minimumCredits',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 0,
		description: 'Stop before creating anything if the account has fewer credits than this',
	},
];

/** Not by localeCompare: the first call of a process loads a collator, which takes longer than the rest of this package. */
const byDisplayName = (a: INodeProperties, b: INodeProperties) =>
	a.displayName.toLowerCase() < b.displayName.toLowerCase() ? -1 : 1;

export const waitingFields: INodeProperties[] = [
	{
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		type: 'boolean',
		default: true,
		description:
			'Whether to wait until the task is finished and output its result. If off, the task ID goes out at once.',
		displayOptions: { show: generating },
	},
	...shownForBoth(
		{
			displayName: 'Wait Mode',
			name: 'waitMode',
			type: 'options',
			options: [
				{
					name: 'Poll',
					value: 'poll',
					description: 'Ask the service again and again. Best for tasks of up to some minutes.',
				},
				{
					name: 'Suspend Until Callback',
					value: 'callback',
					description:
						'Put the execution to sleep until the service calls back. Best for long tasks: holds no worker and survives a restart.',
				},
			],
			default: 'poll',
			description: 'How to wait for the result',
		},
		{ waitForCompletion: [true] },
	),
	...shownForBoth(
		{
			displayName:
				'The service must be able to reach this n8n. Put a node with "Task: Wait" behind this one: it passes finished items through, waits for what is left at the timeout, and fails for tasks that failed while the execution was asleep.',
			name: 'suspendNotice',
			type: 'notice',
			default: '',
		},
		{ waitForCompletion: [true], waitMode: ['callback'] },
	),
	{
		displayName: 'Callback URL',
		name: 'callbackUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://n8n.example.com/webhook/.../callback',
		description:
			'Where the service posts the finished task, e.g. the Production URL of a Media Generation Trigger. Leave empty to fetch the result later with "Task: Wait".',
		displayOptions: { show: { ...generating, waitForCompletion: [false] } },
	},
	...shownForBoth(
		{
			displayName: 'Download Output',
			name: 'downloadOutput',
			type: 'boolean',
			default: true,
			description:
				'Whether to put the files of the finished task into binary data. Their addresses are in the output either way.',
		},
		{ waitForCompletion: [true] },
	),
	...shownForBoth(
		{
			displayName: 'Put Output Files in Field',
			name: 'binaryPropertyName',
			type: 'string',
			required: true,
			default: 'data',
			hint: 'The name of the output binary field of the first file; the next ones get _1, _2, ... appended',
		},
		{ waitForCompletion: [true], downloadOutput: [true] },
	),
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [...waitingOptions, ...creatingOptions].sort(byDisplayName),
		displayOptions: { show: generating },
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: waitingOptions,
		displayOptions: { show: waitingFor },
	},
];

/** How the files of one item are delivered. */
export function readFileSettings(fields: ItemFields): FileSettings {
	const splitFiles = fields.option('splitFiles');
	return {
		download: fields.boolean('downloadOutput', true),
		binaryPropertyName:
			fields.optionalText('binaryPropertyName', 'Put Output Files in Field') ?? 'data',
		maxFileBytes:
			fields.positiveOption('maxFileSize', 'Max File Size (MB)', MAX_FILE_MB) * 1_000_000,
		splitFiles: splitFiles === true,
	};
}

/** How one item waits. Throws an `invalid` failure for bad input. */
export function readWaitSettings(fields: ItemFields, alwaysWaits: boolean): WaitSettings {
	const wait = alwaysWaits || fields.boolean('waitForCompletion', true);
	const waitMode = fields.choice(
		fields.raw('waitMode'),
		'Wait Mode',
		['poll', 'callback'] as const,
		'poll',
	);
	const defaultTimeout = waitMode === 'callback' ? CALLBACK_TIMEOUT_S : POLL_TIMEOUT_S;
	const grace = fields.option('gracePeriod');
	const minimumCredits = fields.option('minimumCredits');
	const reference = fields.option('callbackReference');
	const files = readFileSettings(fields);
	return {
		...files,
		// A suspended execution goes on with exactly one item per input item.
		splitFiles: files.splitFiles && !(wait && waitMode === 'callback'),
		wait,
		waitMode,
		callbackUrl: wait ? undefined : fields.optionalText('callbackUrl', 'Callback URL'),
		callbackReference: typeof reference === 'string' && reference !== '' ? reference : undefined,
		timeoutMs: fields.positiveOption('timeout', 'Timeout (Seconds)', defaultTimeout) * 1000,
		graceMs:
			(grace === 0 || isZero(grace)
				? 0
				: fields.positiveOption('gracePeriod', 'Polling Before Suspending (Seconds)', GRACE_S)) *
			1000,
		onTimeout: fields.choice(
			fields.option('onTimeout'),
			'On Timeout',
			['error', 'returnTask'] as const,
			'error',
		),
		maxActiveTasks: Math.max(
			1,
			Math.floor(fields.positiveOption('maxActiveTasks', 'Max Active Tasks', MAX_ACTIVE_TASKS)),
		),
		pollRoute: fields.choice(
			fields.option('pollRoute'),
			'Poll Route',
			['auto', 'v1', 'v1e'] as const,
			'auto',
		),
		minimumCredits:
			minimumCredits === undefined || isZero(minimumCredits)
				? undefined
				: fields.positiveOption('minimumCredits', 'Minimum Credits', 0),
	};
}

function isZero(value: unknown): boolean {
	return !isObject(value) && value !== '' && value !== null && Number(value) === 0;
}
