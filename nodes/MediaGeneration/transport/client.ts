/** Sends requests to the service. Only n8n's credential attaches the key, nothing is repeated here, and the account learns of throttling here. */
import { leavesOpen } from '../answers/creation';
import type { Answer, Reply } from '../answers/reply';
import { saidIn } from '../answers/said';
import { taskIdOf } from '../answers/task';
import type { IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { accountOf, type Account, type Purpose } from './account';
import { FailureError, invalid, messageOf } from '../base/outcomes';
import { readJson, readText } from '../base/bounded';
import { ANSWER } from '../base/bounds';
import { mapTexts } from '../base/mapTexts';
import { cleanerOf } from '../n8n/clean';
import { encodeBody, type Body, type Upload } from './body';
import {
	CREDENTIAL,
	openCredential,
	webhookCredential,
	type RecentCredential,
	type RequestContext,
} from './credentials';
import type { Credentials } from './credentialFields';
import { withSignal, type N8nContext } from '../n8n/execution';
import { requestWithin, type RawResponse } from './requestWithin';

export interface ApiRequest extends Body {
	method: 'GET' | 'POST';
	/** Begins with a slash; its parts are URL-encoded. */
	path: string;
	qs?: IDataObject;
	purpose: Purpose;
	/** Its own texts, which an answer can quote. */
	own: readonly string[];
	/** From the request, or from the end of its files, to the last byte of its answer. */
	timeoutMs: number;
	/** Gives up the request. A creation has none: giving up on its answer may lose a task that is paid for. */
	signal?: AbortSignal;
}

export interface ServiceClient {
	credentials: Credentials;
	account: Account;
	send(request: ApiRequest): Promise<Reply>;
}

/** Returns the reply, or that nothing was created, if the reply leaves that open but the service can't have received the complete request. */
function unlessUnsent(reply: Reply, upload: Upload | undefined): Reply {
	const unsent = upload?.end(reply.answered ? `HTTP ${reply.status}` : reply.reason);
	if (unsent === undefined) return reply;
	if (reply.answered && (reply.status < 300 || taskIdOf(reply.body) !== undefined)) return reply;
	const isOpen = reply.answered ? leavesOpen(reply.status) : reply.kind === 'unanswered';
	// Any refusal of a request that lacks a file is about that.
	return isOpen || unsent.kind === 'unread'
		? { answered: false, kind: 'unsent', reason: unsent.reason }
		: reply;
}

/** Makes a client for webhooks, which are called many times a second. */
export async function webhookClient(context: N8nContext): Promise<ServiceClient> {
	return await createClient(context, webhookCredential(context));
}

export async function createClient(
	context: RequestContext,
	recent?: RecentCredential,
): Promise<ServiceClient> {
	const { credentials, credentialForRequest } = await openCredential(context, recent);
	const account = accountOf(credentials.baseUrl, credentials.apiKey);
	const cleaner = cleanerOf(context);

	async function exchange(options: IHttpRequestOptions, signal: AbortSignal): Promise<Answer> {
		const response = (await context.helpers.httpRequestWithAuthentication.call(
			withSignal(context, signal),
			CREDENTIAL,
			options,
			{ credentialsDecrypted: await credentialForRequest() },
		)) as RawResponse;
		const { statusCode: status, headers } = response;
		const { text: raw, isComplete } = await readText(response.body);
		const text = cleaner.key(raw);
		const read = readJson(raw, ANSWER, isComplete);
		// A text without the key may no longer be JSON, so it is taken out of the values.
		if (text !== raw) read.body = mapTexts(read.body, cleaner.key);
		return { answered: true, status, headers, text, ...read };
	}

	async function send(asked: ApiRequest): Promise<Reply> {
		const { method, path, qs, purpose, own } = asked;
		const { body, headers, upload } = encodeBody(asked);
		const options: IHttpRequestOptions = {
			method,
			url: credentials.baseUrl + path,
			qs,
			body,
			encoding: 'stream',
			headers: { Accept: 'application/json', ...headers },
		};
		const came = await requestWithin(options, { ...asked, upload }, exchange);
		const isRefusal = came.answered && came.status >= 400;
		if (isRefusal) account.noteThrottling(purpose, saidIn(came, own));
		const reply = unlessUnsent(came, upload);
		if (reply.answered) return reply;
		const isUnreached = reply.kind === 'unconnected' || reply.kind === 'impossible';
		const at = isUnreached ? ` (${credentials.baseUrl})` : '';
		return { ...reply, reason: cleaner.text(reply.reason + at) };
	}

	return { credentials, account, send };
}

/** Throws a FailureError. */
export async function openClient(context: RequestContext): Promise<ServiceClient> {
	return await createClient(context).catch((error: unknown) => {
		throw error instanceof FailureError
			? error
			: invalid(
					`The credential could not be read: ${messageOf(error)}`,
					'Select a Media Generation API credential in this node. Nothing was sent.',
				);
	});
}
