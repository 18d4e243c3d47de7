/**
 * The trigger's webhook: check, verify, answer (contract, "Trigger node": the table of answers). The files are fetched
 * afterwards, by `deliverReceived.ts`.
 */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../operations/trigger';
import { createClient, type ServiceClient } from '../service/client';
import { pause } from '../service/clock';
import { FailureError } from '../service/failures';
import { lookAtTask } from '../service/look';
import { redactDeep } from '../service/redact';
import { parseTask, type Task } from '../service/task';
import { answer, postedTo } from './body';
import { receivedItem } from './deliverReceived';
import { hold, isSettled } from './holders';
import { checkSignature } from './receiveUrl';
import { claim, release, wasSeen } from './seen';
import { verifyTask } from './verify';

class Refusal extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

/** The task by the service's own word. Throws a Refusal. */
async function verifiedTask(client: ServiceClient, taskId: string): Promise<Task> {
	const verdict = await verifyTask({
		look: async (timeoutMs) =>
			await lookAtTask(client, {
				taskId,
				kind: 'callback',
				route: 'auto',
				timeoutMs,
				purpose: 'outsider',
			}),
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

/** How long a copy waits for the answer to the call before it. */
const HOLDER_PATIENCE_MS = 3_000;

/** What tells duplicates apart for one trigger. */
interface Memory {
	trigger: string;
	staticData: IDataObject;
}

/**
 * Undefined where nothing counts as a duplicate: with Deduplicate off, and while the editor listens, as that takes a single
 * event and who tests wants to send the same task again.
 */
function memoryOf(context: IWebhookFunctions, settings: TriggerSettings): Memory | undefined {
	if (!settings.deduplicate || context.getMode() === 'manual') return undefined;
	return {
		trigger: `${context.getWorkflow().id ?? ''}:${context.getNode().id}`,
		staticData: context.getWorkflowStaticData('node'),
	};
}

/** Claims the event for this call; false for a duplicate. */
function claimEvent(
	context: IWebhookFunctions,
	{ trigger, staticData }: Memory,
	event: string,
): boolean {
	if (!claim(trigger, event, staticData)) return false;
	// n8n answers 5xx where it could not start an execution after all: then the sender's next try must count.
	hold(`${trigger}:${event}`, context.getResponseObject(), () =>
		release(trigger, event, staticData),
	);
	return true;
}

/** Whether the event was let through before. Throws a Refusal while that is being tried and may still fail. */
async function isDuplicate({ trigger, staticData }: Memory, event: string): Promise<boolean> {
	if (!wasSeen(trigger, event, staticData)) return false;
	if (!(await isSettled(`${trigger}:${event}`, async () => await pause(HOLDER_PATIENCE_MS))))
		throw new Refusal(503, 'this callback is being handled already, try again');
	return wasSeen(trigger, event, staticData);
}

function answerDuplicate(context: IWebhookFunctions): IWebhookResponseData {
	return answer(context, 200, {
		received: true,
		ignored: 'this task and status was received before',
	});
}

async function receiveOrRefuse(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	const posted = await postedTo(context);
	const client = await createClient(context);
	// The token is checked before the body is judged, so that who has none learns nothing.
	const { pathname } = new URL(context.getRequestObject().originalUrl, 'http://localhost');
	const signature = checkSignature(
		client.credentials.callbackSecret,
		pathname,
		context.getQueryData() as Record<string, unknown>,
		Date.now(),
	);
	if (!signature.ok) throw new Refusal(401, signature.reason);
	if (!posted.ok) throw new Refusal(400, posted.reason);

	const { taskId } = posted;
	const memory = memoryOf(context, settings);
	const claimed = parseTask(posted.body);
	// A copy of what was let through needs no asking: what ends a task does not change any more.
	if (
		memory !== undefined &&
		claimed !== undefined &&
		(await isDuplicate(memory, `${taskId}:${claimed.status}`))
	)
		return answerDuplicate(context);
	const task = settings.verify
		? await verifiedTask(client, taskId)
		: parseTask(redactDeep(posted.body, (text) => client.redact(text)));
	if (task === undefined) throw new Refusal(400, 'the body is not a task');
	const ignored = ignoredBecause(task, settings);
	if (ignored !== undefined) return answer(context, 200, { received: true, ignored });
	const event = `${taskId}:${task.status}`;
	while (memory !== undefined && !claimEvent(context, memory, event))
		if (await isDuplicate(memory, event)) return answerDuplicate(context);
	// n8n answers with this as soon as it has stored the execution: what was answered 200 can't be lost any more.
	return {
		webhookResponse: { received: true },
		workflowData: [[receivedItem(taskId, task, settings.verify, signature.reference)]],
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
