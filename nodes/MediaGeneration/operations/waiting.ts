/** How an item waits and what it does with its files (fields: `waitingFields.ts`). */
import type { PollRouteOption } from '../service/account';
import { invalid, type FailureError } from '../service/failures';
import { asNumber, asText } from '../service/json';
import type { ItemFields } from './fields';
import { readLongText, type LongText } from './longText';
import { MAX_FILE_MB } from './operation';

export interface FileSettings {
	download: boolean;
	binaryPropertyName: string;
	maxFileBytes: number;
	/** Of the first file, without its ending; undefined: named after type and task. */
	fileName?: string | undefined;
	splitFiles: boolean;
	transcriptInOutput: boolean;
}

export type Waiting =
	| { kind: 'no'; callbackUrl: string | undefined }
	| { kind: 'poll' }
	/** Polls for a while, then puts the execution to sleep. `watched`: whether this n8n also looks while it sleeps. */
	| { kind: 'suspend'; graceMs: number; watched: boolean };

export interface ItemSettings {
	waiting: Waiting;
	files: FileSettings;
	callbackReference: string | undefined;
	timeoutMs: number;
	onTimeout: 'error' | 'returnTask';
	pollRoute: PollRouteOption;
	minimumCredits: number | undefined;
	/** Whether each part of a long text is sent with the sentences around it. */
	contextBetweenParts: boolean;
	/** Whether a creation whose answer never came is looked for in the service's list of tasks. */
	findUnclear: boolean;
	longText: LongText;
}

/** Those of the first item. */
export interface RunSettings {
	maxActiveTasks: number;
	/** Credits that the run's tasks may cost before nothing more is created. */
	maximumCredits: number | undefined;
}

interface WaitingRules {
	follows: boolean;
	/** Whether the execution may go to sleep before its tasks are over. */
	sleeps: boolean;
	timeoutS: number;
}

export const POLL_TIMEOUT_S = 600;
const DAY_S = 86_400;

export const waitingRules: Readonly<Record<Waiting['kind'], WaitingRules>> = {
	no: { follows: false, sleeps: false, timeoutS: POLL_TIMEOUT_S },
	poll: { follows: true, sleeps: false, timeoutS: POLL_TIMEOUT_S },
	suspend: { follows: true, sleeps: true, timeoutS: DAY_S },
};

export const GRACE_S = 10;
export const MAX_ACTIVE_TASKS = 20;
/** Until the year 9900: later dates can't be saved by every database of n8n. */
const MAX_TIMEOUT_S = 7_870 * 365 * DAY_S;

export function readMaxFileBytes(fields: ItemFields): number {
	return fields.positiveOption('maxFileSize', 'Max File Size (MB)', MAX_FILE_MB) * 1_000_000;
}

function readFileSettings(fields: ItemFields): FileSettings {
	return {
		download: fields.boolean('downloadOutput', true),
		binaryPropertyName:
			fields.optionalText('binaryPropertyName', 'Put Output Files in Field') ?? 'data',
		maxFileBytes: readMaxFileBytes(fields),
		fileName: asText(fields.option('fileName')),
		splitFiles: fields.option('splitFiles') === true,
		transcriptInOutput: fields.option('transcriptInOutput') === true,
	};
}

function readWaiting(fields: ItemFields, alwaysWaits: boolean): Waiting {
	if (!alwaysWaits && !fields.boolean('waitForCompletion', true))
		return { kind: 'no', callbackUrl: fields.optionalText('callbackUrl', 'Callback URL') };
	const mode = fields.choice(fields.raw('waitMode'), 'Wait Mode', ['poll', 'callback']);
	if (mode === 'poll') return { kind: 'poll' };
	const label = 'Polling Before Suspending (Seconds)';
	const graceMs = fields.optionFromZero('gracePeriod', label, GRACE_S) * 1000;
	return { kind: 'suspend', graceMs, watched: fields.option('watchWhileAsleep') !== false };
}

/** Everything that an item sets. Throws an `invalid` failure for bad input. */
export function readItemSettings(fields: ItemFields, alwaysWaits: boolean): ItemSettings {
	const waiting = readWaiting(fields, alwaysWaits);
	const longText: LongText = alwaysWaits ? { kind: 'off' } : readLongText(fields);
	const { timeoutS } = waitingRules[waiting.kind];
	const files = readFileSettings(fields);
	const reference = fields.option('callbackReference');
	checkSuspended(longText, waiting, files);
	checkJoined(longText, waiting, files);
	return {
		waiting,
		longText,
		files,
		// An expression often leads to another simple value.
		callbackReference: asText(typeof reference === 'boolean' ? String(reference) : reference),
		timeoutMs:
			fields.positiveOption('timeout', 'Timeout (Seconds)', timeoutS, MAX_TIMEOUT_S) * 1000,
		onTimeout: fields.choice(fields.option('onTimeout'), 'On Timeout', ['error', 'returnTask']),
		pollRoute: fields.choice(fields.option('pollRoute'), 'Poll Route', ['auto', 'v1', 'v1e']),
		contextBetweenParts: fields.option('contextBetweenParts') === true,
		findUnclear: fields.option('findUnclear') !== false,
		minimumCredits: fields.optionFromZero('minimumCredits', 'Min Credits', 0) || undefined,
	};
}

/** A sleeping execution goes on with exactly one item per input item. Throws an `invalid` failure for what makes several. */
function checkSuspended({ kind }: LongText, waiting: Waiting, { splitFiles }: FileSettings): void {
	if (waiting.kind !== 'suspend') return;
	if (kind === 'parts')
		throw invalid(
			'"Long Text: One Item per Part" can\'t be suspended: a sleeping execution goes on with exactly one item per input item',
			'Set "Long Text" to "Join Into One File", or "Wait Mode" to "Poll". Nothing was sent.',
		);
	if (splitFiles)
		throw invalid(
			'"Split Files" can\'t be suspended: a sleeping execution goes on with exactly one item per input item',
			'Remove the option "Split Files", or set "Wait Mode" to "Poll". Nothing was sent.',
		);
}

export function joinNeedsFiles(): FailureError {
	return invalid(
		'"Long Text: Join Into One File" needs the files of its parts',
		'Turn "Download Output" on, or set "Long Text" to "One Item per Part". Nothing was sent.',
	);
}

function checkJoined({ kind }: LongText, waiting: Waiting, { download }: FileSettings): void {
	if (kind !== 'join') return;
	if (waiting.kind === 'no')
		throw invalid(
			'"Long Text: Join Into One File" needs to wait for its parts',
			'Turn "Wait for Completion" on, or set "Long Text" to "One Item per Part" or "Off". Nothing was sent.',
		);
	if (!download) throw joinNeedsFiles();
}

/** What the run as a whole takes from its first item. Throws an `invalid` failure for bad input. */
export function readRunSettings(fields: ItemFields): RunSettings {
	const most = fields.positiveOption('maxActiveTasks', 'Max Active Tasks', MAX_ACTIVE_TASKS);
	const maximumCredits = asNumber(fields.option('maximumCredits'));
	// One that is set but leads to an empty value must not count as no limit.
	if (fields.hasOption('maximumCredits') && (maximumCredits === undefined || maximumCredits < 0))
		throw invalid(
			'The option "Max Credits" must be a number of at least 0',
			'Set "Max Credits" to a number, or remove the option to create tasks without this limit. Nothing was sent.',
		);
	return { maxActiveTasks: Math.max(1, Math.floor(most)), maximumCredits };
}
