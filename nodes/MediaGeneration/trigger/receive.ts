/** Serves the trigger's webhook: checks, confirms, answers (docs/trigger.md, "What it answers"). */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../actions/trigger';
import { urlOf } from '../base/json';
import { quote } from '../base/words';
import { recentClient, type ServiceClient } from '../transport/client';
import { BoundedMap } from '../base/boundedMap';
import { cleanerOf, cleanItems, logOf } from '../n8n/clean';
import { now } from '../base/clock';
import { isSameId, type Task } from '../answers/task';
import { judgePosted } from './confirm';
import { receivedItem } from './deliverReceived';
import { Events } from './once';
import { comparedToShown, referenceIn, signatureProblem } from './signature';
import { postedTo, refuse, CallRefusal } from './webhook';

interface CalledUrl {
	url: URL;
	signed: boolean;
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

/** Throws a CallRefusal for a URL without the signature that it should have. */
function checkCall(
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

/** Whether the call's reference is that of the task. Throws a CallRefusal for a task that belongs to another trigger. */
function isReferenceVerified({ url, signed }: CalledUrl, task: Task, verify: boolean): boolean {
	const shown = verify ? comparedToShown(url, task.raw) : 'not shown';
	if (shown === 'other trigger')
		throw new CallRefusal(403, 'the task has the Callback URL of another trigger');
	const isShown = shown === 'same' || (shown === 'not shown' && signed);
	return referenceIn(url) === undefined || isShown;
}

async function handle(context: IWebhookFunctions, settings: TriggerSettings, call: CalledUrl) {
	// The sender waits for an unknown time (docs/service.md, "Callbacks"); 15 s is common. n8n needs a moment to store the execution.
	const deadline = now() + 12_000;
	const client = await recentClient(context);
	// The token is checked before the body is read, so that a caller without one learns nothing and costs nothing.
	checkCall(context, call, client);
	const { url, signed } = call;
	const reference = referenceIn(url);
	const posted = await postedTo(context, settings.verify);
	const { taskId } = posted;
	// `done` without files must not replace `done` with files, nor an unverified reference a verified one.
	const eventOf = (status: string, { withFiles = true, verified = true } = {}) =>
		JSON.stringify([taskId.toLowerCase(), status, withFiles, verified ? (reference ?? '') : null]);
	// Listening in the editor takes one event, and a tester sends the same task again.
	const memory = context.getMode() === 'manual' ? undefined : new Events(context);
	const events = settings.deduplicate ? memory : undefined;
	// A duplicate costs no request: a task that has ended no longer changes.
	if (posted.task) events?.check(eventOf(posted.task.status));
	const asked = { posted, signed, deadline };
	const verdict = await judgePosted(settings.verify ? client : undefined, asked);
	const { task } = verdict;
	const verified = isReferenceVerified(call, task, settings.verify);
	const ignored = ignoredBecause(task, settings);
	if (ignored !== undefined) throw new CallRefusal(200, ignored);
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
	if (signed) memory?.bind(url.searchParams.get('nonce') ?? '', taskId.toLowerCase());
	// A running task does not get here, except one that is done without a file.
	const event = eventOf(task.status, { withFiles: verdict.kind !== 'running', verified });
	events?.claim(event, context.getResponseObject());
	// n8n answers with this as soon as it has stored the execution: what was answered 200 can no longer be lost.
	return { webhookResponse: { received: true }, workflowData };
}

/** What the service or this n8n knows of a task is nobody's business without a signature: all refusals get the same words. */
const UNSIGNED_WORDS =
	"this callback does not start the workflow. Set a 'Callback Secret' to have the trigger say why";

export async function receive(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	// The host is a placeholder, because n8n does not know its external address.
	const url = urlOf(context.getRequestObject().originalUrl, 'http://localhost');
	// n8n would start the workflow with an empty item if this threw.
	if (url === undefined)
		return refuse(context, 'a callback', new CallRefusal(400, 'its address can not be read'));
	const call: CalledUrl = { url, signed: false };
	return await handle(context, settings, call).catch((error: unknown) => {
		// What is wrong with the post itself tells nothing about a task.
		const says = call.signed || !(error instanceof CallRefusal) || error.status === 400;
		return refuse(
			context,
			'a callback',
			says ? error : new CallRefusal(error.status, UNSIGNED_WORDS),
		);
	});
}
