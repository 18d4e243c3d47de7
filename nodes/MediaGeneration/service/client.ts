/**
 * The one door to the service: the key is attached by n8n's credential only, nothing here retries, every request ends within its
 * time, however slowly its answer drips, and what an answer says of throttling is learned here. Files: `fileHost.ts`.
 */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { accountOf, type Account, type Purpose } from './account';
import { apiKeyProblem, baseUrlProblem, callbackSecretProblem, normalizeBaseUrl } from './baseUrl';
import { ANSWER, readJson, readText } from './bounded';
import { BoundedMap } from './boundedMap';
import { cleanerOf } from './clean';
import { timeLimit, untilAborted } from './clock';
import { invalid } from './failures';
import { isObject } from './json';
import { connectionOf, reasonOf, type Connection } from './networkError';

const CREDENTIAL = 'mediaGenerationApi';

export type N8nContext = IExecuteFunctions | IWebhookFunctions;
/** Also where the editor asks for a list. */
export type RequestContext = N8nContext | ILoadOptionsFunctions;

export interface Answer {
	answered: true;
	status: number;
	headers: Record<string, unknown>;
	/** The parsed JSON, or undefined where the answer was empty, HTML, malformed or beyond its bound. */
	body: unknown;
	/** Of an answer beyond its bound only the beginning. */
	text: string;
	/** Why there is no body; reads on from "an answer". */
	unread?: string;
}

export interface NoAnswer {
	answered: false;
	/** Only what is `unanswered` can have reached the service. */
	kind: Connection;
	reason: string;
}

export type Reply = Answer | NoAnswer;

export interface ApiRequest {
	method: 'GET' | 'POST';
	/** Begins with a slash; its parts are URL-encoded already. */
	path: string;
	qs?: IDataObject;
	body?: IDataObject;
	purpose: Purpose;
	/** From the request to the last byte of its answer. */
	timeoutMs: number;
	/** Gives the request up. A creation has none: giving up its answer may lose a task that is paid for. */
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
}

interface Read {
	credentials: Credentials;
	data: ICredentialDataDecryptedObject;
}

/** Throws an `invalid` failure in words before anything is sent. */
async function readCredentials(context: RequestContext): Promise<Read> {
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
	const credentials = {
		baseUrl: normalizeBaseUrl(data.baseUrl as string),
		apiKey: data.apiKey as string,
		callbackSecret: typeof data.callbackSecret === 'string' ? data.callbackSecret : '',
	};
	return { credentials, data };
}

/** n8n's helper gives every request the execution's own signal; this context hands it the request's instead. */
function withSignal<T extends RequestContext>(context: T, signal: AbortSignal): T {
	return Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as T;
}

interface RawResponse<Body = unknown> {
	statusCode: number;
	headers: Record<string, unknown>;
	body: Body;
}

/** One request within its time. Never rejects. */
async function exchange<Body>(
	context: RequestContext,
	options: IHttpRequestOptions,
	{ timeoutMs, signal: outer }: { timeoutMs: number; signal?: AbortSignal },
	request: (context: RequestContext, options: IHttpRequestOptions) => Promise<RawResponse<Body>>,
): Promise<RawResponse<Body> | NoAnswer> {
	const limit = timeLimit(timeoutMs, outer);
	const over = untilAborted(limit.signal);
	const unanswered = (reason: string, kind: Connection = 'unanswered'): NoAnswer => {
		const late = `no whole answer within ${Math.max(1, Math.round(timeoutMs / 1000))} s`;
		return { answered: false, kind, reason: limit.timedOut() ? late : reason };
	};
	try {
		const sent = request(withSignal(context, limit.signal), {
			...options,
			// Idle time, in case the abort below is not heard.
			timeout: Math.max(1, Math.ceil(timeoutMs)),
			abortSignal: limit.signal,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			// A redirect would carry the bearer token to wherever it points.
			disableFollowRedirect: true,
		});
		const response = await Promise.race([sent, over.promise]);
		if (response !== undefined) return response;
		// A helper that does not hear the abort is not waited for.
		sent.catch(() => undefined);
		return unanswered('the request was given up');
	} catch (error) {
		return unanswered(reasonOf(error), connectionOf(error));
	} finally {
		over.forget();
		limit.end();
	}
}

export async function createClient(context: RequestContext): Promise<ServiceClient> {
	const { credentials } = await readCredentials(context);
	return clientOf(context, credentials);
}

/** For how long webhooks go by what was read of a credential: n8n takes longer to read it than for the rest of a callback. */
const RECENT_MS = 5_000;
/** By workflow, node and credential. Forgotten after that time, as keys are not kept. */
const recent = new BoundedMap<string, Read>(200);

