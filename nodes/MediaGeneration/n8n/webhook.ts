/** Reads what n8n hands to a webhook, and answers in its place. */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { isObject } from '../base/json';

type CallRequest = ReturnType<IWebhookFunctions['getRequestObject']> & {
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
};

/** n8n 2.41 does not read a body whose type it does not know. A body that can't be read counts as missing. */
export async function callBody(
	context: IWebhookFunctions,
): Promise<{ raw: Buffer | undefined; parsed: unknown }> {
	const request = context.getRequestObject() as CallRequest;
	const parsed: unknown = context.getBodyData();
	if (request.rawBody === undefined && !(isObject(parsed) && Object.keys(parsed).length > 0))
		await request.readRawBody?.().catch(() => undefined);
	return { raw: request.rawBody, parsed };
}

/** n8n itself would answer 200 whatever happened. No workflow runs unless the caller adds data to this. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}
