/**
 * Decides what "Task: Wait" makes of an input item. The first row that fits counts:
 *
 * | The item                                                     | becomes                               |
 * |--------------------------------------------------------------|---------------------------------------|
 * | failed, and has no task, or none for which waiting is of use | a failure again, with what to do next |
 * | is finished, with all files that could be fetched            | itself                                |
 * | has the tasks of a long text                                 | one plan for all of them              |
 * | names tasks                                                  | a plan for each of them               |
 *
 * If a node of this package made the failure, its own tasks count, never the fields that n8n added from the failed node's input.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import type { ItemFields } from '../actions/fields';
import type { FileSettings } from '../actions/fileSettings';
import { checkedTaskId, readTaskIds, taskIdField } from '../actions/taskIds';
import { joinNeedsFiles, readItemSettings, type ItemSettings } from '../actions/waiting';
import { invalid, type Failure } from '../base/outcomes';
import { asText, isObject, textsIn, type JsonObject } from '../base/json';
import { itemsOf } from '../files/fileItems';
import { failureIn, recordIn, shownOutputs } from '../items/shownItem';
import { leftIn, type Assembly } from '../items/parts';
import { parseTask } from '../answers/task';
import { FAILED_ADVICE } from '../answers/failures';
import { failedResult, type ItemResult, type Plan } from './item';

/** Reads what an input item says of its tasks. `inDetails`: fields of the failed node's input are beside its own. */
function inputTasksOf({ json }: INodeExecutionData) {
	const own = recordIn(json);
	return { own, inDetails: own !== json, left: leftIn(own), failure: failureIn(json) };
}
type InputTasks = ReturnType<typeof inputTasksOf>;

/** Returns whether waiting for its own tasks would change nothing. */
function isFinal({ failure, left }: InputTasks): boolean {
	if (failure === undefined) return false;
	// A task can have an `outcome` of its own. If it is done, none of ours is final.
	return left?.isComplete === false || (failure.outcome === 'failed' && failure.status !== 'done');
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

export function planAwaited(fields: ItemFields): Array<Plan | ItemResult> {
	const { itemIndex: index } = fields;
	const input = inputTasksOf(fields.input);
	const { own, left, failure } = input;
	const settings = readItemSettings(fields, true);
	const taskIds = wantedTasks(fields, input);
	const areOwn = areOwnTasks(taskIds, own);
	const isVain = areOwn && isFinal(input);
	// Of a text that can't be completed, a list asks for what there is.
	const isList = Array.isArray(fields.raw(taskIdField.name));
	if (failure !== undefined && (taskIds.length === 0 || (isVain && !isList)))
		return [failedResult(index, { ...failure, description: adviceFor(failure, input) })];
	if (failure === undefined && areOwn && isComplete(fields, settings.files))
		return [{ kind: 'items', index, taskIds: [], items: passedOn(fields, settings.files) }];
	// A node of this package made those that ran out of time, so their IDs are not mistyped.
	const seen = areOwn && (own.unfinished === true || failure?.outcome === 'timed_out');
	const planFor = (ids: readonly string[], assembly: Assembly): Plan => {
		const wanted = ids.map((taskId) => ({ kind: 'awaits', taskId, seen }) as const);
		return { kind: 'plan', index, settings, files: [], wanted, assembly };
	};
	const plans =
		areOwn && !isVain && left !== undefined
			? [planFor(left.taskIds, left.assembly)]
			: taskIds.map((taskId) => planFor([taskId], { longText: { kind: 'off' }, texts: [] }));
	checkPlans(plans, settings);
	return plans;
}

/** Throws an `invalid` failure for what the plans of an item can't do. */
function checkPlans(plans: readonly Plan[], { files, waiting }: ItemSettings): void {
	const joins = plans.some(({ assembly }) => assembly.longText.kind === 'join');
	if (joins && !files.download) throw joinNeedsFiles();
	const count = plans.flatMap(({ wanted }) => wanted).length;
	if (!joins && count > 1 && waiting.kind === 'suspend')
		throw invalid(
			"A suspended execution can't wait for several tasks of one item: it continues with exactly one item per input item",
			"Set 'Wait Mode' to Poll, or give each task an item of its own, e.g. with a Split Out node. Nothing was sent.",
		);
}
