/**
 * Serves the trigger's webhook (docs/trigger.md, "What it answers"). A callback is signed, read, confirmed and counted, in this order: each
 * step costs more than the one before, and a step that refuses it throws a CallRefusal.
 */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../actions/trigger';
import { isSameId, type Task } from '../answers/task';
import { BoundedMap } from '../base/boundedMap';
import { now } from '../base/clock';
import { urlOf } from '../base/json';
import { quote } from '../base/words';
import { cleanerOf, cleanItems, logOf } from '../n8n/clean';
import { recentClient, type ServiceClient } from '../transport/client';
import { judgePosted } from './confirm';
import { receivedItem } from './deliverReceived';
import { eventOf, Events } from './once';
import { referenceIn, signatureProblem, vouchedByShown } from './signature';
import { postedTo, refuse, CallRefusal } from './webhook';

interface CalledUrl {
	url: URL;
	signed: boolean;
}

/** What the service or this n8n knows of a task is nobody's business without a signature: all refusals get the same words. */
const UNSIGNED_WORDS =
	"this callback does not start the workflow. Set a 'Callback Secret' to have the trigger say why";

/** Never throws: n8n would start the workflow with an empty item. */
export async function receive(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	// The host is a placeholder, because n8n does not know its external address.
	const url = urlOf(context.getRequestObject().originalUrl, 'http://localhost');
	if (url === undefined)
		return refuse(context, 'a callback', new CallRefusal(400, 'its address can not be read'));
	const call: CalledUrl = { url, signed: false };
	return await start(context, settings, call).catch((error: unknown) => {
		// What is wrong with the post itself tells nothing about a task.
		const says = call.signed || !(error instanceof CallRefusal) || error.status === 400;
		const shown = says ? error : new CallRefusal(error.status, UNSIGNED_WORDS);
		return refuse(context, 'a callback', shown);
	});
}

async function start(
	context: IWebhookFunctions,
	settings: TriggerSettings,
	call: CalledUrl,
): Promise<IWebhookResponseData> {
	// The sender waits for an unknown time (docs/service.md, "Callbacks"); 15 s is common. n8n needs a moment to store the execution.
	const deadline = now() + 12_000;
	const client = await recentClient(context);
	// Before the body is read, so that a caller without a signature learns nothing and costs nothing.
	checkSignature(context, call, client);
	const { url, signed } = call;
	const reference = referenceIn(url);
	const posted = await postedTo(context, settings.verify);
	const { taskId } = posted;
	// Listening in the editor takes one event, and a tester sends the same task again.
	const memory = context.getMode() === 'manual' ? undefined : new Events(context);
	const events = settings.deduplicate ? memory : undefined;
	// A duplicate costs no request: a task that has ended no longer changes.
	if (posted.task) events?.check(eventOf({ taskId, status: posted.task.status, reference }));
	const asked = { posted, signed, deadline };
	const verdict = await judgePosted(settings.verify ? client : undefined, asked);
	const { task } = verdict;
	const vouched = (settings.verify ? vouchedByShown(url, task.raw) : undefined) ?? signed;
	const isVerified = reference === undefined || vouched;
	checkSelected(task, settings);
	const item = receivedItem({
		task_id: spelled(taskId, task),
		// Other calls that name the same task share this object.
		task: structuredClone(task.raw),
		verified: settings.verify,
		signed,
		reference,
		reference_verified: isVerified,
	});
	const workflowData = [await cleanItems(context, [item])];
	if (signed) memory?.bind(url.searchParams.get('nonce') ?? '', taskId.toLowerCase());
	// A running task does not get here, except one that is done without a file.
	const withFiles = verdict.kind !== 'running';
	const end = { taskId, status: task.status, withFiles, reference: isVerified ? reference : null };
	events?.claim(eventOf(end), context.getResponseObject());
	// n8n answers with this as soon as it has stored the execution: what was answered 200 can no longer be lost.
	return { webhookResponse: { received: true }, workflowData };
}

/** Throws a CallRefusal for a URL without the signature that it should have. */
function checkSignature(
	context: IWebhookFunctions,
	call: CalledUrl,
	{ credentials }: ServiceClient,
): void {
	const { callbackSecret } = credentials;
	call.signed = callbackSecret !== '';
	if (!call.signed) return;
	const problem = signatureProblem(call.url, callbackSecret, Date.now());
	if (problem === undefined) return cleanerOf(context).hasUrl(call.url.href);
	reportUnsigned(context, problem);
	throw new CallRefusal(401, problem);
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

/** Prefers the service's spelling of a posted ID, but keeps the posted one if the service names another task. */
function spelled(taskId: string, { id }: Task): string {
	return id !== undefined && isSameId(id, taskId) ? id : taskId;
}
