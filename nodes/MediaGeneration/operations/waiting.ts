/**
 * The fields that all creating operations share, and `task: wait` where they make sense: whether and how to wait,
 * what to do with the files, and the options (README, "Waiting").
 */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { PollRouteOption } from '../service/account';
import { invalid } from '../service/failures';
import { asNumber, asText, isObject } from '../service/json';
import type { ItemFields } from './fields';
import { longTextOptions, readLongText, type LongText } from './longText';
import type { Resource, Work } from './operation';

export interface FileSettings {
	download: boolean;
	binaryPropertyName: string;
	maxFileBytes: number;
	splitFiles: boolean;
	/** Whether the JSON carries the transcript, where one was delivered. */
	transcriptInOutput: boolean;
}

/** How an item waits for its tasks. */
export type Waiting =
	| { kind: 'no'; callbackUrl: string | undefined }
	| { kind: 'poll' }
	/** Polls for a while, then puts the execution to sleep. `watched`: whether this n8n also looks while it sleeps. */
	| { kind: 'suspend'; graceMs: number; watched: boolean };

/** The settings of one item. */
export interface ItemSettings {
	waiting: Waiting;
	files: FileSettings;
	callbackReference: string | undefined;
	timeoutMs: number;
	onTimeout: 'error' | 'returnTask';
	pollRoute: PollRouteOption;
	minimumCredits: number | undefined;
	longText: LongText;
}

/** The settings of the whole run: those of its first item. */
export interface RunSettings {
	maxActiveTasks: number;
	/** Credits that the run's tasks may cost before nothing more is created. */
	maximumCredits: number | undefined;
}

/** What a way of waiting means for a run. */
interface WaitingRules {
	/** Whether a task that was just created is followed to its end. */
	follows: boolean;
	/** Whether the execution may go to sleep before its tasks are over. */
	sleeps: boolean;
	/** The default of the option Timeout. */
	timeoutS: number;
}

const POLL_TIMEOUT_S = 600;
const DAY_S = 86_400;

export const waitingRules: Readonly<Record<Waiting['kind'], WaitingRules>> = {
	no: { follows: false, sleeps: false, timeoutS: POLL_TIMEOUT_S },
	poll: { follows: true, sleeps: false, timeoutS: POLL_TIMEOUT_S },
	suspend: { follows: true, sleeps: true, timeoutS: DAY_S },
};

const GRACE_S = 10;
export const MAX_FILE_MB = 500;
const MAX_ACTIVE_TASKS = 20;
/** Until the year 9900: later dates can't be saved by every database of n8n. */
const MAX_TIMEOUT_S = 7_870 * 365 * DAY_S;

type Conditions = NonNullable<IDisplayOptions['show']>;

