/** Fetches the files in the execution that the webhook started, so that no sender waits for downloads, or can lose the task. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Delivery } from '../files/delivery';
import { ItemFields } from '../actions/fields';
import type { FileSettings } from '../actions/fileSettings';
import { readTriggerFileSettings } from '../actions/trigger';
import { cleanly } from '../n8n/clean';
import { createClient } from '../transport/client';
import type { JsonObject } from '../base/json';
import { parseTask } from '../answers/task';
import { verdictOf, withoutFiles } from '../answers/verdict';

interface Received {
	task_id: string;
	/** As the service sent it; without verification, as it was posted. */
	task: JsonObject;
	verified: boolean;
	/** Whether the URL was signed, by somebody who may use this credential. */
	signed: boolean;
	reference: string | undefined;
	/** Whether the signature, or the task's own receive URL as the service shows it, has this reference. */
	reference_verified: boolean;
}

const UNTRUSTED =
	"The files were not downloaded: this callback was neither verified nor signed, so anyone could have chosen their addresses. Turn on 'Verify with Service', or set a 'Callback Secret' in the credential";

/** Makes the item that starts the execution. Fields that this node writes itself are never taken from the task. */
export function receivedItem(received: Received): INodeExecutionData {
	const { task, reference, reference_verified, ...given } = received;
	const fields: JsonObject = { ...task };
	for (const name of ['reference', 'reference_verified', 'download_error']) delete fields[name];
	return {
		json: {
			...given,
			task: fields,
			...(reference !== undefined && { reference, reference_verified }),
		},
	};
}

export async function deliverReceived(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	return await cleanly(context, async () => {
		const { download } = readTriggerFileSettings(new ItemFields(context, 0));
		// Only downloads need the client, for the service's own host: the webhook has cleaned the items.
		const client = download ? await createClient(context).catch(() => undefined) : undefined;
		const signal = context.getExecutionCancelSignal();
		const delivery = new Delivery(context, { baseUrl: client?.credentials.baseUrl, signal });
		const deliveries = context.getInputData().map(async (item, index) => {
			const settings = readTriggerFileSettings(new ItemFields(context, index));
			return await deliverOne(delivery, item, { index, settings });
		});
		return (await Promise.all(deliveries)).flat();
	});
}

async function deliverOne(
	delivery: Delivery,
	item: INodeExecutionData,
	{ index, settings }: { index: number; settings: FileSettings },
): Promise<INodeExecutionData[]> {
	const received = item.json as Partial<IDataObject & Received>;
	const { task_id: taskId, task: posted, signed, ...extra } = received;
	const task = parseTask(posted);
	// An item that is no callback, e.g. pinned data, passes through unchanged.
	if (task === undefined || taskId === undefined) return [{ ...item }];
	const verdict = verdictOf(taskId, task);
	const outputs = verdict.kind === 'done' ? verdict.outputs : [];
	const isTrusted = extra.verified === true || signed === true;
	const values = { task_id: taskId, reference: extra.reference ?? '' };
	const fileName = settings.fileName?.replace(
		/\{(task_id|reference)\}/g,
		(_, name: keyof typeof values) => values[name],
	);
	const download = settings.download && isTrusted;
	const { items, failure } = await delivery.deliverTask(
		{ taskId, task, outputs },
		{ ...settings, fileName, download },
		{ index, extra },
	);
	const hasNone = verdict.kind === 'running' && task.state === 'done';
	const ended = hasNone ? withoutFiles(taskId, task) : undefined;
	const missing = ended?.kind === 'failed' ? ended.failure : failure;
	const isHeldBack = settings.download && !isTrusted && outputs.length > 0;
	const error = isHeldBack ? UNTRUSTED : missing?.message;
	if (error !== undefined) for (const { json } of items) json.download_error = error;
	return items;
}
