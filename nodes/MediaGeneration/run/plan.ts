/**
 * From the input to items: reads and checks every item before anything is sent.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ItemFields } from '../operations/fields';
import type { CreationRequest, Operation } from '../operations/operation';
import { requestsFor, textsOf } from '../operations/parts';
import {
	readItemSettings,
	readRunSettings,
	type ItemSettings,
	type FileSettings,
	type RunSettings,
} from '../operations/waiting';
import { attempt, isOutcome, outcomes, type Failure } from '../service/failures';
import { asText, isObject } from '../service/json';
import { parseTask } from '../service/task';
import type { Item } from './item';

export type Planned =
	| { kind: 'item'; item: Item; run: RunSettings }
	/** `task: wait` behind a node that slept: the item is complete already. */
	| { kind: 'complete'; item: INodeExecutionData }
	| { kind: 'failed'; failure: Failure };

/** The failure that an item brings along from a node before this one, for `task: wait`. */
function failureFromInput(item: INodeExecutionData): Failure | undefined {
	const { details, error } = item.json;
	// What failed while an execution slept has its fields in `details`, if failures have a branch of their own.
	const json = isObject(details) && isOutcome(details.outcome) ? details : item.json;
	const { outcome } = json;
	// What waiting does not change is still the item's failure.
	if (!isOutcome(outcome) || !outcomes[outcome].final) return undefined;
	const taskId = asText(json.task_id);
	if (outcome !== 'failed' && taskId !== undefined) return undefined;
	const status = asText(json.status);
	return {
		outcome,
		message: asText(error) ?? `The item failed in a node before this one (${outcome})`,
		description:
			outcome === 'failed'
				? 'The service ended this task with an error. Correct the input if the reason points to it, then run the item again: that makes a new task.'
				: 'No task of this item is known, so there is nothing to wait for. See the node that made it.',
		...(taskId === undefined ? {} : { taskId }),
		...(status === undefined ? {} : { status }),
		...(typeof json.http_status === 'number' ? { httpStatus: json.http_status } : {}),
	};
}

/** Whether an item of a node that slept already has everything that `task: wait` could fetch. */
function isComplete({ json, binary }: INodeExecutionData, { download }: FileSettings): boolean {
	if (json.outcome !== undefined || parseTask(json)?.state !== 'done') return false;
	const outputs: unknown[] = Array.isArray(json.outputs) ? json.outputs : [];
	const present = outputs.every(
		(output) =>
			isObject(output) &&
			typeof output.binaryProperty === 'string' &&
			binary?.[output.binaryProperty] !== undefined,
	);
	return outputs.length > 0 && (present || !download);
}

function planAwaited(fields: ItemFields, input: INodeExecutionData): Planned {
	const failure = failureFromInput(input);
	const named = asText(input.json.task_id);
	// An item that itself says why it has no task needs no Task ID.
	if (failure !== undefined && named === undefined) return { kind: 'failed', failure };
	const settings = readItemSettings(fields, true);
	const taskId = fields.taskId();
	if (taskId === named) {
		if (failure !== undefined) return { kind: 'failed', failure };
		if (isComplete(input, settings.files)) return { kind: 'complete', item: input };
	}
	const item: Item = {
		index: fields.itemIndex,
		settings,
		parts: [{ kind: 'awaits', number: 0, taskId }],
		assembly: { longText: settings.longText, texts: [''] },
	};
	return { kind: 'item', item, run: readRunSettings(fields) };
}

/** An item that creates a task for each of its texts. */
export function itemFor(
	index: number,
	settings: ItemSettings,
	{ request, texts }: { request: CreationRequest; texts: string[] },
): Item {
	const { longText } = settings;
	const requests =
		longText.kind === 'off' ? [request] : requestsFor(request, texts, settings.contextBetweenParts);
	return {
		index,
		settings,
		parts: requests.map((each, number) => ({ kind: 'creates', number, request: each })),
		assembly: { longText, texts },
	};
}

/** What one input item asks for. Never throws. */
export function planItem(context: IExecuteFunctions, { work }: Operation, index: number): Planned {
	const fields = new ItemFields(context, index);
	const read = attempt((): Planned => {
		if (work.kind !== 'creates')
			return planAwaited(fields, context.getInputData()[index] ?? { json: {} });
		const settings = readItemSettings(fields, false);
		const request = work.request(fields);
		const { longText } = settings;
		return {
			kind: 'item',
			item: itemFor(index, settings, { request, texts: textsOf(request, longText) }),
			run: readRunSettings(fields),
		};
	});
	return read.ok ? read.value : { kind: 'failed', failure: read.failure };
}
