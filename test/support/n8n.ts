/** n8n around the nodes: the context of a run, a webhook or a picker, and what it was used for. */
import { Readable } from 'node:stream';
import type {
	IExecuteFunctions,
	IHttpRequestOptions,
	IWebhookFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';
import { binaryStore } from './binaryStore';
import type { WebhookResponse } from './webhookResponse';

export interface Answered {
	statusCode?: number;
	headers?: object;
	body?: unknown;
}
/** @param count how many requests there were, this one included */
type Answers = (options: IHttpRequestOptions, count: number) => Answered | Promise<Answered>;

interface Given {
	/** What the credential has instead of the usual; an error: it can't be read. */
	credential?: object | Error;
	/** What answers requests with the credential, and those without it; nobody, unless given. */
	service?: Answers;
	http?: Answers;
	store?: ReturnType<typeof binaryStore>;
	/** Other methods, or instead of the usual. */
	own?: object;
}

const isWire = (body: unknown) => typeof body === 'string' || body instanceof Readable;

/** n8n's client: it keeps the requests, and finds nobody where there are no answers. */
function clientOf(answers: Answers | undefined, requests: IHttpRequestOptions[]) {
	return async (options: IHttpRequestOptions) => {
		requests.push(options);
		if (answers === undefined)
			throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
		const { statusCode = 200, headers = {}, body } = await answers(options, requests.length);
		return { statusCode, headers, body };
	};
}

export function fakeN8n<T = IExecuteFunctions>({
	credential,
	service,
	http,
	store = binaryStore('default'),
	own,
}: Given = {}) {
	const seen = {
		hints: [] as NodeExecutionHint[],
		warnings: [] as string[],
		/** Requests with the credential, and without it. */
		sent: [] as IHttpRequestOptions[],
		asked: [] as IHttpRequestOptions[],
		/** What n8n keeps for the node. */
		kept: {} as Record<string, unknown>,
	};
	const send = clientOf(service, seen.sent);
	const context = {
		getNode: () => ({ id: 'node-1', name: 'Media', type: 'mediaGeneration', parameters: {} }),
		getWorkflow: () => ({ id: 'workflow' }),
		getExecutionId: () => '7',
		getMode: () => 'trigger',
		getContext: () => seen.kept,
		getExecutionCancelSignal: () => undefined,
		async getCredentials() {
			if (credential instanceof Error) throw credential;
			const usual = { apiKey: 'sk_0123456789', baseUrl: 'https://api.example', callbackSecret: '' };
			return await Promise.resolve({ ...usual, ...credential });
		},
		getParentNodes: () => [],
		addExecutionHints: (...hints: NodeExecutionHint[]) => seen.hints.push(...hints),
		logger: { debug() {}, info() {}, error() {}, warn: (line: string) => seen.warnings.push(line) },
		helpers: {
			httpRequest: clientOf(http, seen.asked),
			async httpRequestWithAuthentication(_type: string, options: IHttpRequestOptions) {
				const { body, ...answer } = await send(options);
				return { ...answer, body: isWire(body) ? body : (JSON.stringify(body) ?? '') };
			},
			...store.helpers,
		},
		...own,
	};
	return { ...seen, context: context as unknown as T };
}

interface Call {
	body: unknown;
	response: WebhookResponse;
	/** With its query; the path is that of the request. */
	url: string;
}

/** What a context has of the call of a webhook. */
export function ofCall({ body, response, url }: Call) {
	const rawBody = Buffer.from(JSON.stringify(body) ?? '');
	const of = {
		getRequestObject: () => ({ originalUrl: url, headers: {}, rawBody }),
		getResponseObject: () => response,
		getBodyData: () => body,
		getQueryData: () => Object.fromEntries(new URL(url, 'https://n8n.example').searchParams),
	};
	return of as unknown as Pick<IWebhookFunctions, keyof typeof of>;
}
