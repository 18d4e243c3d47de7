/** Reads a call that may wake an execution: which sleep it is for, and what the caller says about its tasks. */
import type { INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { isSameId } from '../answers/task';
import { isObject, parseJson } from '../base/json';
import type { Failure } from '../base/outcomes';
import { cleanerOf } from '../n8n/clean';
import { CallRefusal } from '../n8n/webhookCall';
import { webhookClient } from '../transport/client';
import { postedTo } from '../trigger/webhook';
import type { Reported } from './ends';
import { notesReference, readNotes, tasksIn, type Notes, type Sleep } from './notes';
import { resumeUrlOf } from './resumeUrl';

/** A sleep as n8n had stored it when the call came in. */
export interface StoredSleep extends Sleep {
	context: IWebhookFunctions;
	items: INodeExecutionData[];
	notes: Notes;
}

export interface WakingCall {
	sleep: StoredSleep;
	reported: Reported;
}

const elsewhere = () => new CallRefusal(404, 'no task is waited for here');

/** Reads texts, because n8n's isolated engine copies objects field by field. Throws a CallRefusal if the execution does not sleep on this node. */
function readStoredSleep(context: IWebhookFunctions) {
	const all = context.evaluateExpression(
		`{{ [JSON.stringify($input.all()), ${notesReference(context.getNode().name)}, $execution.resumeUrl] }}`,
	) as unknown;
	const [kept, noted, url] = Array.isArray(all) ? (all as unknown[]) : [];
	const notes = readNotes(noted);
	const items = typeof kept === 'string' ? parseJson(kept) : undefined;
	const resumeUrl = resumeUrlOf(url);
	const isHere = notes !== undefined && Array.isArray(items) && notes.items.length === items.length;
	if (!isHere || resumeUrl === undefined) throw elsewhere();
	return { notes, items: items as INodeExecutionData[], resumeUrl };
}

/** Throws a CallRefusal if the call is answered without waking anything. */
export async function readWakingCall(context: IWebhookFunctions): Promise<WakingCall> {
	const { taskId, task } = await postedTo(context);
	const stored = readStoredSleep(context);
	const { id } = stored.notes;
	const given: unknown = context.getBodyData();
	const body = isObject(given) ? given : {};
	const isOwn = body.sleep_id === id;
	if (body.asks === true) throw isOwn ? new CallRefusal(202, 'it still sleeps') : elsewhere();
	const tasks = tasksIn(stored.notes);
	const named = tasks.find((each) => isSameId(each.taskId, taskId));
	if (named === undefined) throw new CallRefusal(200, 'the task does not belong to this execution');
	const client = await webhookClient(context);
	cleanerOf(context).hasUrl(stored.resumeUrl);
	const givenUp = isOwn && Array.isArray(body.given_up) ? (body.given_up as Failure[]) : [];
	return {
		sleep: { id, tasks, context, client, ...stored },
		reported: { taskId: named.taskId, saysFailed: task?.state === 'failed', givenUp },
	};
}
