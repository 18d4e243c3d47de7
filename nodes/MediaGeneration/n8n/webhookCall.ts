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

/** The reason why a call starts nothing. With status 200 or 202 nothing is wrong, and the sender need not try again. */
export class CallRefusal extends Error {
	constructor(
		readonly status: number,
		message: string,
		/** `line` is for the log. */
		readonly more: { retryAfterS?: number; line?: string | undefined } = {},
	) {
		super(message);
	}
}

/** Answers a call that failed: if a webhook throws, n8n 2.41 answers 200 and starts the workflow with an empty item. @param call as the log names it */
export function refuse(
	context: IWebhookFunctions,
	call: string,
	error: unknown,
): IWebhookResponseData {
	const { status, message, more } =
		error instanceof CallRefusal
			? error
			: new CallRefusal(503, 'the callback could not be handled, try again', {
					line: `${call} could not be handled: ${messageOf(error)}`,
				});
	const { line, retryAfterS = 5 } = more;
	if (line !== undefined) logOf(context).warn(line);
	const response = context.getResponseObject();
	if (response.headersSent) return { noWebhookResponse: true };
	const isIgnored = status < 300;
	const said = cleanerOf(context).text(message);
	const why = isIgnored ? { ignored: said } : { error: said };
	// A sender that tries again soon would find the same (RFC 9110, 10.2.3).
	if (status === 503) response.setHeader('Retry-After', retryAfterS);
	response.status(status).json({ received: isIgnored, ...why });
	// Without data, no workflow runs.
	return { noWebhookResponse: true };
}
