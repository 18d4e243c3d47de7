/** Turns a failure into what n8n shows: an item with Continue On Fail, else an error to throw (README, "When something goes wrong"). */
import {
	NodeApiError,
	NodeOperationError,
	type IBinaryKeyData,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type JsonObject,
} from 'n8n-workflow';
import { isOutcome, type Failure } from '../base/outcomes';
import { onOneLine } from '../base/words';
import { asNumber, asText, isObject, textsIn } from '../base/json';
import { inHtml } from '../n8n/editor';
import { toErrorBranch, toErrorBranchAsleep } from '../n8n/failedItems';
import { withoutSocketCodes } from '../n8n/networkError';
import type { DeliveredOutput } from './storedFile';

/** All fields of a failed item: one record for every way out (run, waking, `details`). */
function recordOf(failure: Failure, outputs?: DeliveredOutput[]) {
	const { message, description, outcome, taskId, status, httpStatus, candidates, whole } = failure;
	return Object.entries({
		error: onOneLine(message),
		description: onOneLine(description),
		outcome,
		task_id: taskId,
		status,
		http_status: httpStatus,
		candidates,
		task_ids: whole?.taskIds,
		part: whole?.part?.number,
		parts: whole?.part?.of,
		long_text: whole?.longText && { ...whole.longText },
		outputs,
	});
}

function givenIn(record: ReturnType<typeof recordOf>): JsonObject {
	return Object.fromEntries(record.filter(([, value]) => value !== undefined)) as JsonObject;
}

/**
 * Returns an item's own record: `details` if it failed while its execution slept, because n8n then merges fields of that node's input in
 * beside them.
 */
export function recordIn(json: IDataObject): JsonObject {
	const { details, error } = json;
	// The details of an earlier failure are a field of the row.
	const isOurs = isObject(details) && isOutcome(details.outcome) && details.error === error;
	return (isOurs ? details : json) as JsonObject;
}

/** Reads the failure of an item that failed in a node of this package. The workflow may have changed the item since. */
export function failureIn(json: IDataObject): Failure | undefined {
	const { outcome, candidates, http_status, ...own } = recordIn(json);
	if (!isOutcome(outcome)) return undefined;
	const taskIds = textsIn(own.task_ids);
	const [number, of] = [asNumber(own.part), asNumber(own.parts)];
	const part = number === undefined || of === undefined ? undefined : { number, of };
	return {
		outcome,
		message: asText(own.error) ?? `The item failed in a node before this one (${outcome})`,
		description:
			asText(own.description) ??
			'No task of this item is known, so there is nothing to wait for. See the node that made it.',
		taskId: asText(own.task_id),
		status: asText(own.status),
		candidates: Array.isArray(candidates) ? (candidates as Failure['candidates']) : undefined,
		httpStatus: typeof http_status === 'number' ? http_status : undefined,
		whole: taskIds.length === 0 ? undefined : { taskIds, part, longText: undefined },
	};
}

interface ItemFailure {
	index: number;
	failure: Failure;
}

/** Uses our words alone, because an error of the HTTP helper contains the request with its headers. */
export function nodeError(
	node: INode,
	{ failure, index: itemIndex }: ItemFailure,
): NodeApiError | NodeOperationError {
	const description = inHtml(failure.description);
	const message = withoutSocketCodes(failure.message);
	const error =
		failure.outcome === 'invalid'
			? new NodeOperationError(node, message, { description, itemIndex })
			: new NodeApiError(node, givenIn(recordOf(failure)), {
					message,
					description,
					httpCode: failure.httpStatus === undefined ? undefined : String(failure.httpStatus),
					itemIndex,
				});
	error.message = message;
	error.description = description;
	return error;
}

export function failureItem(
	node: INode,
	failed: ItemFailure,
	delivered: { outputs?: DeliveredOutput[]; binary?: IBinaryKeyData } = {},
): INodeExecutionData {
	const { outputs, binary } = delivered;
	const item: INodeExecutionData = {
		json: givenIn(recordOf(failed.failure, outputs)),
		...(binary && { binary }),
		pairedItem: { item: failed.index },
	};
	return toErrorBranch(node, item, () => nodeError(node, failed));
}

/** Makes a failed item that n8n can save with a sleeping execution, or take from its webhook. */
export function plainFailureItem(node: INode, item: INodeExecutionData): INodeExecutionData {
	const { error, outcome } = item.json;
	const fails = typeof error === 'string' && isOutcome(outcome);
	return fails ? toErrorBranchAsleep(node, item) : { ...item };
}
