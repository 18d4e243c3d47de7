/**
 * The trigger's webhook: check, confirm, answer (docs/trigger.md, "What it answers"). The files are fetched afterwards, by
 * `deliverReceived.ts`.
 */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import type { TriggerSettings } from '../operations/trigger';
import { recentClient, type Credentials, type ServiceClient } from '../service/client';
import { cleanerOf, cleanItems } from '../service/clean';
import { pause } from '../service/clock';
import { parseTask, type Task } from '../service/task';
import { verdictOf, type Verdict } from '../service/verdict';
import { postedTo } from './body';
import { confirm, VERIFY_BUDGET_MS } from './confirm';
import { receivedItem } from './deliverReceived';
import { claim, stateOf, type Memory } from './once';
import { answer, Refusal, respond } from './respond';
import { checkSignature, type Arrival } from './signature';

/** How long the sender waits is not known (docs/service.md, "Callbacks"); 15 s is common. n8n needs a moment to store the execution. */
const ANSWER_WITHIN_MS = 14_000;
/** How long a copy waits for the answer to the call before it. */
const HOLDER_PATIENCE_MS = 3_000;
const DUPLICATE = 'this task and status was received before';

interface Call {
	context: IWebhookFunctions;
	client: ServiceClient;
	/** What tells duplicates apart; undefined where nothing counts as one. */
	memory: Memory | undefined;
	reference: string | undefined;
	/** Epoch ms. */
	answerBy: number;
}

function patienceOf({ answerBy }: Call): () => Promise<void> {
	return async () => await pause(Math.max(0, Math.min(HOLDER_PATIENCE_MS, answerBy - Date.now())));
}

/** The URL that was called, with a placeholder for its host: n8n does not know its outside address. */
function urlOf(context: IWebhookFunctions): URL {
	return new URL(context.getRequestObject().originalUrl, 'http://localhost');
}

function arrivalOf(context: IWebhookFunctions): Arrival {
	const { headers } = context.getRequestObject();
	const saidHosts = [headers.host, headers['x-forwarded-host']]
		.flatMap((value) => value ?? [])
		.map((value) => value.split(',')[0]?.trim() ?? '');
	return { path: urlOf(context).pathname, ownUrl: context.getNodeWebhookUrl('default'), saidHosts };
}

/** The client of a call to a URL that is signed where it should be, and its reference. Otherwise throws a Refusal. */
async function checkedClient(context: IWebhookFunctions) {
	const query = context.getQueryData() as Record<string, unknown>;
	const check = ({ callbackSecret }: Credentials) =>
		checkSignature(callbackSecret, arrivalOf(context), query, Date.now());
	const client = await recentClient(context, (credentials) => check(credentials).ok);
	const checked = check(client.credentials);
	if (!checked.ok) throw new Refusal(401, checked.reason);
	if (checked.signed) cleanerOf(context).hasSent(urlOf(context).href);
	return { client, ...checked };
}

/** What the service itself says of the task. Throws a Refusal where it says nothing. */
async function confirmed(
	{ client, answerBy }: Call,
	taskId: string,
	claimed: Task | undefined,
): Promise<Verdict> {
	const claim = { taskId, type: claimed?.type, over: claimed?.state !== 'running' };
	const verdict = await confirm(client, claim, Math.min(VERIFY_BUDGET_MS, answerBy - Date.now()));
	if (verdict.kind === 'unknown') throw new Refusal(404, 'the service does not know this task');
	if (verdict.kind === 'unavailable')
		throw new Refusal(503, 'the service could not be asked about this task, try again');
	return verdict;
}

/** Why a task does not run the workflow, or undefined. */
function ignoredBecause(task: Task, { statuses, types }: TriggerSettings): string | undefined {
	if (task.state === 'running') return `the task is not finished (status "${task.status}")`;
	if (!statuses.includes(task.status)) return `status "${task.status}" is not selected`;
	if (types.length > 0 && !types.includes((task.type ?? '').toLowerCase()))
		return `type "${task.type ?? ''}" is not selected`;
	return undefined;
}

