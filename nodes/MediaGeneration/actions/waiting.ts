/** How an item waits, beside what it does with its files: the fields that all operations which wait share, and how they are read. */
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import { invalid, type FailureError } from '../base/outcomes';
import { maxActiveOption, minimumCreditsOption, stopAfterOption } from './creditLimits';
import type { ItemFields } from './fields';
import {
	downloadField,
	fileOptions,
	filesField,
	readFileSettings,
	type FileSettings,
} from './fileSettings';
import { readLongText, type LongText } from './longText';
import type { Resource } from './operation';
import * as ui from './ui';

export type Waiting = { callbackUrl?: string | undefined } & (
	| { kind: 'no' | 'poll' }
	/** Polls for a while, then puts the execution to sleep. */
	| { kind: 'suspend'; graceMs: number }
);

export interface ItemSettings {
	waiting: Waiting;
	longText: LongText;
	files: FileSettings;
	callbackReference: string | undefined;
	timeoutMs: number;
	onTimeout: 'error' | 'returnTask';
	minimumCredits: number | undefined;
	/** Whether a creation without a clear answer may be paid for twice. */
	sendUnclearAgain: boolean;
}

const NOT_WAITING = { waitForCompletion: [false] };
const SUSPENDING = { waitMode: ['callback'] };

const waitField = ui.toggle('Wait for Completion', 'waitForCompletion', {
	default: true,
	description:
		'Whether to wait until the task is finished and output its result. If off, the node outputs the task ID at once.',
});

export const callbackUrlField = ui.text('Callback URL', 'callbackUrl', {
	placeholder: 'e.g. https://n8n.example.com/webhook/.../callback',
	description:
		'Where the service posts the finished task: the Production URL of a Media Generation Trigger. Publish the workflow of that trigger first: until then n8n answers callbacks with an error, and nothing starts. Leave empty to get the result later with "Task: Wait".',
});

const waitModeField = ui.select('Wait Mode', 'waitMode', {
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
});

const waitingFields: INodeProperties[] = [
	waitModeField,
	ui.notice(
		'The execution sleeps until a callback comes, this n8n sees that all tasks have finished, or the timeout passes. Add a node with "Task: Wait" after this one: it passes finished items through, waits for the others, and fails for failed tasks, which otherwise continue as normal items. Stop ends the waiting, not the task.',
		'suspendNotice',
		{ displayOptions: { show: SUSPENDING } },
	),
	// An agent gets the JSON only.
	...ui.hiddenWhen(ui.AS_TOOL, [downloadField, filesField]),
];

const callbackReferenceOption = ui.text('Callback Reference', 'callbackReference', {
	placeholder: 'e.g. order-1042',
	description:
		'Returned as "reference" in the output of the trigger, to show what the task is for. Usually an expression: {{ $json.order }}.',
	displayOptions: { show: NOT_WAITING },
});

const resendOption = ui.toggle('Resend If Answer Was Lost', 'sendUnclearAgain', {
	description:
		"Whether Retry On Fail and n8n's Retry send a creation again if its answer never came and its task was not found. It may then be paid for twice.",
});

export const includeInputOption = ui.toggle('Include Input', 'includeInput', {
	default: true,
	description:
		'Whether each output item, failed ones too, carries the JSON of its input item as "input"',
});

const onTimeoutOption = ui.select('On Timeout', 'onTimeout', {
	options: [
		ui.choice(
			'Error',
			'error',
			'The item fails with the task ID, so that "Task: Wait" can continue from there',
		),
		ui.choice(
			'Return Task',
			'returnTask',
			'The item continues with the task as last seen, and with "unfinished" set to true',
		),
	],
	default: 'error',
	description: 'What to do when a task is not finished in time. It is paid for either way.',
});

const graceOption = (seconds: number) =>
	ui.amount('Polling Before Suspending (Seconds)', 'gracePeriod', {
		typeOptions: { minValue: 0 },
		default: seconds,
		description:
			'How long to poll before the execution goes to sleep, because short tasks finish sooner',
		displayOptions: { show: SUSPENDING },
	});
const creatingGrace = graceOption(10);
/** Task: Wait takes up tasks that were waited for before. */
const awaitingGrace = graceOption(1);

const timeoutOption = (seconds: number, hide: IDisplayOptions['hide']) =>
	ui.amount('Timeout (Seconds)', 'timeout', {
		// Deadlines stay before the year 9900: not every database of n8n can save later dates.
		typeOptions: { minValue: 0.001, maxValue: 7_870 * 365 * 86_400 },
		default: seconds,
		displayOptions: { hide },
		description: `How long to wait for each task. Without this option: ${seconds} seconds.`,
	});
