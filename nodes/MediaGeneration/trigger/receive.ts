/** Serves the trigger's webhook: checks, confirms, answers (docs/trigger.md, "What it answers"). */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../actions/trigger';
import { quote } from '../base/words';
import { recentClient } from '../transport/client';
import { cleanerOf, cleanItems } from '../n8n/clean';
import { now } from '../base/clock';
import { isSameId, type Task } from '../answers/task';
import { judgePosted } from './confirm';
import { receivedItem } from './deliverReceived';
import { Events } from './once';
import { isShown, referenceIn, signatureProblem } from './signature';
import { postedTo, refuse, CallRefusal } from './webhook';

/** Throws a CallRefusal for a URL without the signature that it should have. */
async function checkedCall(context: IWebhookFunctions) {
	// The host is a placeholder, because n8n does not know its external address.
	const url = new URL(context.getRequestObject().originalUrl, 'http://localhost');
	const client = await recentClient(context);
	const { callbackSecret } = client.credentials;
	const signed = callbackSecret !== '';
	const problem = signed ? signatureProblem(url, callbackSecret, Date.now()) : undefined;
	if (problem !== undefined) throw new CallRefusal(401, problem);
	if (signed) cleanerOf(context).hasUrl(url.href);
	return { client, url, signed };
}

function ignoredBecause(task: Task, { statuses, types }: TriggerSettings): string | undefined {
	const status = `status "${quote(task.status) ?? ''}"`;
	if (task.state === 'running') return `the task is not finished (${status})`;
	if (!statuses.includes(task.status)) return `${status} is not selected`;
	if (types.length > 0 && !types.includes((task.type ?? '').toLowerCase()))
		return `type "${quote(task.type) ?? ''}" is not selected`;
	return undefined;
}

/** Prefers the service's spelling of a posted ID, but keeps the posted one if the service names another task. */
function spelled(taskId: string, { id }: Task): string {
	return id !== undefined && isSameId(id, taskId) ? id : taskId;
}

async function handle(context: IWebhookFunctions, settings: TriggerSettings) {
	// The sender waits for an unknown time (docs/service.md, "Callbacks"); 15 s is common. n8n needs a moment to store the execution.
	const deadline = now() + 12_000;
	// The token is checked before the body is read, so that a caller without one learns nothing and costs nothing.
	const { client, url, signed } = await checkedCall(context);
	const reference = referenceIn(url);
	const posted = await postedTo(context);
	const { taskId } = posted;
	// `done` without files must not replace `done` with files, nor an unverified reference a verified one.
	const eventOf = (id: string, status: string, { withFiles = true, verified = true } = {}) =>
		JSON.stringify([id, status, withFiles, verified ? (reference ?? '') : null]);
	// Listening in the editor takes one event, and a tester sends the same task again.
	const remembers = settings.deduplicate && context.getMode() !== 'manual';
	const events = remembers ? new Events(context) : undefined;
	// A duplicate costs no request: a task that has ended no longer changes.
	if (posted.task) events?.check(eventOf(taskId, posted.task.status));
	const verdict = await judgePosted(settings.verify ? client : undefined, posted, deadline);
	const { task } = verdict;
	const ignored = ignoredBecause(task, settings);
	if (ignored !== undefined) throw new CallRefusal(200, ignored);
	const verified = reference === undefined || signed || (settings.verify && isShown(url, task.raw));
	const item = receivedItem({
		task_id: spelled(taskId, task),
		// Other calls that name the same task share this object.
		task: structuredClone(task.raw),
		verified: settings.verify,
		signed,
		reference,
		reference_verified: verified,
	});
	const workflowData = [await cleanItems(context, [item])];
	// A running task does not get here, except one that is done without a file.
	const event = eventOf(task.id ?? taskId, task.status, {
		withFiles: verdict.kind !== 'running',
		verified,
	});
	events?.claim(event, context.getResponseObject());
	// n8n answers with this as soon as it has stored the execution: what was answered 200 can no longer be lost.
	return { webhookResponse: { received: true }, workflowData };
}

export async function receive(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	return await handle(context, settings).catch((error: unknown) =>
		refuse(context, 'a callback', error),
	);
}