/** When the waiting fields are shown: an entry for each combination that one condition can't express. */
function conditionsFor(resources: readonly Resource[], kind: Work['kind']): Conditions[] {
	const whole: string[] = [];
	const parts: Conditions[] = [];
	for (const { value, operations } of resources) {
		const fitting = operations.filter(({ work }) => work.kind === kind);
		if (fitting.length === operations.length) whole.push(value);
		else if (fitting.length > 0)
			parts.push({ resource: [value], operation: fitting.map((operation) => operation.value) });
	}
	return whole.length === 0 ? parts : [{ resource: whole }, ...parts];
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
				description:
					'The item fails with the task ID, so that "Task: Wait" can continue from there',
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
				description: 'Find out which route answers, and remember it',
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
	{
		displayName: 'Watch While Asleep',
		name: 'watchWhileAsleep',
		type: 'boolean',
		default: true,
		description:
			'Whether to also look at the tasks from this n8n, rarely, while the execution sleeps, so that a lost callback does not leave it asleep',
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
			'Comes back as "reference" in the output of the trigger, to show what the task is for',
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
		displayName: 'Maximum Credits',
		name: 'maximumCredits',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 100,
		description:
			'Create no further task of this run once those created cost this many credits according to the service. The setting of the first item counts; as a tool of an agent all calls of an execution count together.',
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

const waitFlag: INodeProperties = {
	displayName: 'Wait for Completion',
	name: 'waitForCompletion',
	type: 'boolean',
	default: true,
	description:
		'Whether to wait until the task is finished and output its result. If off, the task ID goes out at once.',
};

const callbackUrl: INodeProperties = {
	displayName: 'Callback URL',
	name: 'callbackUrl',
	type: 'string',
	default: '',
	placeholder: 'e.g. https://n8n.example.com/webhook/.../callback',
	description:
		'Where the service posts the finished task, e.g. the Production URL of a Media Generation Trigger. Leave empty to fetch the result later with "Task: Wait".',
};

export const downloadField: INodeProperties = {
	displayName: 'Download Output',
	name: 'downloadOutput',
	type: 'boolean',
	default: true,
	description:
		'Whether to put the files of the finished task into binary data. Their addresses are in the output either way.',
};

/** The fields that are shown while the node waits, each with its condition. */
const whileWaiting: Array<{ field: INodeProperties; when: Conditions }> = [
	{
		field: {
			displayName: 'Wait Mode',
			name: 'waitMode',
			type: 'options',
			options: [
				{
					name: 'Poll',
					value: 'poll',
					description: 'Ask the service again and again. Best for tasks of up to a few minutes.',
				},
				{
					name: 'Suspend Until Callback',
					value: 'callback',
					description:
						'Put the execution to sleep until its tasks are over. Best for long tasks: holds no worker and survives a restart.',
				},
			],
			default: 'poll',
			description: 'How to wait for the result',
		},
		when: {},
	},
	{
		field: {
			displayName:
				'The execution sleeps until the service calls back, this n8n sees by a rare look of its own that all tasks are over, or the timeout passes. Put a node with "Task: Wait" behind this one: it passes finished items through, waits for what is left at the timeout, and fails for tasks that failed meanwhile.',
			name: 'suspendNotice',
			type: 'notice',
			default: '',
		},
		when: { waitMode: ['callback'] },
	},
	{ field: downloadField, when: {} },
	{
		field: {
			displayName: 'Put Output Files in Field',
			name: 'binaryPropertyName',
			type: 'string',
			required: true,
			default: 'data',
			hint: 'Name of the binary field of the first file; the next ones get _1, _2, ... appended',
		},
		when: { downloadOutput: [true] },
	},
];

function optionsField(options: INodeProperties[], show: Conditions): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options,
		displayOptions: { show },
	};
}

/** The fields that creating operations share, and those that wait for a task made earlier where they make sense. */
export function waitingFields(resources: readonly Resource[]): INodeProperties[] {
	const creating = conditionsFor(resources, 'creates');
	const awaiting = conditionsFor(resources, 'awaits');
	const shown = (field: INodeProperties, conditions: Conditions[], when: Conditions = {}) =>
		conditions.map((show) => ({ ...field, displayOptions: { show: { ...show, ...when } } }));
	return [
		...shown(waitFlag, creating),
		...shown(callbackUrl, creating, { waitForCompletion: [false] }),
		...whileWaiting.flatMap(({ field, when }) => [
			...shown(field, creating, { waitForCompletion: [true], ...when }),
			...shown(field, awaiting, when),
		]),
		...creating.map((show) =>
			optionsField(
				[...waitingOptions, ...creatingOptions, ...longTextOptions].sort(byDisplayName),
				show,
			),
		),
		...awaiting.map((show) => optionsField(waitingOptions, show)),
	];
}

/** How the files of one item are delivered. */
function readFileSettings(fields: ItemFields): FileSettings {
	const splitFiles = fields.option('splitFiles');
	return {
		download: fields.boolean('downloadOutput', true),
		binaryPropertyName:
			fields.optionalText('binaryPropertyName', 'Put Output Files in Field') ?? 'data',
		maxFileBytes:
			fields.positiveOption('maxFileSize', 'Max File Size (MB)', MAX_FILE_MB) * 1_000_000,
		splitFiles: splitFiles === true,
		transcriptInOutput: fields.option('transcriptInOutput') === true,
	};
}

/** How one item waits for its tasks. */
function readWaiting(fields: ItemFields, alwaysWaits: boolean): Waiting {
	if (!alwaysWaits && !fields.boolean('waitForCompletion', true))
		return { kind: 'no', callbackUrl: fields.optionalText('callbackUrl', 'Callback URL') };
	const mode = fields.choice(
		fields.raw('waitMode'),
		'Wait Mode',
		['poll', 'callback'] as const,
		'poll',
	);
	if (mode === 'poll') return { kind: 'poll' };
	const grace = fields.option('gracePeriod');
	const graceS = isZero(grace)
		? 0
		: fields.positiveOption('gracePeriod', 'Polling Before Suspending (Seconds)', GRACE_S);
	return {
		kind: 'suspend',
		graceMs: graceS * 1000,
		watched: fields.option('watchWhileAsleep') !== false,
	};
}

