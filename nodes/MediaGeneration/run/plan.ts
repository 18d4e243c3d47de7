/** Reads and checks every item before anything is sent. */
import type { Assembly } from '../files/assembly';
import { failureIn, type FailedJson } from '../files/failure';
import type { InputFile, ItemFields } from '../actions/fields';
import type { CreationRequest, Operation } from '../actions/operation';
import { textsOf } from '../actions/longText';
import { checkedTaskId } from '../actions/taskIds';
import {
	joinNeedsFiles,
	readItemSettings,
	readRunSettings,
	type ItemSettings,
	type FileSettings,
	type RunSettings,
} from '../actions/waiting';
import type { Work } from '../base/clock';
import { asFailure, attempt, invalid, type Failure, type Outcome } from '../base/failures';
import { asNumber, asText, isObject, type JsonObject } from '../base/json';
import { parseTask } from '../transport/task';
import { FAILED_EARLIER } from '../transport/taskFailures';
import { failedEnd, type ItemEnd } from './item';

export interface Draft {
	kind: 'draft';
	index: number;
	settings: ItemSettings;
	run: RunSettings;
	work:
		| { kind: 'creates'; request: CreationRequest; texts: string[]; files: InputFile[] }
		| { kind: 'awaits'; taskIds: string[]; assembly: Assembly };
}

export type Planned = ReadonlyArray<Draft | ItemEnd>;

interface EarlierTasks {
	taskIds: string[];
	assembly: Assembly;
	isWhole: boolean;
}

function textsIn(value: unknown): string[] {
	return Array.isArray(value) ? value.flatMap((entry) => asText(entry) ?? []) : [];
}

/** Reads what an item carries of a long text that ran out of time, that failed, or whose files were dropped on the way. */
function leftIn(json: JsonObject): EarlierTasks | undefined {
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
		isWhole: count === undefined || count === taskIds.length,
	};
}

/** Reads, for `task: wait`, what an item says that failed in a node before this one. If it is `final`, waiting for its tasks changes nothing. */
function failureFromInput(json: FailedJson, left: EarlierTasks | undefined, inDetails: boolean) {
	const { outcome } = json;
	const taskId = asText(json.task_id);
	const taskIds = textsIn(json.task_ids);
	const [number, of] = [asNumber(json.part), asNumber(json.parts)];
	const which = number === undefined || of === undefined ? undefined : { number, of };
	const failure: Failure = {
		outcome,
		message: asText(json.error) ?? `The item failed in a node before this one (${outcome})`,
		description: adviceFor(outcome, left, taskIds.length > 0 && { inDetails }),
		taskId,
		status: asText(json.status),
		candidates: Array.isArray(json.candidates)
			? (json.candidates as Failure['candidates'])
			: undefined,
		httpStatus: typeof json.http_status === 'number' ? json.http_status : undefined,
		whole: taskIds.length === 0 ? undefined : { taskIds, part: which, longText: undefined },
	};
	// A task can have an `outcome` of its own. Where it is done, none of ours is final.
	const final = left?.isWhole === false || (outcome === 'failed' && json.status !== 'done');
	return { failure, final };
}

function adviceFor(
	outcome: Outcome,
	left: EarlierTasks | undefined,
	several: false | { inDetails: boolean },
): string {
	if (outcome === 'failed') return FAILED_EARLIER;
	if (left !== undefined)
		return 'Not every part of this text has a task, so waiting can not complete it. Run the node that made it again: the parts that are there are paid for once.';
	return several
		? `Set "Task ID" to {{ $json.${several.inDetails ? 'details.' : ''}task_ids }} to wait for each of the tasks.`
		: 'No task of this item is known, so there is nothing to wait for. See the node that made it.';
}

/** Tells whether an item of a node that slept already has everything that `task: wait` could fetch. */
function isComplete({ input: { json }, files }: ItemFields, { download }: FileSettings): boolean {
	if (json.outcome !== undefined || json.unfinished === true) return false;
	if (parseTask(json)?.state !== 'done') return false;
	const outputs: unknown[] = Array.isArray(json.outputs) ? json.outputs : [];
	const isPresent = (output: unknown) =>
		isObject(output) && files[asText(output.binaryProperty) ?? ''] !== undefined;
	return outputs.length > 0 && (!download || outputs.every(isPresent));
}

