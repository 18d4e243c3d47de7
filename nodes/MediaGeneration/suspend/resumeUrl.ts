/** The URL that wakes a sleeping execution: the webhook behind it, who may call it, and what the editor shows of it. */
import type { INodeTypeDescription } from 'n8n-workflow';
import { uriEncoded, urlOf } from '../base/url';
import { inHtml } from '../n8n/editor';
import type { WaitingTask } from './notes';

/** The last part of the URL that wakes an execution. n8n calls only the sleeping node, so all nodes can share it, even those without an ID. */
export const WEBHOOK_PATH = 'media-generation';

/** The webhook that wakes a sleeping execution. It stands here because n8n's lint takes one in the node's file for a trigger's. */
export const resumeWebhooks: INodeTypeDescription['webhooks'] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		responseData: '',
		path: WEBHOOK_PATH,
		isFullPath: true,
		restartWebhook: true,
	},
];

/**
 * Returns the URL that wakes an execution; undefined without n8n's token (n8n 2.14 and newer), because anyone could wake it then.
 * @param given value of `$execution.resumeUrl`
 */
export function resumeUrlOf(given: unknown): string | undefined {
	const url = urlOf(given);
	if (url === undefined) return undefined;
	url.pathname += `/${WEBHOOK_PATH}`;
	return url.searchParams.has('signature') ? url.href : undefined;
}

/** Picks at most 50 tasks for callbacks, evenly spread, because n8n loads all of the execution for each callback. @param index from 0 */
export function isCalledBack(index: number, count: number): boolean {
	const picked = (until: number) => Math.floor((until * Math.min(50, count)) / count);
	return picked(index + 1) > picked(index);
}

/** Writes what {@link waitingTooltip} shows as the fragment of a URL, which is sent nowhere. @param until epoch ms */
export function tooltipFragment(tasks: readonly WaitingTask[], until: number): string {
	const ids = tasks.slice(0, 3).map(({ taskId }) => taskId);
	const which = [...ids, ...(tasks.length > 3 ? ['...'] : [])].join(', ');
	const subject = tasks.length === 1 ? 'its task has' : `its ${tasks.length} tasks have`;
	return `#${until}:${uriEncoded(`${subject} finished (${inHtml(which)})`)}`;
}

/** What the editor shows at a node whose execution sleeps. It sees only the resume URL in the run's metadata. The time is in the reader's zone. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + decodeURIComponent(found[2]) + ", or until " + new Date(Number(found[1])).toLocaleString() + " at the latest"
	: "Asleep until its tasks have finished")(/#(\\d+):(.*)$/.exec($execution.resumeUrl)) }}`;
