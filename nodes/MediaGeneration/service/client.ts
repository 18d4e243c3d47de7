/**
 * The one door to the service: the key is attached by n8n's credential only, nothing here retries, every request ends within its
 * time, however slowly its answer drips, and what an answer says of throttling is learned here.
 */
import type { IDataObject, IHttpRequestMethods, IHttpRequestOptions } from 'n8n-workflow';
import { accountOf, type Account, type Purpose } from './account';
import { ANSWER, readJson, readText, type Read } from '../base/bounded';
import { cleanerOf } from '../base/clean';
import { encodeBody, type Body } from './body';
import { timeLimit, unlessAborted } from '../base/clock';
import {
	CREDENTIAL,
	readCredentials,
	recentCredentials,
	signer,
	type Credentials,
	type CredentialRead,
	type N8nContext,
	type RequestContext,
} from './credentials';
import { connectionOf, reasonOf, type Connection } from '../base/networkError';

export type { N8nContext };

export interface Answer extends Read {
	answered: true;
	status: number;
	headers: Record<string, unknown>;
	/** Holds only the beginning of an answer beyond its bound. */
	text: string;
}

export interface NoAnswer {
	answered: false;
	/** Only what is `unanswered` can have reached the service. */
	kind: Connection;
	reason: string;
}

export type Reply = Answer | NoAnswer;

export interface ApiRequest extends Body {
	method: 'GET' | 'POST';
	/** Begins with a slash; its parts are URL-encoded already. */
	path: string;
	qs?: IDataObject;
	purpose: Purpose;
	/** Limits the time from the request to the last byte of its answer. */
	timeoutMs: number;
	/** Gives the request up. A creation has none: giving up its answer may lose a task that is paid for. */
	signal?: AbortSignal;
}

export interface ServiceClient {
	credentials: Credentials;
	account: Account;
	send(request: ApiRequest): Promise<Reply>;
}

interface RawResponse {
	statusCode: number;
	headers: Record<string, unknown>;
	body: unknown;
}

/** One request within its time. Never rejects. */
async function exchange<T>(
	options: IHttpRequestOptions,
	{ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
	request: (options: IHttpRequestOptions, signal: AbortSignal) => Promise<T>,
): Promise<Awaited<T> | NoAnswer> {
	const limit = timeLimit(timeoutMs, signal);
	const unanswered = (reason: string, kind: Connection = 'unanswered'): NoAnswer => {
		const late = `no whole answer within ${Math.max(1, Math.round(timeoutMs / 1000))} s`;
		return { answered: false, kind, reason: limit.timedOut() ? late : reason };
	};
	try {
		const limited = {
			...options,
			// The helper's own limit counts idle time only, and serves where the abort is ignored.
			timeout: Math.max(1, Math.ceil(timeoutMs)),
			abortSignal: limit.signal,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			// A redirect would carry the bearer token to wherever it points.
			disableFollowRedirect: true,
		};
		// Stop waiting even if the helper ignores the abort.
		const response = await unlessAborted(limit.signal, request(limited, limit.signal));
		return response ?? unanswered('the request was given up');
	} catch (error) {
		return unanswered(reasonOf(error), connectionOf(error));
	} finally {
		limit.end();
	}
}

export async function createClient(context: RequestContext): Promise<ServiceClient> {
	return clientOf(context, await readCredentials(context));
}

/** As {@link createClient}, for webhooks, which are called many times a second. @param fits whether what was read a moment ago will do */
export async function recentClient(
	context: N8nContext,
	fits?: (credentials: Credentials) => boolean,
): Promise<ServiceClient> {
	return clientOf(context, await recentCredentials(context, fits));
}

function clientOf(context: RequestContext, read: CredentialRead): ServiceClient {
	const { credentials } = read;
	const signedWith = signer(context, read);
	const account = accountOf(credentials.baseUrl, credentials.apiKey);
	const cleaner = cleanerOf(context);
	cleaner.knows(credentials);

	async function send({ path, purpose, method, qs, body, ...given }: ApiRequest): Promise<Reply> {
		const { form, files, ...within } = given;
		cleaner.hasSent(body?.receive_url);
		const sent = encodeBody({ body, form, files });
		const headers = { Accept: 'application/json', ...sent.headers };
		const url = credentials.baseUrl + path;
		const options: IHttpRequestOptions = {
			...{ method, url, qs, headers, encoding: 'stream' },
			body: sent.body,
		};
		const reply = await exchange<Answer>(options, within, async (limited, signal) => {
			// n8n's helper overwrites a request's signal with the execution's (n8n-core 2.41); this context hands it the request's instead.
			const own = { getExecutionCancelSignal: { value: () => signal } };
			const response = (await context.helpers.httpRequestWithAuthentication.call(
				Object.create(context, own) as typeof context,
				CREDENTIAL,
				limited,
				{ credentialsDecrypted: await signedWith() },
			)) as RawResponse;
			const { statusCode: status, headers: answered } = response;
			const { text: raw, whole } = await readText(response.body);
			// Clean it before it is parsed, so that no escape hides the key.
			const text = cleaner.key(raw);
			return { answered: true, status, headers: answered, text, ...readJson(text, ANSWER, whole) };
		});
		if (!reply.answered) {
			const at = reply.kind === 'unanswered' ? '' : ` (${credentials.baseUrl})`;
			return { ...reply, reason: cleaner.text(reply.reason + at) };
		}
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

/** What a webhook of this n8n is published for, by a CORS preflight, which starts nothing. Undefined where it can't be seen. */
export async function publishedMethods(context: N8nContext, url: string) {
	const method = 'OPTIONS' as string as IHttpRequestMethods;
	const headers = { Origin: new URL(url).origin };
	const response = await askSelf(context, { method, url, headers }, PREFLIGHT_TIMEOUT_MS);
	if ('answered' in response) return undefined;
	const methods = response.headers['access-control-allow-methods'];
	return typeof methods === 'string' && methods.startsWith('OPTIONS') ? methods : undefined;
}

/** Calls an address of this n8n. The status, or why there is none. */
export async function callSelf(context: N8nContext, url: string, body: IDataObject) {
	const options = { method: 'POST', url, body, json: true } as const;
	const response = await askSelf(context, options, SELF_CALL_TIMEOUT_MS);
	if ('answered' in response) return { status: undefined, reason: response.reason };
	return { status: response.statusCode, body: response.body };
}
