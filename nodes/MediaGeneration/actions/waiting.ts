/** Reads how an item waits, and what it does with its files. The fields are in `waitingFields.ts`. */
import { invalid, type FailureError } from '../base/outcomes';
import { trimmedText } from '../base/json';
import type { ItemFields } from './fields';
import { readLongText, type LongText } from './longText';
import { MAX_FILE_MB } from './ui';

export interface FileSettings {
	download: boolean;
	outputBinaryField: string;
	maxFileBytes: number;
	/** Without its ending. */
	fileName?: string | undefined;
	/** Output format that the request asks for. */
	format?: string | undefined;
	splitFiles: boolean;
	transcriptInOutput: boolean;
}

export type Waiting = { callbackUrl?: string | undefined } & (
	| { kind: 'no' | 'poll' }
	/** Polls for a while, then puts the execution to sleep. */
	| { kind: 'suspend'; graceMs: number }
);

export const POLL_TIMEOUT_S = 600;
/** A day. */
export const SUSPEND_TIMEOUT_S = 86_400;
export const GRACE_S = 10;
/** Task: Wait takes up tasks that were waited for before. */
export const AWAITING_GRACE_S = 1;
export const MAX_ACTIVE_TASKS = 20;

export function readMaxFileBytes(fields: ItemFields): number {
	const range = { fallback: MAX_FILE_MB, least: 0.001 };
	return fields.number('maxFileSize', 'Max File Size (MB)', range) * 1_000_000;
}

function readFileSettings(fields: ItemFields): FileSettings {
	return {
		download: fields.boolean('downloadOutput', 'Download Output', true),
		outputBinaryField:
			fields.optionalText('outputBinaryField', 'Put Output Files in Field') ?? 'data',
		maxFileBytes: readMaxFileBytes(fields),
		fileName: fields.optionalText('fileName', 'File Name'),
		format: trimmedText(fields.raw('outputFormat')),
		splitFiles: fields.boolean('splitFiles', 'Split Files'),
		transcriptInOutput: fields.boolean('transcriptInOutput', 'Transcript in Output'),
	};
}

const readCallbackUrl = (fields: ItemFields) => fields.optionalText('callbackUrl', 'Callback URL');

function readWaiting(fields: ItemFields, alwaysWaits: boolean): Waiting {
	if (!alwaysWaits && !fields.boolean('waitForCompletion', 'Wait for Completion', true))
		return { kind: 'no', callbackUrl: readCallbackUrl(fields) };
	const mode = fields.choice('waitMode', 'Wait Mode', ['poll', 'callback']);
	if (mode === 'poll') return { kind: 'poll' };
	const label = 'Polling Before Suspending (Seconds)';
	const fallback = alwaysWaits ? AWAITING_GRACE_S : GRACE_S;
	const grace = fields.number('gracePeriod', label, { fallback, least: 0 });
	return { kind: 'suspend', graceMs: grace * 1000 };
}

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

/** @param callsBack whether the Callback URL counts even if the node waits */
export function readItemSettings(
	fields: ItemFields,
	alwaysWaits: boolean,
	callsBack = false,
): ItemSettings {
	const callbackUrl = callsBack ? readCallbackUrl(fields) : undefined;
	const waiting = { ...(callbackUrl && { callbackUrl }), ...readWaiting(fields, alwaysWaits) };
	const longText: LongText = alwaysWaits ? { kind: 'off' } : readLongText(fields);
	const timeout = {
		fallback: waiting.kind === 'suspend' ? SUSPEND_TIMEOUT_S : POLL_TIMEOUT_S,
		least: 0.001,
		// Deadlines stay before the year 9900: not every database of n8n can save later dates.
		most: 7_870 * 365 * 86_400,
	};
	const files = readFileSettings(fields);
	checkTogether(waiting, longText, files);
	const balance = { fallback: 0, least: 0 };
	return {
		waiting,
		longText,
		files,
		callbackReference: fields.optionalText('callbackReference', 'Callback Reference'),
		timeoutMs: fields.number('timeout', 'Timeout (Seconds)', timeout) * 1000,
		onTimeout: fields.choice('onTimeout', 'On Timeout', ['error', 'returnTask']),
		minimumCredits: fields.number('minimumCredits', 'Minimum Credits', balance) || undefined,
		sendUnclearAgain: fields.boolean('sendUnclearAgain', 'Resend If Answer Was Lost'),
	};
}

/** @param orElse what else helps, behind a comma */
export function joinNeedsFiles(orElse = ''): FailureError {
	return invalid(
		'"Long Text: Join Into One File" needs the files of its parts',
		`Turn "Download Output" on${orElse}. Nothing was sent.`,
	);
}

function checkTogether(waiting: Waiting, longText: LongText, files: FileSettings): void {
	const several = [
		longText.kind === 'parts' && 'Long Text: One Item per Part',
		files.splitFiles && 'Split Files',
	].find(Boolean);
	if (waiting.kind === 'suspend' && several)
		throw invalid(
			`"${several}" can't be combined with Suspend: a sleeping execution continues with exactly one item per input item`,
			'Set "Wait Mode" to "Poll", or change that field. Nothing was sent.',
		);
	if (waiting.kind === 'no' && longText.kind === 'join')
		throw invalid(
			'"Long Text: Join Into One File" needs to wait for its parts',
			'Turn "Wait for Completion" on, or set "Long Text" to "One Item per Part" or "Off". Nothing was sent.',
		);
	if (longText.kind === 'join' && !files.download)
		throw joinNeedsFiles(', or set "Long Text" to "One Item per Part"');
}

/** The settings of the first item count. */
export interface RunSettings {
	maxActiveTasks: number;
	/** Undefined means no limit. */
	maximumCredits: number | undefined;
}

export function readRunSettings(fields: ItemFields): RunSettings {
	const range = { fallback: MAX_ACTIVE_TASKS, least: 1 };
	const most = fields.number('maxActiveTasks', 'Max Active Tasks', range);
	// An option that is set but gives an empty value must not count as no limit.
	const maximumCredits = Object.hasOwn(fields.options, 'maximumCredits')
		? fields.number('maximumCredits', 'Stop After Credits', { least: 0 })
		: undefined;
	return { maxActiveTasks: Math.floor(most), maximumCredits };
}
