/**
 * Decides what "Task: Wait" waits for. If an item failed in an earlier node of this package, that failure decides: its own outcome and
 * tasks count, never the fields that n8n added from the failed node's input.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import type { ItemFields } from '../actions/fields';
import type { FileSettings } from '../actions/fileSettings';
import { checkedTaskId, readTaskIds, taskIdField } from '../actions/taskIds';
import { joinNeedsFiles, readItemSettings } from '../actions/waiting';
import { invalid, type Failure } from '../base/outcomes';
import { asText, isObject, textsIn, type JsonObject } from '../base/json';
import { itemsOf } from '../files/fileItems';
import { failureIn, recordIn, shownOutputs } from '../items/shownItem';
import { leftIn, type Assembly, type LeftParts } from '../items/parts';
import { parseTask } from '../answers/task';
import { FAILED_ADVICE } from '../answers/failures';
import { failedResult, type ItemResult, type Plan } from './item';

/** What an input item says of the tasks that it has. */
interface InputTasks {
	own: JsonObject;
	/** Whether fields of the failed node's input are beside its own. */
	inDetails: boolean;
	left: LeftParts | undefined;
	failure: Failure | undefined;
}

function inputTasksOf({ json }: INodeExecutionData): InputTasks {
	const own = recordIn(json);
	return { own, inDetails: own !== json, left: leftIn(own), failure: failureIn(json) };
}

/** Returns whether waiting for its tasks would change nothing. */
function isFinal({ outcome, status }: Failure, left: LeftParts | undefined): boolean {
	// A task can have an `outcome` of its own. If it is done, none of ours is final.
	return left?.isComplete === false || (outcome === 'failed' && status !== 'done');
}

function adviceFor(
	{ outcome, parts, description }: Failure,
	{ left, inDetails }: InputTasks,
): string {
	const each = `Set 'Task ID' to {{ $json.${inDetails ? 'details.' : ''}task_ids }} to wait for each of the tasks.`;
	if (outcome === 'failed')
		return parts?.part === undefined
			? FAILED_ADVICE
			: `${FAILED_ADVICE} ${each} With 'On Error': Continue, it outputs the others.`;
	if (left !== undefined)
		return `Not every part of this text has a task, so waiting can't complete it. ${each}`;
	return parts === undefined ? description : each;
}

/** Returns whether an item of a node that slept already has everything that `task: wait` could fetch. */
function isComplete({ input: { json }, files }: ItemFields, { download }: FileSettings): boolean {
	if (json.outcome !== undefined || json.unfinished === true) return false;
	if (parseTask(json)?.state !== 'done') return false;
	const outputs: unknown[] = Array.isArray(json.outputs) ? json.outputs : [];
	const isPresent = (output: unknown) =>
		isObject(output) && files[asText(output.binaryProperty) ?? ''] !== undefined;
	return outputs.length > 0 && (!download || outputs.every(isPresent));
}

/** Passes a complete item on as it is or, with Split Files, as an item for each of its files. */
function passedOn({ input, files, itemIndex: index }: ItemFields, settings: FileSettings) {
	const made = shownOutputs(input).map((output) => {
		return { output, binary: files[asText(output.binaryProperty) ?? ''] };
	});
	if (!settings.splitFiles || made.length < 2) return [{ ...input, pairedItem: { item: index } }];
	// The binary mode "combined" keeps the files of all items there.
	const { _files: _all, ...json } = input.json;
	return itemsOf(made, settings, { json, index }).items;
}

/** Returns whether these are the IDs of the item's own task, or of its parts. */
function areOwnTasks(taskIds: readonly string[], json: JsonObject): boolean {
	const are = (others: unknown[]) =>
		taskIds.length === others.length && taskIds.every((taskId, index) => taskId === others[index]);
	return are([asText(json.task_id)]) || are(textsIn(json.task_ids));
}

/** Returns the tasks to wait for. An item that says why it has no task needs no ID. */
function wantedTasks(fields: ItemFields, { own, inDetails, failure }: InputTasks): string[] {
	const { json } = fields.input;
	const raw = fields.raw('taskId') ?? '';
	const isEmpty = failure !== undefined && typeof raw === 'string' && raw.trim() === '';
	const given = isEmpty ? [] : readTaskIds(fields, asText(json.task_id));
	// Beside `details`, the default Task ID is that of the failed node's input.
	const isOfInput = inDetails && (isEmpty || areOwnTasks(given, json));
	return isOfInput ? textsIn([own.task_id]).map(checkedTaskId) : given;
}

/** Several tasks of one item become items of their own, unless they are the parts of its text. */
export function planAwaited(fields: ItemFields): Array<Plan | ItemResult> {
	const { itemIndex: index } = fields;
	const input = inputTasksOf(fields.input);
	const { own, left, failure } = input;
	const settings = readItemSettings(fields, true);
	const taskIds = wantedTasks(fields, input);
	const areOwn = areOwnTasks(taskIds, own);
	const isLost = failure !== undefined && areOwn && isFinal(failure, left);
	// Of a text that can't be completed, a list asks for what there is.
	const isAsked = taskIds.length > 0 && (!isLost || Array.isArray(fields.raw(taskIdField.name)));
	if (failure !== undefined && !isAsked)
		return [failedResult(index, { ...failure, description: adviceFor(failure, input) })];
	if (failure === undefined && areOwn && isComplete(fields, settings.files))
		return [{ kind: 'items', index, taskIds: [], items: passedOn(fields, settings.files) }];
	const parts = areOwn && !isLost ? left : undefined;
	const joins = parts?.assembly.longText.kind === 'join';
	if (joins && !settings.files.download) throw joinNeedsFiles();
	const count = (parts?.taskIds ?? taskIds).length;
	if (!joins && count > 1 && settings.waiting.kind === 'suspend')
		throw invalid(
			"A suspended execution can't wait for several tasks of one item: it continues with exactly one item per input item",
			"Set 'Wait Mode' to Poll, or give each task an item of its own, e.g. with a Split Out node. Nothing was sent.",
		);
	// A node of this package made those that ran out of time, so their IDs are not mistyped.
	const seen = areOwn && (own.unfinished === true || failure?.outcome === 'timed_out');
	const plan = (ids: readonly string[], assembly: Assembly): Plan => {
		const wanted = ids.map((taskId) => ({ kind: 'awaits', taskId, seen }) as const);
		return { kind: 'plan', index, settings, files: [], wanted, assembly };
	};
	if (parts !== undefined) return [plan(parts.taskIds, parts.assembly)];
	return taskIds.map((taskId) => plan([taskId], { longText: { kind: 'off' }, texts: [] }));
}
