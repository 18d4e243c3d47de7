/**
 * The one door to the network. Rules that must not regress:
 * - the API key is attached by n8n's credential only, to requests under the base URL only, and no redirect is followed with it;
 * - files are fetched without any credential;
 * - nothing here retries: whoever asks knows what may be sent twice.
 */
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { accountOf, type Account } from './account';
import { apiKeyProblem, baseUrlProblem, callbackSecretProblem, normalizeBaseUrl } from './baseUrl';
import { invalid } from './failures';
import { parseJson } from './json';
import { neverConnected, reasonOf, wasAborted } from './networkError';
import { redactDeep, redactor } from './redact';

export const CREDENTIAL = 'mediaGenerationApi';

export type N8nContext = IExecuteFunctions | IWebhookFunctions;

export interface Answer {
	answered: true;
	status: number;
	headers: Record<string, unknown>;
	/** The parsed JSON, or undefined where the answer was empty, HTML or malformed. */
	body: unknown;
	text: string;
}

export interface NoAnswer {
	answered: false;
	/** False only where the connection was never made, so that nothing can have been carried out. */
	sent: boolean;
	/** Whether trying again soon is pointless: unknown host, bad certificate, refused by n8n's own protection. */
	permanent: boolean;
	aborted: boolean;
	reason: string;
}

export type Reply = Answer | NoAnswer;

export interface ApiRequest {
	method: 'GET' | 'POST';
	/** Begins with a slash; its parts are URL-encoded already. */
	path: string;
	qs?: IDataObject;
	body?: IDataObject;
	/** For one request, in ms. */
	timeoutMs: number;
	/** Where the context has no cancel signal of its own (webhooks). */
	signal?: AbortSignal;
}

export interface Credentials {
	baseUrl: string;
	apiKey: string;
	callbackSecret: string;
}

export interface ServiceClient {
	credentials: Credentials;
	account: Account;
	send(request: ApiRequest): Promise<Reply>;
	/** Replaces the key and the callback secret in a text that comes from outside. */
	redact(text: string): string;
}

/** Reads and checks the credential. Throws an `invalid` failure in words before anything is sent. */
export async function readCredentials(context: N8nContext): Promise<Credentials> {
	const data = await context.getCredentials(CREDENTIAL);
	const problem =
		baseUrlProblem(data.baseUrl) ??
		apiKeyProblem(data.apiKey) ??
		callbackSecretProblem(data.callbackSecret);
	if (problem !== undefined) {
		throw invalid(
			problem,
			'Open the Media Generation API credential of this node and correct it. Nothing was sent.',
		);
	}
	return {
		baseUrl: normalizeBaseUrl(data.baseUrl as string),
		apiKey: data.apiKey as string,
		callbackSecret: typeof data.callbackSecret === 'string' ? data.callbackSecret : '',
	};
}

export async function createClient(context: N8nContext): Promise<ServiceClient> {
	const credentials = await readCredentials(context);
	const redact = redactor(credentials);

	async function send(request: ApiRequest): Promise<Reply> {
		const options: IHttpRequestOptions = {
			method: request.method,
			url: credentials.baseUrl + request.path,
			qs: request.qs,
			body: request.body,
			headers: {
				Accept: 'application/json',
				...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
			},
			encoding: 'text',
			timeout: Math.max(1, Math.ceil(request.timeoutMs)),
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			// A redirect would carry the bearer token to wherever it points.
			disableFollowRedirect: true,
			...(request.signal === undefined ? {} : { abortSignal: request.signal }),
		};
		try {
			const response = (await context.helpers.httpRequestWithAuthentication.call(
				context,
				CREDENTIAL,
				options,
			)) as { statusCode: number; headers: Record<string, unknown>; body: unknown };
			const text = typeof response.body === 'string' ? response.body : '';
			return {
				answered: true,
				status: response.statusCode,
				headers: response.headers,
				body: redactDeep(parseJson(text), credentials),
				text: redact(text),
			};
		} catch (error) {
			const { never, permanent } = neverConnected(error);
			return {
				answered: false,
				sent: !never,
				permanent,
				aborted: wasAborted(error),
				reason: redact(reasonOf(error)),
			};
		}
	}

	return { credentials, account: accountOf(credentials.baseUrl, credentials.apiKey), send, redact };
}
