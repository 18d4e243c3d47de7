/**
 * Serves the trigger's webhook (docs/trigger.md, "What it answers"). A callback is signed, read, confirmed and counted, in this order: each
 * step costs more than the one before, and a step that refuses it throws a CallRefusal.
 */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../actions/trigger';
import { isSameId, type Task } from '../answers/task';
import { BoundedMap } from '../base/boundedMap';
import { now } from '../base/clock';
import { urlOf } from '../base/url';
import { quote } from '../base/words';
import { cleanerOf, cleanItems } from '../n8n/clean';
import { logOf } from '../n8n/log';
import { CallRefusal, refuse } from '../n8n/webhookCall';
import { webhookClient, type ServiceClient } from '../transport/client';
import { judgePosted } from './confirm';
import { receivedItem } from './deliverReceived';
import { eventOf, Events, type End } from './once';
import { referenceIn, referenceVerified, signatureProblem } from './signature';
import { postedTo, type Posted } from './webhook';

interface TriggerCall {
	context: IWebhookFunctions;
	settings: TriggerSettings;
	client: ServiceClient;
	url: URL;
	signed: boolean;
	/** Epoch ms. */
	deadline: number;
	/** None while the editor listens: that takes one event, and a tester sends the same task again. */
	events: Events | undefined;
}

/** Never throws: n8n would start the workflow with an empty item. */
export async function receive(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	// The sender waits for an unknown time (docs/service.md, "Callbacks"); 15 s is common. n8n needs a moment to store the execution.
	const deadline = now() + 12_000;
	try {
		// The host is a placeholder, because n8n does not know its external address.
		const url = urlOf(context.getRequestObject().originalUrl, 'http://localhost');
		if (url === undefined) throw new CallRefusal(400, 'its address can not be read');
		const client = await webhookClient(context);
		// This comes before the body is read, so that a caller without a signature learns nothing and costs nothing.
		const signed = checkSignature(context, url, client);
		const events = context.getMode() === 'manual' ? undefined : new Events(context);
		return await start({ context, settings, client, url, signed, deadline, events });
	} catch (error) {
		return refuse(context, 'a callback', error);
	}
}

async function start(call: TriggerCall): Promise<IWebhookResponseData> {
	try {
		const confirmed = await confirm(call, await read(call));
		const workflowData = [await cleanItems(call.context, [confirmed.item])];
		claim(call, confirmed.end);
		// n8n answers with this as soon as it has stored the execution: what was answered 200 can no longer be lost.
		return { webhookResponse: { received: true }, workflowData };
	} catch (error) {
		throw call.signed ? error : withoutReason(error);
	}
}

/** What the service or this n8n knows of a task is nobody's business without a signature: all refusals get the same words. */
function withoutReason(error: unknown): unknown {
	// What is wrong with the post itself tells nothing about a task.
	if (!(error instanceof CallRefusal) || error.status === 400) return error;
	const words =
		"this callback does not start the workflow. Set a 'Callback Secret' to have the trigger say why";
	return new CallRefusal(error.status, words);
}

/** Throws a CallRefusal for a duplicate, which costs no request: a task that has ended no longer changes. */
async function read({ context, settings, url, events }: TriggerCall): Promise<Posted> {
	const posted = await postedTo(context, settings.verify);
	const { taskId, task } = posted;
	const reference = referenceIn(url);
	if (task && settings.deduplicate)
		events?.check(eventOf({ taskId, status: task.status, reference }));
	return posted;
}

/** Returns the item that starts the execution, and the end of the task that it is about. */
async function confirm({ url, signed, deadline, client, settings }: TriggerCall, posted: Posted) {
	const { taskId } = posted;
	const { verify } = settings;
	const verdict = await judgePosted(verify ? client : undefined, { posted, signed, deadline });
	const { task } = verdict;
	const reference = referenceIn(url);
	const shown = verify ? referenceVerified(url, task.raw) : undefined;
	const isVerified = reference === undefined || (shown ?? signed);
	checkSelected(task, settings);
	const item = receivedItem({
		// The service's spelling counts, unless it names another task.
		task_id: task.id !== undefined && isSameId(task.id, taskId) ? task.id : taskId,
		// Other calls that name the same task share this object.
		task: structuredClone(task.raw),
		verified: verify,
		signed,
		reference,
		reference_verified: isVerified,
	});
	// A running task does not get here, except one that is done without a file.
	const withFiles = verdict.kind !== 'running';
	const end = { taskId, status: task.status, withFiles, reference: isVerified ? reference : null };
	return { item, end };
}

/** Throws a CallRefusal if the URL is another task's, or another call has claimed the event. */
function claim({ context, settings, url, signed, events }: TriggerCall, end: End): void {
	if (signed) events?.bind(url.searchParams.get('nonce') ?? '', end.taskId.toLowerCase());
	if (settings.deduplicate) events?.claim(eventOf(end), context.getResponseObject());
}

/** Returns whether the called URL is signed. Throws a CallRefusal for one without the signature that it should have. */
function checkSignature(
	context: IWebhookFunctions,
	url: URL,
	{ credentials: { callbackSecret } }: ServiceClient,
): boolean {
	if (callbackSecret === '') return false;
	const problem = signatureProblem(url, callbackSecret, Date.now());
	if (problem !== undefined) {
		reportUnsigned(context, problem);
		throw new CallRefusal(401, problem);
	}
	cleanerOf(context).hasUrl(url.href);
	return true;
}

/** Epoch ms until which a trigger's calls without a signature are not reported again. */
const reported = new BoundedMap<string, number>();

/** Calls without a signature may be anybody's, so a line an hour has to do. */
function reportUnsigned(context: IWebhookFunctions, problem: string): void {
	const { id, name } = context.getNode();
	const key = JSON.stringify([context.getWorkflow().id, id]);
	if ((reported.get(key) ?? 0) > now()) return;
	reported.set(key, now() + 3_600_000);
	logOf(context).warn(
		`the trigger "${name}" refuses callbacks: ${problem}. If the service sends them, it drops or changes the query of the Callback URL, or the URL was made with another Callback Secret or at another address than N8N_WEBHOOK_URL`,
	);
}

/** Throws a CallRefusal for a task that the trigger's fields leave out. */
function checkSelected(task: Task, { statuses, types }: TriggerSettings): void {
	const ignore = (why: string) => new CallRefusal(200, why);
	const status = `status "${quote(task.status) ?? ''}"`;
	if (task.state === 'running') throw ignore(`the task is not finished (${status})`);
	if (!statuses.includes(task.status)) throw ignore(`${status} is not selected`);
	if (types.length > 0 && !types.includes((task.type ?? '').toLowerCase()))
		throw ignore(`type "${quote(task.type) ?? ''}" is not selected`);
}
