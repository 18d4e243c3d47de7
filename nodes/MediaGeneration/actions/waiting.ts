/** Reads how an item waits and what it does with its files. The fields are in `waitingFields.ts`. */
import { invalid, type FailureError } from '../base/failures';
import { asBoolean, asText } from '../base/json';
import { fittingNumber, type ItemFields } from './fields';
import { readLongText, type LongText } from './longText';
import { MAX_FILE_MB } from './operation';

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

export type Waiting =
	| { kind: 'no'; callbackUrl: string | undefined }
	| { kind: 'poll' }
	/** Polls for a while, then puts the execution to sleep. */
	| { kind: 'suspend'; graceMs: number };

export const POLL_TIMEOUT_S = 600;
/** A day. */
export const SUSPEND_TIMEOUT_S = 86_400;
export const GRACE_S = 10;
/** Task: Wait takes up tasks that were waited for before. */
export const AWAITING_GRACE_S = 1;
export const MAX_ACTIVE_TASKS = 20;

export function readMaxFileBytes(fields: ItemFields): number {
	const most = fields.numberOption('maxFileSize', 'Max File Size (MB)', { fallback: MAX_FILE_MB });
	return most * 1_000_000;
}

function readFileSettings(fields: ItemFields): FileSettings {
	return {
		download: fields.boolean('downloadOutput', true),
		outputBinaryField:
			fields.optionalText('outputBinaryField', 'Put Output Files in Field') ?? 'data',
		maxFileBytes: readMaxFileBytes(fields),
		fileName: fields.textOption('fileName', 'File Name'),
		format: asText(fields.raw('outputFormat')),
		splitFiles: fields.options.splitFiles === true,
		transcriptInOutput: fields.options.transcriptInOutput === true,
	};
}

function readWaiting(fields: ItemFields, alwaysWaits: boolean): Waiting {
	if (!alwaysWaits && !fields.boolean('waitForCompletion', true))
		return { kind: 'no', callbackUrl: fields.optionalText('callbackUrl', 'Callback URL') };
	const mode = fields.choice(fields.raw('waitMode'), 'Wait Mode', ['poll', 'callback']);
	if (mode === 'poll') return { kind: 'poll' };
	const label = 'Polling Before Suspending (Seconds)';
	const fallback = alwaysWaits ? AWAITING_GRACE_S : GRACE_S;
	const grace = fields.numberOption('gracePeriod', label, { fallback, zero: true });
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

export function readItemSettings(fields: ItemFields, alwaysWaits: boolean): ItemSettings {
	const waiting = readWaiting(fields, alwaysWaits);
	const longText: LongText = alwaysWaits ? { kind: 'off' } : readLongText(fields);
	const timeout = {
		fallback: waiting.kind === 'suspend' ? SUSPEND_TIMEOUT_S : POLL_TIMEOUT_S,
		// Deadlines stay before the year 9900: not every database of n8n can save later dates.
		most: 7_870 * 365 * 86_400,
	};
	const files = readFileSettings(fields);
	checkTogether(waiting, longText, files);
	const minimum = fields.numberOption('minimumCredits', 'Minimum Credits', {
		fallback: 0,
		zero: true,
	});
	return {
		waiting,
		longText,
		files,
		callbackReference: fields.textOption('callbackReference', 'Callback Reference'),
		timeoutMs: fields.numberOption('timeout', 'Timeout (Seconds)', timeout) * 1000,
		onTimeout: fields.choice(fields.options.onTimeout, 'On Timeout', ['error', 'returnTask']),
		minimumCredits: minimum || undefined,
		sendUnclearAgain: asBoolean(fields.options.sendUnclearAgain) === true,
	};
}

function notSuspended(what: string, advice: string): FailureError {
	return invalid(
		`"${what}" can't be combined with Suspend: a sleeping execution goes on with exactly one item per input item`,
		`${advice} "Wait Mode" to "Poll". Nothing was sent.`,
	);
}

export function joinNeedsFiles(): FailureError {
	return invalid(
		'"Long Text: Join Into One File" needs the files of its parts',
		'Turn "Download Output" on, or set "Long Text" to "One Item per Part". Nothing was sent.',
	);
}

function checkTogether(waiting: Waiting, longText: LongText, files: FileSettings): void {
	if (waiting.kind === 'suspend' && longText.kind === 'parts')
		throw notSuspended(
			'Long Text: One Item per Part',
			'Set "Long Text" to "Join Into One File", or',
		);
	if (waiting.kind === 'suspend' && files.splitFiles)
		throw notSuspended('Split Files', 'Remove the option "Split Files", or set');
	if (waiting.kind === 'no' && longText.kind === 'join')
		throw invalid(
			'"Long Text: Join Into One File" needs to wait for its parts',
			'Turn "Wait for Completion" on, or set "Long Text" to "One Item per Part" or "Off". Nothing was sent.',
		);
	if (longText.kind === 'join' && !files.download) throw joinNeedsFiles();
}

/** The settings of the first item count. */
export interface RunSettings {
	maxActiveTasks: number;
	/** Undefined means no limit. */
	maximumCredits: number | undefined;
}

export function readRunSettings(fields: ItemFields): RunSettings {
	const fallback = MAX_ACTIVE_TASKS;
	const most = fields.numberOption('maxActiveTasks', 'Max Active Tasks', { fallback });
	// An option that is set but leads to an empty value must not count as no limit.
	const maximumCredits = Object.hasOwn(fields.options, 'maximumCredits')
		? fittingNumber(fields.options.maximumCredits, (credits) => credits >= 0, [
				'The option "Stop After Credits" must be a number of at least 0',
				'Set "Stop After Credits" to a number, or remove the option to create tasks without this limit. Nothing was sent.',
			])
		: undefined;
	return { maxActiveTasks: Math.max(1, Math.floor(most)), maximumCredits };
}