/**
 * As {@link createClient}, for webhooks, which are called many times a second: by what was read of the credential up to 5 s ago. n8n signs
 * with that, too, what is sent in these 5 s; later it reads the credential for each request. While the editor listens nothing is kept.
 *
 * @param fits whether what was kept will do; otherwise it is read again
 */
export async function recentClient(
	context: N8nContext,
	fits: (credentials: Credentials) => boolean = () => true,
): Promise<ServiceClient> {
	const { id: nodeId, credentials: used } = context.getNode();
	const { id, name } = used?.[CREDENTIAL] ?? {};
	const key = JSON.stringify([context.getWorkflow().id, nodeId, id]);
	const isKept = (read: Read) => recent.get(key) === read;
	const client = (read: Read) =>
		clientOf(context, read.credentials, () =>
			isKept(read)
				? { id: id ?? '', name: name ?? '', type: CREDENTIAL, data: { ...read.data } }
				: undefined,
		);
	const kept = recent.get(key);
	if (kept !== undefined && context.getMode() !== 'manual' && fits(kept.credentials))
		return client(kept);
	const read = await readCredentials(context);
	recent.set(key, read);
	const forget = () => {
		if (isKept(read)) recent.delete(key);
	};
	AbortSignal.timeout(RECENT_MS).addEventListener('abort', forget, { once: true });
	return client(read);
}

/** @param decrypted what n8n signs a request with; where it is undefined, n8n reads the credential for it */
function clientOf(
	context: RequestContext,
	credentials: Credentials,
	decrypted: () => ICredentialsDecrypted | undefined = () => undefined,
): ServiceClient {
	const account = accountOf(credentials.baseUrl, credentials.apiKey);
	const cleaner = cleanerOf(context);
	cleaner.knows(credentials);

	async function send(request: ApiRequest): Promise<Reply> {
		cleaner.hasSent(request.body?.receive_url);
		const options: IHttpRequestOptions = {
			method: request.method,
			url: credentials.baseUrl + request.path,
			qs: request.qs,
			body: request.body,
			headers: {
				Accept: 'application/json',
				...(request.body === undefined ? {} : { 'Content-Type': 'application/json' }),
			},
			encoding: 'stream',
		};
		const response = await exchange(context, options, request, async (limited, limitedOptions) => {
			const response = (await context.helpers.httpRequestWithAuthentication.call(
				limited,
				CREDENTIAL,
				limitedOptions,
				{ credentialsDecrypted: decrypted() },
			)) as RawResponse;
			const { text, whole } = await readText(response.body);
			// Before it is parsed, so that no escape hides the key.
			return { ...response, body: { text: cleaner.key(text), whole } };
		});
		if ('answered' in response) return { ...response, reason: cleaner.text(response.reason) };
		const { statusCode: status, headers, body: sent } = response;
		const read = readJson(sent.text, ANSWER, sent.whole);
		const reply: Answer = {
			answered: true,
			status,
			headers,
			body: read.kind === 'json' ? read.value : undefined,
			text: sent.text,
			...(read.kind === 'beyondBound' ? { unread: read.reason } : {}),
		};
		account.learn(request.purpose, reply);
		return reply;
	}

	return { credentials, account, send };
}

/**
 * The methods that a webhook of this n8n is published for, by a CORS preflight: n8n answers it itself and starts nothing. Undefined
 * where it can't be seen.
 */
export async function publishedMethods(
	context: N8nContext,
	url: string,
): Promise<string | undefined> {
	const method = 'OPTIONS' as string as IHttpRequestMethods;
	const response = await exchange(
		context,
		{ method, url, headers: { Origin: new URL(url).origin } },
		{ timeoutMs: PREFLIGHT_TIMEOUT_MS },
		async (_limited, options) => (await context.helpers.httpRequest(options)) as RawResponse,
	);
	if ('answered' in response) return undefined;
	const methods = response.headers['access-control-allow-methods'];
	return typeof methods === 'string' && methods.startsWith('OPTIONS') ? methods : undefined;
}

const PREFLIGHT_TIMEOUT_MS = 3_000;
const SELF_CALL_TIMEOUT_MS = 20_000;

/** A call of this n8n to an address of its own, without any credential. The status, or why there is none. */
export async function callSelf(
	context: N8nContext,
	url: string,
	body: IDataObject,
): Promise<{ status: number; body: unknown } | { status: undefined; reason: string }> {
	const response = await exchange(
		context,
		{ method: 'POST', url, body, json: true },
		{ timeoutMs: SELF_CALL_TIMEOUT_MS },
		async (_limited, limitedOptions) =>
			(await context.helpers.httpRequest(limitedOptions)) as RawResponse,
	);
	if ('answered' in response) return { status: undefined, reason: response.reason };
	const { body: answered } = response;
	return { status: response.statusCode, body: isObject(answered) ? answered : undefined };
}
