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
import { inHtml } from '../n8n/editor';
import { toErrorBranch, toErrorBranchAsleep } from '../n8n/errorItems';
import { withoutSocketCodes } from '../n8n/networkError';
import { present } from './itemJson';
import type { ShownOutput } from './shownItem';

/** Lists the fields of a failed item, for every way out: a run, a waking, `details`. */
function recordOf(failure: Failure, outputs?: ShownOutput[]): IDataObject {
	const { message, description, outcome, taskId, status, httpStatus, candidates, parts } = failure;
	return present({
		error: onOneLine(message),
		description: onOneLine(description),
		outcome,
		task_id: taskId,
		status,
		http_status: httpStatus,
		candidates,
		task_ids: parts?.taskIds,
		part: parts?.part?.number,
		parts: parts?.part?.of,
		long_text: parts?.longText && { ...parts.longText },
		outputs,
	});
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
			: new NodeApiError(node, recordOf(failure) as JsonObject, {
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
	itemFailure: ItemFailure,
	delivered: { outputs?: ShownOutput[]; binary?: IBinaryKeyData } = {},
): INodeExecutionData {
	const { outputs, binary } = delivered;
	const item: INodeExecutionData = {
		json: recordOf(itemFailure.failure, outputs),
		...(binary && { binary }),
		pairedItem: { item: itemFailure.index },
	};
	return toErrorBranch(node, item, () => nodeError(node, itemFailure));
}

/** Makes a failed item that n8n can save with a sleeping execution, or take from its webhook. */
export function plainFailureItem(node: INode, item: INodeExecutionData): INodeExecutionData {
	const { error, outcome } = item.json;
	const fails = typeof error === 'string' && isOutcome(outcome);
	return fails ? toErrorBranchAsleep(node, item) : { ...item };
}
