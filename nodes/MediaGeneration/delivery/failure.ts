/** A failure as n8n shows it: an item with Continue On Fail, a thrown error without (README, "When something goes wrong"). */
import {
	NodeApiError,
	NodeOperationError,
	type IBinaryKeyData,
	type INode,
	type INodeExecutionData,
	type JsonObject,
} from 'n8n-workflow';
import { isOutcome, type Failure } from '../service/failures';
import type { DeliveredOutput } from './files';

export interface Left {
	/** Tasks that are paid for and still of use. */
	taskIds: readonly string[];
	/** Items whose tasks may exist: the answer to their creation never came. */
	unclearItems: readonly number[];
	/** Tasks that an unclear answer has named all the same. */
	namedTaskIds: readonly string[];
	/** In words: what became of the other items. */
	others?: string;
}

export function wordsFor({ taskIds, unclearItems, namedTaskIds, others = '' }: Left): string {
	let words = others;
	if (unclearItems.length > 0) {
		words += ` The tasks of items ${unclearItems.join(', ')} may exist and be paid for, as the answers to their creation never came: check at the service.`;
		if (namedTaskIds.length > 0) words += ` It named: ${namedTaskIds.join(', ')}.`;
	}
	if (taskIds.length > 0)
		words += ` Task IDs of this run that are paid for and still of use: ${taskIds.join(', ')}. "Task: Wait" fetches their results.`;
	return words;
}

function failureJson({ message, outcome, taskId, status, httpStatus, candidates, whole }: Failure) {
	const fields = {
		error: message,
		outcome,
		task_id: taskId,
		status,
		http_status: httpStatus,
		candidates,
		task_ids: whole?.taskIds,
		part: whole?.part?.number,
		parts: whole?.part?.of,
		long_text: whole?.longText && { ...whole.longText },
	};
	const given = Object.entries(fields).filter(([, value]) => value !== undefined);
	return Object.fromEntries(given) as JsonObject;
}

interface ItemFailure {
	index: number;
	failure: Failure;
}

/** Built from our words alone: what the HTTP helper throws holds the request with its headers. */
export function nodeError(
	node: INode,
	{ failure, index: itemIndex }: ItemFailure,
	left: Left = { taskIds: [], unclearItems: [], namedTaskIds: [] },
): NodeApiError | NodeOperationError {
	const description = `${failure.description}${wordsFor(left)}`;
	const error =
		failure.outcome === 'invalid'
			? new NodeOperationError(node, failure.message, { description, itemIndex })
			: new NodeApiError(node, failureJson(failure), {
					message: failure.message,
					description,
					httpCode: failure.httpStatus === undefined ? undefined : String(failure.httpStatus),
					itemIndex,
				});
	// n8n replaces messages that contain an error code such as ECONNRESET by its own, which would hide the task ID.
	error.message = failure.message;
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
		json: { ...failureJson(failed.failure), ...(outputs && { outputs }) },
		...(binary && { binary }),
		pairedItem: { item: failed.index },
	};
	if (node.onError === 'continueErrorOutput') {
		// n8n sends an item to the error branch by its `error`, but then reduces the JSON of every item that still has one
		// to its message. It copies the item in between, and a copy leaves a hidden property behind: so the branch gets all fields.
		Object.defineProperty(item, 'error', { value: nodeError(node, failed) });
	}
	return item;
}

/**
 * A failure as an item that n8n saves with a sleeping execution, or gets from its webhook. n8n copies such items, so no hidden
 * property survives; it sends an item to the error branch only if its JSON has nothing but `error`, `message` and `details`.
 * Where failures have a branch of their own, the fields other than `error` therefore lie in `details`.
 */
export function plainFailureItem(node: INode, item: INodeExecutionData): INodeExecutionData {
	const { error, ...details } = item.json;
	const fails = typeof error === 'string' && isOutcome(details.outcome);
	if (node.onError !== 'continueErrorOutput' || !fails) return { ...item };
	return { ...item, json: { error, details } };
}
