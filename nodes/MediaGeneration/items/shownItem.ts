/** Reads what an item of this package shows: its outputs, or its failure. */
import type { IDataObject, INodeExecutionData, JsonObject } from 'n8n-workflow';
import type { OutputKind } from '../answers/outputs';
import { isOutcome, type Failure } from '../base/outcomes';
import { asNumber, asText, isObject, textsIn } from '../base/json';

/** An output as an item shows it (README, "Operations"). */
export interface ShownOutput {
	/** Missing for a file that was joined here, or that its address contained. */
	url?: string;
	kind: OutputKind;
	binaryProperty?: string;
	fileName?: string;
	mimeType?: string;
	fileSize?: number;
	/** Measured, for WAV and MP3. */
	durationSeconds?: number;
}

export function shownOutputs({ json: { outputs } }: INodeExecutionData): ShownOutput[] {
	const list: unknown[] = Array.isArray(outputs) ? outputs : [];
	return list.filter(isObject) as unknown as ShownOutput[];
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
		parts: taskIds.length === 0 ? undefined : { taskIds, part, longText: undefined },
	};
}