/** Tells whether these are the IDs of the item's own task, or of its parts. */
function areOwnTasks(taskIds: readonly string[], json: JsonObject): boolean {
	const are = (others: unknown[]) =>
		taskIds.length === others.length && taskIds.every((taskId, index) => taskId === others[index]);
	return are([asText(json.task_id)]) || are(textsIn(json.task_ids));
}

function planAwaited(fields: ItemFields): Array<Draft | ItemEnd> {
	const { input, itemIndex: index } = fields;
	const failed = failureIn(input.json);
	const json = failed ?? input.json;
	const left = leftIn(json);
	const inDetails = json !== input.json;
	const from = failed && failureFromInput(failed, left, inDetails);
	const settings = readItemSettings(fields, true);
	const raw = fields.raw('taskId') ?? '';
	// An item that itself says why it has no task needs no Task ID.
	const isEmpty = from !== undefined && typeof raw === 'string' && raw.trim() === '';
	const given = isEmpty ? [] : fields.taskIds(asText(input.json.task_id));
	// Beside `details`, the default Task ID leads to the task of the item that the failed node had as its input.
	const isMerged = inDetails && (isEmpty || areOwnTasks(given, input.json));
	const taskIds = isMerged ? textsIn([json.task_id]).map(checkedTaskId) : given;
	if (from !== undefined && taskIds.length === 0) return [failedEnd(index, from.failure)];
	const own = areOwnTasks(taskIds, json);
	if (own && from?.final === true) return [failedEnd(index, from.failure)];
	if (own && from === undefined && isComplete(fields, settings.files)) {
		const item = { ...input, pairedItem: { item: index } };
		return [{ kind: 'items', index, taskIds: [], items: [item] }];
	}
	const common = { kind: 'draft', index, settings, run: readRunSettings(fields) } as const;
	const whole = own ? left : undefined;
	const joins = whole?.assembly.longText.kind === 'join';
	if (joins && !settings.files.download) throw joinNeedsFiles(fields);
	const count = (whole?.taskIds ?? taskIds).length;
	if (!joins && count > 1 && settings.waiting.kind === 'suspend')
		throw invalid(
			"A suspended execution can't wait for several tasks of one item: it goes on with exactly one item per input item",
			'Set "Wait Mode" to "Poll", or give each task an item of its own, e.g. with a Split Out node. Nothing was sent.',
		);
	const assembly: Assembly = { longText: { kind: 'off' }, texts: [] };
	const tasks =
		whole === undefined ? taskIds.map((taskId) => ({ taskIds: [taskId], assembly })) : [whole];
	return tasks.map((each) => ({ ...common, work: { kind: 'awaits', ...each } }));
}

function* planItem({ work }: Operation, fields: ItemFields): Work<Array<Draft | ItemEnd>> {
	const index = fields.itemIndex;
	try {
		if (work.kind !== 'creates') return planAwaited(fields);
		const settings = readItemSettings(fields, false);
		const request = work.request(fields);
		const texts = yield* textsOf(request, settings.longText);
		const run = readRunSettings(fields);
		const files = work.files?.(fields) ?? [];
		const creates = { kind: 'creates', request, texts, files } as const;
		return [{ kind: 'draft', index, settings, run, work: creates }];
	} catch (error) {
		return [failedEnd(index, asFailure(error))];
	}
}

export function* planItems(
	operation: Operation,
	items: readonly ItemFields[],
): Work<Array<Draft | ItemEnd>> {
	const planned: Array<Draft | ItemEnd> = [];
	for (const fields of items) {
		for (const each of yield* planItem(operation, fields)) planned.push(each);
		yield;
	}
	return planned;
}

/** The first item's settings count, also where another field of it is wrong; where they can't be read, the strictest of the others. */
export function runSettings([item]: readonly ItemFields[], planned: Planned): RunSettings {
	const first = attempt(() => readRunSettings(item as ItemFields));
	if (first.ok) return first.value;
	const limitOf = ({ maximumCredits = Infinity }: RunSettings) => maximumCredits;
	return planned
		.flatMap((each) => (each.kind === 'draft' ? [each.run] : []))
		.reduce((one, other) => (limitOf(other) < limitOf(one) ? other : one));
}
