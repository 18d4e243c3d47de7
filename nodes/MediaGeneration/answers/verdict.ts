/** Decides how a task ends. Polling, the last poll before sleeping, waking and the trigger pass the end on as it is. */
import * as failures from './failures';
import type { Failure } from '../base/outcomes';
import { asText, isObject } from '../base/json';
import type { CreationRequest } from './request';
import { makesText, outputsOf, type TaskOutput } from './outputs';
import { carriedTexts } from './ownTexts';
import type { Task } from './task';

export interface Done {
	kind: 'done';
	taskId: string;
	task: Task;
	/** Empty if the result is something else, such as a text. */
	outputs: TaskOutput[];
}

/** The service has ended the task, or it is no longer waited for. */
export interface Failed {
	kind: 'failed';
	failure: Failure;
	/** The task as last seen; undefined if it never was. */
	task: Task | undefined;
}

/** A failure that no poll has shown. */
export function asFailed(failure: Failure): Failed {
	return { kind: 'failed', failure, task: undefined };
}

export type Ended = Done | Failed;

export type Verdict =
	/** `done` without a file counts as running: it can come for a moment before the service names one (docs/service.md, "Status"). */
	{ kind: 'running'; task: Task } | Done | (Failed & { task: Task });

/** What is known of the request that made a task. */
export interface Made extends Pick<CreationRequest, 'makesFile'> {
	/** Addresses that it carries, which are no results. */
	requestAddresses?: readonly string[];
}

const FILE_RESULT = /tts|speech|voice|sound|audio|music|song|image|video|dubbing/i;

const isFileMade = ({ type = '' }: Task, { makesFile = false }: Made) =>
	makesFile || (FILE_RESULT.test(type) && !makesText(type));

/** Returns whether the result is in the task itself. A text at its root is what was asked for. */
function hasText({ raw: { metadata, result, output } }: Task): boolean {
	const { text, transcript, transcription } = isObject(metadata) ? metadata : {};
	return [text, transcript, transcription, metadata, result, output].some(
		(value) => typeof value === 'string' && asText(value.trim()) !== undefined,
	);
}

export function verdictOf(taskId: string, task: Task, made: Made = {}): Verdict {
	if (task.state === 'failed')
		return { kind: 'failed', failure: failures.taskFailed(taskId, task), task };
	if (task.state === 'running') return { kind: 'running', task };
	const outputs = outputsOf(task, made.requestAddresses);
	// Captions can be there before their sound.
	const hasFile = outputs.some(({ kind }) => kind !== 'transcript' || made.makesFile !== true);
	const isDone = hasFile || (!isFileMade(task, made) && hasText(task));
	return isDone ? { kind: 'done', taskId, task, outputs } : { kind: 'running', task };
}

/** Decides about a task that is done, and names no file for good. */
export function withoutFiles(
	taskId: string,
	task: Task,
	made: Made = {},
): Done | (Failed & { task: Task }) {
	return isFileMade(task, made)
		? { kind: 'failed', failure: failures.withoutOutputs(taskId, task), task }
		: { kind: 'done', taskId, task, outputs: [] };
}

/** Lists the addresses that a request carries, for {@link verdictOf}. */
export const addressesIn = (request: unknown): string[] =>
	carriedTexts(request).filter((text) => /^https?:/i.test(text));
