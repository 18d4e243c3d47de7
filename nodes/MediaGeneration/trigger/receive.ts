/** Serves the trigger's webhook: checks, confirms, answers (docs/trigger.md, "What it answers"). */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../actions/trigger';
import { recentClient, type ServiceClient } from '../transport/client';
import { cleanerOf, cleanItems } from '../n8n/clean';
import { now } from '../base/clock';
import type { Credentials } from '../transport/credentials';
import type { Task } from '../transport/task';
import { verdictOf, type Verdict } from '../transport/verdict';
import { confirm } from './confirm';
import { receivedItem } from './deliverReceived';
import {
	claim,
	EVENTS_PER_CROWD,
	isDuplicate,
	ownerOf,
	savedEvents,
	type Memory,
	type OnceEvent,
} from './once';
import { checkSignature, isShown } from './signature';
import { postedTo, refuse, CallRefusal, type Posted } from './webhook';

/** The sender waits for an unknown time (docs/service.md, "Callbacks"); 15 s is common. n8n needs a moment to store the execution. */
const ANSWER_WITHIN_MS = 14_000;
const CONFIRM_WITHIN_MS = 12_000;
const DUPLICATE = 'this task and status was received before';
const CROWDED = `this task and status was received with ${EVENTS_PER_CROWD} other references before, and nothing vouches for this one`;

/** Throws a CallRefusal for a URL without the signature that it should have. */
async function checkedClient(context: IWebhookFunctions) {
	const query = context.getQueryData() as Record<string, unknown>;
	const { headers, originalUrl } = context.getRequestObject();
	// The host is a placeholder, as n8n does not know its outside address.
	const url = new URL(originalUrl, 'http://localhost');
	const claimedHosts = [headers.host, headers['x-forwarded-host']]
		.flatMap((value) => value ?? [])
		.map((value) => value.split(',')[0]?.trim() ?? '');
	const ownUrl = context.getNodeWebhookUrl('default');
	const arrival = { path: url.pathname, ownUrl, claimedHosts, at: Date.now() };
	const check = ({ callbackSecret }: Credentials) => checkSignature(callbackSecret, arrival, query);
	const client = await recentClient(context, (credentials) => check(credentials).ok);
	const checked = check(client.credentials);
	if (!checked.ok) throw new CallRefusal(401, checked.reason);
	if (checked.signed) cleanerOf(context).hasUrl(url.href);
	return { client, path: url.pathname, ...checked };
}

/** Throws a CallRefusal where the service says nothing of the task. */
async function confirmed(client: ServiceClient, posted: Posted, answerBy: number) {
	const budgetMs = Math.min(CONFIRM_WITHIN_MS, answerBy - now());
	const said = await confirm(client, posted, budgetMs);
	if (said.kind === 'missing') throw new CallRefusal(404, 'the service does not know this task');
	if (said.kind === 'running' || said.kind === 'done' || said.kind === 'failed') return said;
	throw new CallRefusal(503, 'the service could not be asked about this task, try again');
}

function believed({ taskId, task }: Posted): Verdict {
	if (task === undefined) throw new CallRefusal(400, 'the body is not a task');
	return verdictOf(taskId, task);
}

function ignoredBecause(task: Task, { statuses, types }: TriggerSettings): string | undefined {
	if (task.state === 'running') return `the task is not finished (status "${task.status}")`;
	if (!statuses.includes(task.status)) return `status "${task.status}" is not selected`;
	if (types.length > 0 && !types.includes((task.type ?? '').toLowerCase()))
		return `type "${task.type ?? ''}" is not selected`;
	return undefined;
}

/** Prefers the service's spelling of a posted ID, but keeps the posted one where the service names another. */
function spelled(taskId: string, { id }: Task): string {
	return id?.toLowerCase() === taskId.toLowerCase() ? id : taskId;
}

async function handle(context: IWebhookFunctions, settings: TriggerSettings) {
	const answerBy = now() + ANSWER_WITHIN_MS;
	// The token is checked before the body is read, so that a caller without one learns nothing and costs nothing.
	const { client, path, signed, reference } = await checkedClient(context);
	const posted = await postedTo(context);
	const { taskId } = posted;
	// A forged reference can't take the place of the true one, nor `done` without files that of `done` with them.
	const eventOf = (id: string, { status }: Task, withFiles: boolean) =>
		JSON.stringify([id, status, reference ?? '', withFiles]);
	// Listening in the editor takes one event, and a tester sends the same task again.
	const remembers = settings.deduplicate && context.getMode() !== 'manual';
	const memory: Memory = { owner: ownerOf(context), answerBy };
	if (remembers) memory.saved = savedEvents(context.getWorkflowStaticData('node'));
	// A duplicate costs no request: a task that is over no longer changes.
	if (remembers && posted.task) {
		const name = eventOf(taskId, posted.task, true);
		if (await isDuplicate(memory, { name })) throw new CallRefusal(200, DUPLICATE);
	}
	const verdict = settings.verify ? await confirmed(client, posted, answerBy) : believed(posted);
	const { task } = verdict;
	const ignored = ignoredBecause(task, settings);
	if (ignored !== undefined) throw new CallRefusal(200, ignored);
	const vouched =
		reference === undefined || signed || (settings.verify && isShown(reference, path, task.raw));
	let event: string | undefined;
	if (remembers) {
		// A running task does not come here, except one that is done without a file.
		const withFiles = verdict.kind !== 'running';
		const id = task.id ?? taskId;
		const crowd = vouched ? undefined : JSON.stringify([id, task.status, withFiles]);
		const named: OnceEvent = { name: eventOf(id, task, withFiles), crowd };
		const claimed = await claim(memory, named, context.getResponseObject());
		if (claimed.kind !== 'claimed')
			throw new CallRefusal(200, claimed.kind === 'crowded' ? CROWDED : DUPLICATE);
		event = claimed.key;
	}
	const item = receivedItem({
		task_id: spelled(taskId, task),
		// Other calls that name the same task share this object.
		task: structuredClone(task.raw),
		verified: settings.verify,
		signed,
		event,
		reference,
		reference_verified: vouched,
	});
	// n8n answers with this as soon as it has stored the execution: what was answered 200 can no longer be lost.
	const workflowData = [await cleanItems(context, [item])];
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