/**
 * Undefined where nothing counts as a duplicate: with Deduplicate off, and while the editor listens, as listening takes a
 * single event, and a tester wants to send the same task again.
 */
function memoryOf(context: IWebhookFunctions, settings: TriggerSettings): Memory | undefined {
	if (!settings.deduplicate || context.getMode() === 'manual') return undefined;
	return {
		trigger: `${context.getWorkflow().id ?? ''}:${context.getNode().id}`,
		staticData: context.getWorkflowStaticData('node'),
	};
}

/**
 * What counts as the same event: a task in the service's own spelling, its status and the reference, so that a forged
 * reference can't take the place of the true one. `done` without files is not the same as with them.
 */
function eventOf({ reference }: Call, taskId: string, status: string, withFiles: boolean): string {
	return JSON.stringify([taskId, status, reference ?? '', withFiles]);
}

/** Whether an event was let through before. Throws a Refusal while it is being handled and may still fail. */
function isOld(state: 'new' | 'mine' | 'duplicate' | 'busy'): boolean {
	if (state === 'busy') throw new Refusal(503, 'this callback is being handled already, try again');
	return state === 'duplicate';
}

/** For a copy of what was let through the service need not be asked: a task that is over no longer changes. */
async function isCopy(call: Call, taskId: string, claimed: Task | undefined): Promise<boolean> {
	const { memory } = call;
	if (memory === undefined || claimed === undefined) return false;
	const event = eventOf(call, taskId, claimed.status, true);
	return isOld(await stateOf(memory, event, patienceOf(call)));
}

/** Claims the event for this call; false for a duplicate. */
async function claimed(call: Call, postedId: string, { kind, task }: Verdict): Promise<boolean> {
	const { memory, context } = call;
	if (memory === undefined) return true;
	// What still runs does not come here, but a task that is done without a file.
	const withFiles = kind !== 'running';
	const event = eventOf(call, task.id ?? postedId, task.status, withFiles);
	return !isOld(await claim(memory, event, context.getResponseObject(), patienceOf(call)));
}

function answerIgnored({ context }: Call, ignored: string): IWebhookResponseData {
	return answer(context, 200, { received: true, ignored });
}

/** The service's spelling of an ID that was posted; what was posted, where the service has a different one. */
function spelled(taskId: string, { id }: Task): string {
	return id?.toLowerCase() === taskId.toLowerCase() ? id : taskId;
}

async function handle(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	const answerBy = Date.now() + ANSWER_WITHIN_MS;
	// The token is checked before the body is read, so that a caller without one learns nothing and costs nothing.
	const { client, signed, reference } = await checkedClient(context);
	const posted = await postedTo(context);
	if (!posted.ok) throw new Refusal(400, posted.reason);

	const { taskId } = posted;
	const call: Call = { context, client, memory: memoryOf(context, settings), reference, answerBy };
	const said = parseTask(posted.body);
	if (await isCopy(call, taskId, said)) return answerIgnored(call, DUPLICATE);
	if (!settings.verify && said === undefined) throw new Refusal(400, 'the body is not a task');
	const verdict =
		settings.verify || said === undefined
			? await confirmed(call, taskId, said)
			: verdictOf(taskId, said);
	const { task } = verdict;
	const ignored = ignoredBecause(task, settings);
	if (ignored !== undefined) return answerIgnored(call, ignored);
	if (!(await claimed(call, taskId, verdict))) return answerIgnored(call, DUPLICATE);
	const item = receivedItem({
		task_id: spelled(taskId, task),
		task: task.raw,
		verified: settings.verify,
		signed,
		reference,
	});
	// n8n answers with this as soon as it has stored the execution: what was answered 200 can no longer be lost.
	return { webhookResponse: { received: true }, workflowData: [cleanItems(context, [item])] };
}

/** Handles one callback. Never rejects: every refusal is an answer. */
export async function receive(
	context: IWebhookFunctions,
	settings: TriggerSettings,
): Promise<IWebhookResponseData> {
	return await respond(context, 'a callback', async () => await handle(context, settings));
}
