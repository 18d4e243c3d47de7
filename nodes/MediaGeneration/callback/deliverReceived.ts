/**
 * The second half of the trigger: execute() runs inside the execution that the webhook started and fetches the files there.
 * So the sender waits for no download, and a download that n8n does not survive leaves an execution that names its task.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Delivery } from '../delivery/item';
import { readTriggerFileSettings } from '../operations/trigger';
import { createClient } from '../service/client';
import { outputsOf } from '../service/outputs';
import { parseTask, type Task } from '../service/task';

/** What the webhook hands over to execute(). */
export interface Received {
	task_id: string;
	/** As the service sent it (or, unverified, as it was posted). */
	task: IDataObject;
	verified: boolean;
	reference?: string;
}

export function receivedItem(
	taskId: string,
	task: Task,
	verified: boolean,
	reference: string | undefined,
): INodeExecutionData {
	const received: Received = {
		task_id: taskId,
		task: task.raw as IDataObject,
		verified,
		...(reference === undefined ? {} : { reference }),
	};
	return { json: { ...received } };
}

/** Undefined where the credential can't be read any more: then no private address is asked. */
async function baseUrlOf(context: IExecuteFunctions): Promise<string | undefined> {
	try {
		return (await createClient(context)).credentials.baseUrl;
	} catch {
		return undefined;
	}
}

/** Delivers what the webhook received. Never rejects: a file that can't be had is told in `download_error`. */
export async function deliverReceived(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const files = readTriggerFileSettings((name, fallback) =>
		context.getNodeParameter(name, 0, fallback),
	);
	const delivery = new Delivery(context, {
		baseUrl: await baseUrlOf(context),
		signal: context.getExecutionCancelSignal(),
	});
	const deliveries = context.getInputData().map(async (item, index) => {
		const { task_id: taskId, task: posted, ...extra } = item.json as Partial<Received>;
		const task = parseTask(posted);
		// Whatever else an execution was started with goes on as it is.
		if (task === undefined || taskId === undefined) return [item];
		const { items, failure } = await delivery.deliver(
			{ taskId, task, outputs: outputsOf(task) },
			{ ...files, download: files.download && task.state === 'done' },
			index,
			extra,
		);
		if (failure !== undefined) {
			for (const { json } of items) json.download_error = failure.message;
		}
		return items;
	});
	return (await Promise.all(deliveries)).flat();
}
