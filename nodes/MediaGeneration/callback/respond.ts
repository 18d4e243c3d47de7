/** The one way to answer a webhook: a handler returns what n8n is to do, or throws a refusal. */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { cleanerOf, logOf } from '../service/clean';

/** A call that is answered with a status other than 2xx, and starts nothing. */
export class Refusal extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
		this.name = 'Refusal';
	}
}

/** Answers in place of n8n, which would answer 200 whatever happened. No workflow runs unless the caller adds data to this. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	body: IDataObject,
): IWebhookResponseData {
	context.getResponseObject().status(status).json(body);
	return { noWebhookResponse: true };
}

/**
 * Answers a call with what the handler returns, with its {@link Refusal}, or, whatever else went wrong, with 503. Never
 * rejects: where a webhook throws, n8n starts the workflow with an empty item.
 *
 * @param call names the call in the log, e.g. "a callback"
 */
export async function respond(
	context: IWebhookFunctions,
	call: string,
	handle: () => Promise<IWebhookResponseData>,
): Promise<IWebhookResponseData> {
	try {
		return await handle();
	} catch (error) {
		const refusal =
			error instanceof Refusal
				? error
				: new Refusal(503, 'the callback could not be handled, try again');
		if (refusal !== error) {
			const reason =
				error instanceof Error ? cleanerOf(context).text(error.message) : 'unknown reason';
			logOf(context).warn(`Media Generation: ${call} could not be handled: ${reason}`);
		}
		if (context.getResponseObject().headersSent) return { noWebhookResponse: true };
		return answer(context, refusal.status, { received: false, error: refusal.message });
	}
}
