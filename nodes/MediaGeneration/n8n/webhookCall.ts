/** Reads what n8n hands to a webhook, and what it answers; refuses a call in words. */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { messageOf } from '../base/outcomes';
import { cleanerOf } from './clean';
import { logOf } from './log';
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

/** Returns the status that n8n answers once it has stored what it was handed, or could not store it; undefined if the caller had its answer before, or has hung up. */
export async function answeredStatus(
	response: ReturnType<IWebhookFunctions['getResponseObject']>,
): Promise<number | undefined> {
	const isAwaited = !response.headersSent && !response.destroyed;
	if (isAwaited) await new Promise<void>((resolve) => response.once('close', () => resolve()));
	if (isAwaited && response.writableEnded) return response.statusCode;
	// By then n8n has mostly stored it.
	await pause(2_000);
	return undefined;
}

/** The reason why a call starts nothing. With status 200 or 202 nothing is wrong, and the sender need not try again. */
export class CallRefusal extends Error {
	/** @param retryAfterS sent with a 503: a sender that tries again soon would find the same (RFC 9110, 10.2.3) */
	constructor(
		readonly status: number,
		message: string,
		readonly retryAfterS = 5,
	) {
		super(message);
	}
}

/** Answers a call that threw: if a webhook throws, n8n 2.41 answers 200 and starts the workflow with an empty item. @param call as the log names it */
export function refuse(
	context: IWebhookFunctions,
	call: string,
	error: unknown,
): IWebhookResponseData {
	if (error instanceof CallRefusal) return answerRefusal(context, error);
	logOf(context).warn(`${call} could not be handled: ${messageOf(error)}`);
	const unexpected = new CallRefusal(503, 'the callback could not be handled, try again');
	return answerRefusal(context, unexpected);
}

/** Does nothing if the call has been answered. */
export function answerRefusal(
	context: IWebhookFunctions,
	{ status, message, retryAfterS }: CallRefusal,
): IWebhookResponseData {
	const response = context.getResponseObject();
	if (!response.headersSent) {
		const received = status < 300;
		const why = { [received ? 'ignored' : 'error']: cleanerOf(context).text(message) };
		if (status === 503) response.setHeader('Retry-After', retryAfterS);
		response.status(status).json({ received, ...why });
	}
	// Without data, no workflow runs.
	return { noWebhookResponse: true };
}
