/**
 * The trigger's webhook: check, verify, answer, deliver (contract, "Trigger node": the table of answers).
 */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { Limiter } from '../delivery/files';
import { CONCURRENT_DOWNLOADS, deliver } from '../delivery/item';
import type { TriggerSettings } from '../operations/trigger';
import { createClient, type ServiceClient } from '../service/client';
import { pause } from '../service/clock';
import { FailureError } from '../service/errors';
import { fileOpener } from '../service/fileHost';
import { lookAtTask } from '../service/look';
import { parseTask, type Task } from '../service/task';
import { readPostedBody } from './body';
import { checkSignature } from './receiveUrl';
import { claim } from './seen';
import { verifyTask } from './verify';

class Refusal extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/** The task by the service's own word. Throws a Refusal. */
async function verifiedTask(client: ServiceClient, taskId: string): Promise<Task> {
	const verdict = await verifyTask({
		look: async (timeoutMs) =>
			await lookAtTask(
				client,
				{
					taskId,
					kind: 'callback',
					route: 'auto',
					timeoutMs,
					signal: AbortSignal.timeout(timeoutMs),
				},
				Date.now,
			),
		now: Date.now,
		sleep: pause,
	});
	switch (verdict.kind) {
		case 'terminal':
		case 'running':
			return verdict.task;
		case 'unknown':
			throw new Refusal(404, 'the service does not know this task');
		case 'unavailable':
			throw new Refusal(503, 'the service could not be asked about this task, try again');
	}
}

/** Why a task does not run the workflow, or undefined. */
export function ignoredBecause(
	task: Task,
	{ statuses, types }: TriggerSettings,
): string | undefined {
	if (task.state === 'running') return `the task is not finished (status "${task.status}")`;
	if (!statuses.includes(task.status)) return `status "${task.status}" is not selected`;
	if (types.length > 0 && !types.includes((task.type ?? '').toLowerCase()))
		return `type "${task.type ?? ''}" is not selected`;
	return undefined;
}

function triggerId(context: IWebhookFunctions): string {
	return `${context.getWorkflow().id ?? ''}:${context.getNode().id}:${context.getMode()}`;
}

async function receiveOrRefuse(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	const request = context.getRequestObject();
	const { rawBody } = request as { rawBody?: Buffer };
	const posted = readPostedBody(context.getBodyData(), rawBody?.length);
	const client = await createClient(context);
	// The token is checked before the body is judged, so that who has none learns nothing.
	const { pathname } = new URL(request.originalUrl, 'http://localhost');
	const signature = checkSignature(
		client.credentials.callbackSecret,
		pathname,
		context.getQueryData() as Record<string, unknown>,
		Date.now(),
	);
	if (!signature.ok) throw new Refusal(401, signature.reason);
	if (!posted.ok) throw new Refusal(400, posted.reason);

	const { taskId } = posted;
	const task = settings.verify
		? await verifiedTask(client, taskId)
		: parseTask(JSON.parse(client.redact(JSON.stringify(posted.body))));
	if (task === undefined) throw new Refusal(400, 'the body is not a task');
	const ignored = ignoredBecause(task, settings);
	if (ignored !== undefined) return answer(context, 200, { received: true, ignored });
	if (
		settings.deduplicate &&
		!claim(triggerId(context), `${taskId}:${task.status}`, context.getWorkflowStaticData('node'))
	) {
		return answer(context, 200, {
			received: true,
			ignored: 'this task and status was received before',
		});
	}

	// Answer first: the event is ours from here on, whatever becomes of the files.
	answer(context, 200, { received: true });
	const delivered = await deliver(
		context,
		{ taskId, task },
		{ ...settings.files, download: settings.files.download && task.state === 'done' },
		0,
		{
			open: fileOpener(context),
			now: Date.now,
			sleep: pause,
			limiter: new Limiter(CONCURRENT_DOWNLOADS),
		},
		{
			verified: settings.verify,
			...(signature.reference === undefined ? {} : { reference: signature.reference }),
		},
	);
	const { items, failure } = delivered;
	if (failure !== undefined)
		items.forEach(({ json }) => Object.assign(json, { download_error: failure.message }));
	return {
		noWebhookResponse: true,
		workflowData: [
			items.map(({ json, binary }) => ({ json, ...(binary === undefined ? {} : { binary }) })),
		],
	};
}

/** Handles one callback. Never throws: every refusal is an answer. */
export async function receive(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	try {
		return await receiveOrRefuse(context, settings);
	} catch (error) {
		if (error instanceof Refusal)
			return answer(context, error.status, { received: false, error: error.message });
		const reason =
			error instanceof FailureError || error instanceof Error ? error.message : 'unknown reason';
		context.logger.warn(`Media Generation Trigger: a callback could not be handled: ${reason}`);
		if (context.getResponseObject().headersSent) return { noWebhookResponse: true };
		return answer(context, 503, {
			received: false,
			error: 'the callback could not be handled, try again',
		});
	}
}
