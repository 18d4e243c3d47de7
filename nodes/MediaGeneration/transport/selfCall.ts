/** Calls this n8n itself: the webhooks that wake its executions, and those that it publishes. */
import type { IDataObject, IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';
import type { N8nContext } from '../n8n/execution';
import { requestWithin, type RawResponse } from './requestWithin';

/** Makes a request to this n8n itself, without any credential. */
async function askSelf(context: N8nContext, options: IHttpRequestOptions, timeoutMs: number) {
	return await requestWithin(options, { timeoutMs }, async (limited) => {
		return (await context.helpers.httpRequest(limited)) as RawResponse;
	});
}

/** Asks for which methods a webhook of this n8n is published, by a CORS preflight, which starts nothing. Undefined if unknown. */
export async function publishedMethods(
	context: N8nContext,
	url: string,
): Promise<string | undefined> {
	const method = 'OPTIONS' as string as IHttpRequestMethods;
	const headers = { Origin: new URL(url).origin };
	const response = await askSelf(context, { method, url, headers }, 3_000);
	if ('answered' in response) return undefined;
	const methods = response.headers['access-control-allow-methods'];
	return typeof methods === 'string' && methods.startsWith('OPTIONS') ? methods : undefined;
}

/** What this n8n answers to a call of this process. */
export type SelfReply =
	{ status: number; body: unknown; location: unknown } | { status: undefined; reason: string };

export async function callSelf(
	context: N8nContext,
	{ timeoutMs = 20_000, ...call }: { url: string; body: IDataObject; timeoutMs?: number },
): Promise<SelfReply> {
	const options = { method: 'POST', ...call, json: true } as const;
	const response = await askSelf(context, options, timeoutMs);
	if ('answered' in response) return { status: undefined, reason: response.reason };
	const { statusCode, body: said, headers } = response;
	return { status: statusCode, body: said, location: headers.location };
}
