/** The parts of a long text: what an item says of them, and what "Task: Wait" reads of that when it continues. */
import type { IDataObject } from 'n8n-workflow';
import type { Failure, LeftText } from '../base/outcomes';
import { quote } from '../base/words';
import { asNumber, isObject, textsIn, type JsonObject } from '../base/json';
import type { Task } from '../answers/task';
import { fieldsOf, present } from './itemJson';

/** How the tasks of an item make its output. Plain data, because a sleeping execution keeps it. */
export interface Assembly {
	/** `pauseMs` of silence separate the parts of one file. */
	longText: { kind: 'off' } | { kind: 'join'; pauseMs: number } | { kind: 'parts' };
	/** The text of each part, or what is known of one that an earlier run sent. */
	texts: ReadonlyArray<string | { characters?: number }>;
}

export function charactersOf(text: Assembly['texts'][number] | undefined): number | undefined {
	return typeof text === 'string' ? text.length : text?.characters;
}

export const pauseMsOf = ({ longText }: Assembly): number =>
	longText.kind === 'join' ? longText.pauseMs : 0;

function leftText(assembly: Assembly): LeftText | undefined {
	const { kind } = assembly.longText;
	return kind === 'off' ? undefined : { mode: kind, pause_between_parts: pauseMsOf(assembly) };
}

/** Makes the JSON of an item that timed out: enough for "Task: Wait" to continue. @param task as last seen */
export function unfinishedJson(
	assembly: Assembly,
	taskIds: readonly string[],
	task: Task | undefined,
): IDataObject {
	const longText = leftText(assembly);
	const common = { task_id: taskIds[0], unfinished: true };
	if (longText === undefined) return { ...fieldsOf(task?.raw ?? {}), ...common };
	return {
		...common,
		task_ids: [...taskIds],
		parts: taskIds.map((task_id, number) => partJson(assembly, number, task_id)),
		long_text: longText,
	};
}

export function partJson({ texts }: Assembly, number: number, task_id: string): IDataObject {
	return present({ part: number + 1, task_id, characters: charactersOf(texts[number]) });
}

/** n8n repeats no run whose failures became items, nor one that slept. */
const OTHER_PARTS =
	"The other parts are kept: Retry On Fail and n8n's Retry pay only for what failed. To fetch the others without it, use Task: Wait with their IDs from 'task_ids'.";

/** Adds which part failed, and what else is paid for. @param number of the part, from 0; undefined if no single one failed */
export function failureOfText(
	failure: Failure,
	{ number, assembly, taskIds }: { number?: number; assembly: Assembly; taskIds: string[] },
): Failure {
	const { longText, texts } = assembly;
	if (longText.kind === 'off') return failure;
	const canContinue = failure.outcome !== 'failed' && taskIds.length === texts.length;
	const left = canContinue ? leftText(assembly) : undefined;
	if (number === undefined || texts.length < 2)
		return { ...failure, parts: { taskIds, part: undefined, longText: left } };
	const text = texts[number];
	const quoted = typeof text === 'string' ? ` ("${quote(text, 60) ?? ''}")` : '';
	return {
		...failure,
		message: `Part ${number + 1} of ${texts.length}${quoted}: ${failure.message}`,
		description: `${failure.description} ${OTHER_PARTS}`,
		parts: { taskIds, part: { number: number + 1, of: texts.length }, longText: left },
	};
}

/** The parts of a long text that an earlier node made. */
export interface LeftParts {
	taskIds: string[];
	assembly: Assembly;
	/** Whether every part has a task. */
	isComplete: boolean;
}

/** Reads an item's parts of a long text that timed out or failed, or whose files were dropped on the way. */
export function leftIn(json: JsonObject): LeftParts | undefined {
	const taskIds = textsIn(json.task_ids);
	if (taskIds.length === 0) return undefined;
	const { parts, long_text: noted } = json;
	const list = Array.isArray(parts) ? parts.map((part) => (isObject(part) ? part : {})) : [];
	const count = list.length > 0 ? list.length : asNumber(parts);
	if (count === undefined && !isObject(noted)) return undefined;
	const { mode, pause_between_parts } = isObject(noted) ? noted : {};
	const texts = taskIds.map((_, number) => ({ characters: asNumber(list[number]?.characters) }));
	const pauseMs = asNumber(pause_between_parts) ?? 0;
	return {
		taskIds,
		assembly: { texts, longText: mode === 'parts' ? { kind: 'parts' } : { kind: 'join', pauseMs } },
		isComplete: count === undefined || count === taskIds.length,
	};
}