/** Everything that an item sets. Throws an `invalid` failure for bad input. */
export function readItemSettings(fields: ItemFields, alwaysWaits: boolean): ItemSettings {
	const waiting = readWaiting(fields, alwaysWaits);
	const longText: LongText = alwaysWaits ? { kind: 'off' } : readLongText(fields);
	const { timeoutS, sleeps } = waitingRules[waiting.kind];
	const files = readFileSettings(fields);
	checkLongText(longText, waiting, files);
	return {
		waiting,
		longText,
		// A suspended execution goes on with exactly one item per input item.
		files: { ...files, splitFiles: files.splitFiles && !sleeps },
		callbackReference: readReference(fields.option('callbackReference')),
		timeoutMs:
			fields.positiveOption('timeout', 'Timeout (Seconds)', timeoutS, MAX_TIMEOUT_S) * 1000,
		onTimeout: fields.choice(
			fields.option('onTimeout'),
			'On Timeout',
			['error', 'returnTask'] as const,
			'error',
		),
		pollRoute: fields.choice(
			fields.option('pollRoute'),
			'Poll Route',
			['auto', 'v1', 'v1e'] as const,
			'auto',
		),
		minimumCredits: optionAboveZero(fields, 'minimumCredits', 'Minimum Credits'),
	};
}

/** Which ways of waiting a long text goes with. Throws an `invalid` failure. */
function checkLongText({ kind }: LongText, waiting: Waiting, files: FileSettings): void {
	if (kind === 'join' && waiting.kind === 'no')
		throw invalid(
			'"Long Text: Join Into One File" needs to wait for its parts',
			'Turn "Wait for Completion" on, or set "Long Text" to "One Item per Part" or "Off". Nothing was sent.',
		);
	if (kind === 'join' && !files.download)
		throw invalid(
			'"Long Text: Join Into One File" needs the files of its parts',
			'Turn "Download Output" on, or set "Long Text" to "One Item per Part". Nothing was sent.',
		);
	if (kind === 'parts' && waiting.kind === 'suspend')
		throw invalid(
			'"Long Text: One Item per Part" can\'t be suspended: a sleeping execution goes on with exactly one item per input item',
			'Set "Long Text" to "Join Into One File", or "Wait Mode" to "Poll". Nothing was sent.',
		);
}

/** What the run as a whole takes from its first item. Throws an `invalid` failure for bad input. */
export function readRunSettings(fields: ItemFields): RunSettings {
	const maxActiveTasks = fields.positiveOption(
		'maxActiveTasks',
		'Max Active Tasks',
		MAX_ACTIVE_TASKS,
	);
	return {
		maxActiveTasks: Math.max(1, Math.floor(maxActiveTasks)),
		maximumCredits: readMaximumCredits(fields),
	};
}

/** An option that is set but leads to an empty value must not count as no limit. */
function readMaximumCredits(fields: ItemFields): number | undefined {
	if (!fields.hasOption('maximumCredits')) return undefined;
	const maximum = asNumber(fields.option('maximumCredits'));
	if (maximum === undefined || maximum < 0) {
		throw invalid(
			'The option "Maximum Credits" must be a number of at least 0',
			'Set "Maximum Credits" to a number, or remove the option to create tasks without this limit. Nothing was sent.',
		);
	}
	return maximum;
}

/** A reference is sent as a text, whatever simple value it is: an expression often leads to a number. */
function readReference(given: unknown): string | undefined {
	return asText(typeof given === 'boolean' ? String(given) : given);
}

/** A number above zero; undefined where it is not set, or zero, which switches such an option off. */
function optionAboveZero(fields: ItemFields, name: string, label: string): number | undefined {
	const given = fields.option(name);
	return given === undefined || isZero(given) ? undefined : fields.positiveOption(name, label, 0);
}

function isZero(value: unknown): boolean {
	return (
		!isObject(value) && value !== undefined && value !== '' && value !== null && Number(value) === 0
	);
}
