/**
 * The one door to the service: the key is attached by n8n's credential only, nothing here retries, every request ends within its
 * time, however slowly its answer drips, and what an answer says of throttling is learned here.
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
import { credentialProblem, normalizeBaseUrl } from './baseUrl';
import { ANSWER, readJson, readText } from './bounded';
import { BoundedMap } from './boundedMap';
import { cleanerOf } from './clean';
import { now, timeLimit } from './clock';
import { invalid } from './failures';
import { isObject } from './json';
import { connectionOf, reasonOf, type Connection } from './networkError';

const CREDENTIAL = 'mediaGenerationApi';

export type N8nContext = IExecuteFunctions | IWebhookFunctions;
/** Also where the editor asks for a list. */
type RequestContext = N8nContext | ILoadOptionsFunctions;

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
	/** Epoch ms. */
	readAt: number;
}

/** For how long requests are signed with what was read of a credential: n8n takes longer to read it than for the rest of a request. */
const RECENT_MS = 5_000;

/** Throws an `invalid` failure in words before anything is sent. */
async function readCredentials(context: RequestContext): Promise<Read> {
	const data = await context.getCredentials(CREDENTIAL);
	const problem = credentialProblem(data);
	if (problem !== undefined)
		throw invalid(
			problem,
			'Open the Media Generation API credential of this node and correct it. Nothing was sent.',
		);
	const credentials = {
		baseUrl: normalizeBaseUrl(data.baseUrl as string),
		apiKey: data.apiKey as string,
		callbackSecret: (data.callbackSecret ?? '') as string,
	};
	return { credentials, data, readAt: now() };
}

interface RawResponse<Body = unknown> {
	statusCode: number;
	headers: Record<string, unknown>;
	body: Body;
}