// The name has two defaults, of which the editor shows one: the first if Wait Mode is an expression.
const pollTimeout = timeoutOption(600, SUSPENDING);
const sleepTimeout = timeoutOption(86_400, { waitMode: [{ _cnd: { not: 'callback' } }] });

const endingOptions = [...fileOptions, onTimeoutOption, pollTimeout, sleepTimeout];

/** A joined file needs all of its parts, and a sleeping execution continues with one item per input item. */
const HIDDEN_BY_LONG_TEXT: Readonly<Record<string, IDisplayOptions['hide']>> = {
	waitForCompletion: { longText: ['join'] },
	waitMode: { longText: ['parts'] },
};

export function creatingFields({ fields = [], options = [] }: Resource): INodeProperties[] {
	// A value of Long Text that speech has left hides nothing elsewhere.
	const hides = fields.some(({ name }) => name === 'longText') ? HIDDEN_BY_LONG_TEXT : {};
	const starting = [
		ui.notice(
			"The model decides how often it calls this tool. Add the option 'Stop After Credits' to limit what that costs.",
			'toolNotice',
			{ displayOptions: { show: ui.AS_TOOL } },
		),
		waitField,
		...ui.shownWhen(NOT_WAITING, [callbackUrlField]),
		...ui.hiddenWhen(NOT_WAITING, waitingFields),
	];
	return [
		...starting.flatMap((field) => ui.hiddenWhen(hides[field.name], [field])),
		ui.optionsField([
			...options,
			callbackReferenceOption,
			minimumCreditsOption,
			resendOption,
			stopAfterOption,
			includeInputOption,
			...ui.hiddenWhen(NOT_WAITING, [maxActiveOption, creatingGrace, ...endingOptions]),
		]),
	];
}

/** An operation that creates nothing always waits. */
export const awaitingFields: INodeProperties[] = [
	...waitingFields,
	ui.optionsField([includeInputOption, awaitingGrace, ...endingOptions]),
];

function readWaiting(fields: ItemFields, alwaysWaits: boolean): Waiting {
	if (!alwaysWaits && !fields.boolean(waitField))
		return { kind: 'no', callbackUrl: fields.text(callbackUrlField) };
	if (fields.choice(waitModeField) === 'poll') return { kind: 'poll' };
	const grace = fields.number(alwaysWaits ? awaitingGrace : creatingGrace);
	return { kind: 'suspend', graceMs: grace * 1000 };
}

/** @param callsBack whether the Callback URL counts even if the node waits */
export function readItemSettings(
	fields: ItemFields,
	alwaysWaits: boolean,
	callsBack = false,
): ItemSettings {
	const callbackUrl = callsBack ? fields.text(callbackUrlField) : undefined;
	const waiting = { ...(callbackUrl && { callbackUrl }), ...readWaiting(fields, alwaysWaits) };
	const longText: LongText = alwaysWaits ? { kind: 'off' } : readLongText(fields);
	const files = readFileSettings(fields);
	checkTogether(waiting, longText, files);
	return {
		waiting,
		longText,
		files,
		callbackReference: fields.text(callbackReferenceOption),
		timeoutMs: fields.number(waiting.kind === 'suspend' ? sleepTimeout : pollTimeout) * 1000,
		onTimeout: fields.choice(onTimeoutOption) === 'error' ? 'error' : 'returnTask',
		minimumCredits: fields.number(minimumCreditsOption) || undefined,
		sendUnclearAgain: fields.boolean(resendOption),
	};
}

/** @param orElse what else helps, behind a comma */
export function joinNeedsFiles(orElse = ''): FailureError {
	return invalid(
		"'Long Text: Join Into One File' needs the files of its parts",
		`Turn 'Download Output' on${orElse}. Nothing was sent.`,
	);
}

function checkTogether(waiting: Waiting, longText: LongText, files: FileSettings): void {
	const several = [
		longText.kind === 'parts' && 'Long Text: One Item per Part',
		files.splitFiles && 'Split Files',
	].find(Boolean);
	if (waiting.kind === 'suspend' && several)
		throw invalid(
			`'${several}' can't be combined with Suspend: a sleeping execution continues with exactly one item per input item`,
			"Set 'Wait Mode' to Poll, or change that field. Nothing was sent.",
		);
	if (waiting.kind === 'no' && longText.kind === 'join')
		throw invalid(
			"'Long Text: Join Into One File' needs to wait for its parts",
			"Turn 'Wait for Completion' on, or set 'Long Text' to One Item per Part or Off. Nothing was sent.",
		);
	if (longText.kind === 'join' && !files.download)
		throw joinNeedsFiles(", or set 'Long Text' to One Item per Part");
}
