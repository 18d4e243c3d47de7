/** The URL that wakes a sleeping execution: the webhook behind it, and who may call it. */
import type { INodeTypeDescription } from 'n8n-workflow';
import { urlOf } from '../base/url';

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