/** One request within its time. Never rejects. */
async function exchange<Body>(
	options: IHttpRequestOptions,
	{ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
	request: (options: IHttpRequestOptions, signal: AbortSignal) => Promise<RawResponse<Body>>,
): Promise<RawResponse<Body> | NoAnswer> {
	const limit = timeLimit(timeoutMs, signal);
	const unanswered = (reason: string, kind: Connection = 'unanswered'): NoAnswer => {
		const late = `no whole answer within ${Math.max(1, Math.round(timeoutMs / 1000))} s`;
		return { answered: false, kind, reason: limit.timedOut() ? late : reason };
	};
	try {
		const limited = {
			...options,
			// Idle time, in case the abort below is not heard.
			timeout: Math.max(1, Math.ceil(timeoutMs)),
			abortSignal: limit.signal,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			// A redirect would carry the bearer token to wherever it points.
			disableFollowRedirect: true,
		};
		const sent = request(limited, limit.signal);
		const response = await Promise.race([sent, limit.over]);
		if (response !== undefined) return response;
		// A helper that does not hear the abort is not waited for.
		sent.catch(() => undefined);
		return unanswered('the request was given up');
	} catch (error) {
		return unanswered(reasonOf(error), connectionOf(error));
	} finally {
		limit.end();
	}
}

export async function createClient(context: RequestContext): Promise<ServiceClient> {
	return clientOf(context, await readCredentials(context));
}

/** By workflow, node and credential. Forgotten when it is no longer recent, as keys are not kept. */
const recent = new BoundedMap<string, Read>(200);

async function readAndKeep(context: N8nContext, key: string): Promise<Read> {
	const read = await readCredentials(context);
	recent.set(key, read);
	const forget = () => {
		if (recent.get(key) === read) recent.delete(key);
	};
	AbortSignal.timeout(RECENT_MS).addEventListener('abort', forget, { once: true });
	return read;
}

/**
 * As {@link createClient}, for webhooks, which are called many times a second: by what was read of the credential a moment ago. While the
 * editor listens nothing is kept.
 *
 * @param fits whether what was kept will do; otherwise it is read again
 */
export async function recentClient(
	context: N8nContext,
	fits: (credentials: Credentials) => boolean = () => true,
): Promise<ServiceClient> {
	const { id: nodeId, credentials: used } = context.getNode();
	const key = JSON.stringify([context.getWorkflow().id, nodeId, used?.[CREDENTIAL]?.id]);
	const kept = context.getMode() === 'manual' ? undefined : recent.get(key);
	const isFit = kept !== undefined && fits(kept.credentials);
	return clientOf(context, isFit ? kept : await readAndKeep(context, key));
}

/** What has become of a credential since it was read. A key that came with another address is never sent to the first one. */
async function readAgain(context: RequestContext, first: Read): Promise<Read> {
	const read = await readCredentials(context);
	cleanerOf(context).knows(read.credentials);
	return read.credentials.baseUrl === first.credentials.baseUrl ? read : first;
}

/** What n8n signs requests with: read again where it is not recent. Where that fails, n8n itself reads it, and says why. */
function signer(context: RequestContext, first: Read) {
	let [latest, latestAt] = [Promise.resolve(first), first.readAt];
	return async (): Promise<ICredentialsDecrypted | undefined> => {
		if (now() - latestAt >= RECENT_MS) {
			latestAt = now();
			latest = readAgain(context, first);
		}
		const read = await latest.catch(() => undefined);
		return read && { id: '', name: '', type: CREDENTIAL, data: { ...read.data } };
	};
}

function clientOf(context: RequestContext, read: Read): ServiceClient {
	const { credentials } = read;
	const signedWith = signer(context, read);
	const account = accountOf(credentials.baseUrl, credentials.apiKey);
	const cleaner = cleanerOf(context);
	cleaner.knows(credentials);

	async function send({ path, purpose, method, qs, body, ...within }: ApiRequest): Promise<Reply> {
		cleaner.hasSent(body?.receive_url);
		const sent = body === undefined ? {} : { 'Content-Type': 'application/json' };
		const headers = { Accept: 'application/json', ...sent };
		const url = credentials.baseUrl + path;
		const options = { method, url, qs, body, headers, encoding: 'stream' } as const;
		const response = await exchange(options, within, async (limited, signal) => {
			// n8n's helper gives every request the execution's own signal; this context hands it the request's instead.
			const own = { getExecutionCancelSignal: { value: () => signal } };
			const answered = (await context.helpers.httpRequestWithAuthentication.call(
				Object.create(context, own) as typeof context,
				CREDENTIAL,
				limited,
				{ credentialsDecrypted: await signedWith() },
			)) as RawResponse;
			const { text, whole } = await readText(answered.body);
			// Before it is parsed, so that no escape hides the key.
			return { ...answered, body: { text: cleaner.key(text), whole } };
		});
		if ('answered' in response) return { ...response, reason: cleaner.text(response.reason) };
		const { text, whole } = response.body;
		const json = readJson(text, ANSWER, whole);
		const reply: Answer = {
			answered: true,
			status: response.statusCode,
			headers: response.headers,
			body: json.kind === 'json' ? json.value : undefined,
			text,
			...(json.kind === 'beyondBound' ? { unread: json.reason } : {}),
		};
		account.learn(purpose, reply);
		return reply;
	}

	return { credentials, account, send };
}

const PREFLIGHT_TIMEOUT_MS = 3_000;
const SELF_CALL_TIMEOUT_MS = 20_000;

/** A request to this n8n itself, without any credential. */
async function askSelf(context: N8nContext, options: IHttpRequestOptions, timeoutMs: number) {
	return await exchange(options, { timeoutMs }, async (limited) => {
		return (await context.helpers.httpRequest(limited)) as RawResponse;
	});
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
	const headers = { Origin: new URL(url).origin };
	const response = await askSelf(context, { method, url, headers }, PREFLIGHT_TIMEOUT_MS);
	if ('answered' in response) return undefined;
	const methods = response.headers['access-control-allow-methods'];
	return typeof methods === 'string' && methods.startsWith('OPTIONS') ? methods : undefined;
}

/** Calls an address of this n8n. The status, or why there is none. */
export async function callSelf(
	context: N8nContext,
	url: string,
	body: IDataObject,
): Promise<{ status: number; body: unknown } | { status: undefined; reason: string }> {
	const options = { method: 'POST', url, body, json: true } as const;
	const response = await askSelf(context, options, SELF_CALL_TIMEOUT_MS);
	if ('answered' in response) return { status: undefined, reason: response.reason };
	const { body: answered } = response;
	return { status: response.statusCode, body: isObject(answered) ? answered : undefined };
}
