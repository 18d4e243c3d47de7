/** Reads what n8n hands to a webhook, and what it answers. */
import type { IWebhookFunctions } from 'n8n-workflow';
import { pause } from './realClock';

type CallRequest = ReturnType<IWebhookFunctions['getRequestObject']> & {
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
};

/** n8n 2.41 does not read every type of body by itself. A body that can't be read counts as missing. */
export async function rawBodyOf(context: IWebhookFunctions): Promise<Buffer | undefined> {
	const request = context.getRequestObject() as CallRequest;
	if (request.rawBody === undefined) await request.readRawBody?.().catch(() => undefined);
	return request.rawBody;
}

/** Returns the status that n8n answers once it has stored what it was handed, or failed to; undefined if the caller heard or waited for none. */
export async function answeredStatus(
	response: ReturnType<IWebhookFunctions['getResponseObject']>,
): Promise<number | undefined> {
	const isAwaited = !response.headersSent && !response.destroyed;
	if (isAwaited) await new Promise<void>((resolve) => response.once('close', () => resolve()));
	if (isAwaited && response.writableEnded) return response.statusCode;
	// By then n8n has mostly stored it, or has failed to.
	await pause(2_000);
	return undefined;
}
