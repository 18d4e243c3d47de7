/**
 * n8n around the nodes, as n8n-core 2.41 makes it: the context of a run, a webhook or a picker, and what is left of its use. Unit tests
 * call the node's code with it, `test/model` plays executions with it. It keeps no workflow: a field has the value to which n8n would have
 * resolved it, and an expression sees one node, the input and the resume URL.
 */
import { Readable } from 'node:stream';
import { runInThisContext } from 'node:vm';
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INode,
	INodeParameters,
	ITaskMetadata,
	INodeExecutionData,
	IWebhookFunctions,
	NodeExecutionHint,
} from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { binaryStore, type BinaryStore } from './binaryStore';
import type { WebhookResponse } from './webhookResponse';

export interface Answered {
	statusCode?: number;
	headers?: object;
	body?: unknown;
}
/** @param count how many requests there were, this one included */
type Answers = (options: IHttpRequestOptions, count: number) => Answered | Promise<Answered>;

/** What the contexts of one execution share, and what they leave. */
export class Traces {
	/** What n8n keeps for the node, and for the workflow. */
	readonly kept: Record<string, unknown>;
	readonly staticData: Record<string, IDataObject>;
	readonly flow: IDataObject = {};
	/** What the execution is found by in the list. */
	readonly found: Record<string, string>;
	/** What the editor shows above the output. */
	readonly hints: NodeExecutionHint[] = [];
	readonly logs: string[] = [];
	readonly warnings: string[] = [];
	/** Requests with the credential, as they were before it was added, and those without it. */
	readonly sent: IHttpRequestOptions[] = [];
	readonly asked: IHttpRequestOptions[] = [];
	/** What n8n was told to sign each request with; undefined where it read the credential itself. */
	readonly signedWith: unknown[] = [];
	readonly waits: Date[] = [];
	readonly metadata: object[] = [];
	/** What n8n runs the node on. What the node puts there is what goes on. */
	readonly entry: {
		data: { main: INodeExecutionData[][] };
		source: unknown;
		metadata?: ITaskMetadata;
	};

	constructor({ input = [{ json: {} }], source, ...left }: Begun = {}) {
		this.entry = { data: { main: [input] }, source };
		this.kept = left.kept ?? {};
		this.staticData = left.staticData ?? {};
		this.found = left.found ?? {};
	}
}

/** What an execution begins with. */
interface Begun extends Partial<Pick<Traces, 'kept' | 'staticData' | 'found'>> {
	input?: INodeExecutionData[];
	/** Which nodes the input came from. */
	source?: unknown;
}

export interface Given extends Begun {
	node?: Partial<INode>;
	/** The fields of each item. */
	parameters?: Record<string, unknown> | ((index: number) => object);
	workflow?: string;
	/** The workflow's; null in an n8n that can not say. */
	settings?: object | null;
	/** null where n8n gives none. */
	executionId?: string | null;
	mode?: string;
	runIndex?: number;
	resumeUrl?: unknown;
	signal?: AbortSignal | undefined;
	/** What the credential has instead of the usual; an error: it can't be read. */
	credential?: IDataObject | Error | (() => IDataObject);
	/** What answers requests with the credential, and those without it; nobody, unless given. */
	service?: Answers;
	http?: Answers;
	store?: BinaryStore;
	/** Those of the execution, where it has begun. */
	traces?: Traces;
	/** Takes the lines of the log. */
	log?: (line: string) => void;
	/** Other methods, or instead of the usual. */
	own?: object;
}

const NODE: INode = {
	...{ id: 'node-1', name: 'Media', type: 'mediaGeneration', typeVersion: 1 },
	...{ position: [0, 0], parameters: {} },
};
/** What fields that differ by item are in the node. */
const EXPRESSIONS = new Proxy<INodeParameters>({}, { get: () => '={{ $json }}' });
const CREDENTIAL = { apiKey: 'sk_0123456789', baseUrl: 'https://api.example', callbackSecret: '' };
const credentialType = new MediaGenerationApi();

export function fakeN8n<T = IExecuteFunctions>(given: Given = {}) {
	const { traces = new Traces(given), mode = 'trigger', executionId = '7', settings = {} } = given;
	const { log = (line: string) => traces.logs.push(line) } = given;
	const isByItem = typeof given.parameters === 'function';
	const node = { ...NODE, ...(isByItem && { parameters: EXPRESSIONS }), ...given.node };
	const { entry, hints, warnings } = traces;
	const warn = (line: string) => {
		warnings.push(line);
		log(`warn: ${line}`);
	};
	const context = {
		getNode: () => node,
		getWorkflow: () => ({ id: given.workflow ?? 'workflow' }),
		getWorkflowSettings: settings === null ? undefined : () => settings,
		getWorkflowStaticData: (type: string) => (traces.staticData[type] ??= {}),
		getParentNodes: () => [],
		getExecutionId: () => executionId ?? undefined,
		getExecutionCancelSignal: () => given.signal,
		getMode: () => mode,
		getTimezone: () => 'Asia/Tokyo',
		getInputData: () => entry.data.main[0],
		getExecuteData: () => entry,
		getNodeParameter: parameterReader(given),
		getContext: (type: string) => (type === 'node' ? traces.kept : traces.flow),
		continueOnFail: () => (node.onError ?? 'stopWorkflow') !== 'stopWorkflow',
		isToolExecution: () => false,
		evaluateExpression: (expression: string) =>
			evaluate(expression, {
				$runIndex: given.runIndex ?? 0,
				$execution: { resumeUrl: given.resumeUrl },
				$input: { all: () => entry.data.main[0] },
				$node: { [node.name]: { context: traces.kept } },
			}),
		getCredentials: async () => await Promise.resolve(credentialOf(given)),
		addExecutionHints: (...shown: NodeExecutionHint[]) => hints.push(...shown),
		setMetadata: (metadata: ITaskMetadata) => {
			traces.metadata.push(metadata);
			entry.metadata = { ...entry.metadata, ...metadata };
		},
		putExecutionToWait: async (until: Date) => await Promise.resolve(traces.waits.push(until)),
		customData: foundBy(traces.found),
		logger: { debug: log, info: log, error: log, warn },
		helpers: {
			...requestHelpers(given, traces),
			...(given.store ?? binaryStore('default')).helpers,
		},
		...given.own,
	} satisfies Partial<Record<keyof IExecuteFunctions, unknown>>;
	return { ...traces, context: context as unknown as T };
}

function credentialOf({ credential }: Given): ICredentialDataDecryptedObject {
	if (credential instanceof Error) throw credential;
	return { ...CREDENTIAL, ...(typeof credential === 'function' ? credential() : credential) };
}

/** n8n throws where the workflow has no such field, and there is no fallback either. */
function parameterReader({ parameters = {} }: Given) {
	const known = new Map<number, Record<string, unknown>>();
	return (name: string, ...more: unknown[]): unknown => {
		// A webhook has no items.
		const [index, fallback] = typeof more[0] === 'number' ? [more[0], more[1]] : [0, more[0]];
		const fresh = () => (typeof parameters === 'function' ? parameters(index) : parameters);
		const fields = known.get(index) ?? (fresh() as Record<string, unknown>);
		known.set(index, fields);
		// An expression may lead to nothing.
		if (Object.hasOwn(fields, name)) return fields[name];
		const [collection = '', entry = ''] = name.split('.');
		const entries = fields[collection];
		if (typeof entries === 'object' && entries !== null && Object.hasOwn(entries, entry))
			return (entries as Record<string, unknown>)[entry];
		if (fallback === undefined) throw new Error(`Could not get parameter "${name}"`);
		return fallback;
	};
}

type Evaluation = (scope: Record<string, unknown>) => unknown;
const evaluations = new Map<string, Evaluation>();

function evaluate(expression: string, scope: Record<string, unknown>): unknown {
	const code = expression.replace(/^\{\{|\}\}$/g, '');
	const known = evaluations.get(code);
	const fresh = () =>
		runInThisContext(`(({ ${Object.keys(scope).join()} }) => (${code}))`) as Evaluation;
	const evaluation = known ?? fresh();
	evaluations.set(code, evaluation);
	return evaluation(scope);
}

/** n8n complains of values of more than 255 characters, cuts them off at 512, and keeps ten of them. */
function foundBy(found: Traces['found']) {
	return {
		getAll: () => ({ ...found }),
		setAll(values: Record<string, string>) {
			for (const [key, value] of Object.entries(values)) {
				if (!/^\w{1,50}$/.test(key)) throw new Error(`"${key}" can not be a key`);
				if (key in found || Object.keys(found).length < 10) found[key] = value.slice(0, 512);
			}
		},
	};
}

const isWire = (body: unknown) => typeof body === 'string' || body instanceof Readable;

/** It finds nobody where there are no answers. */
function requestHelpers({ service, http }: Given, { sent, asked, signedWith }: Traces) {
	return {
		async httpRequest(options: IHttpRequestOptions) {
			return await exchange(options, http, asked.push(options));
		},
		async httpRequestWithAuthentication(
			this: Pick<IExecuteFunctions, 'getCredentials' | 'getExecutionCancelSignal'>,
			type: string,
			given: IHttpRequestOptions,
			additional?: { credentialsDecrypted?: { data?: ICredentialDataDecryptedObject } },
		) {
			if (type !== credentialType.name) throw new Error(`The node has no credential "${type}"`);
			const options = { ...given, abortSignal: this.getExecutionCancelSignal() };
			const count = sent.push(options);
			signedWith.push(additional?.credentialsDecrypted);
			const data =
				additional?.credentialsDecrypted?.data ??
				(await this.getCredentials<ICredentialDataDecryptedObject>(type));
			const signed = await credentialType.authenticate(data, options);
			const { body, ...answer } = await exchange(signed, service, count);
			return { ...answer, body: isWire(body) ? body : (JSON.stringify(body) ?? '') };
		},
	};
}

async function exchange(
	options: IHttpRequestOptions,
	answers: Answers | undefined,
	count: number,
): Promise<Answered> {
	const signal = options.abortSignal as AbortSignal | undefined;
	const aborted = untilAborted(signal);
	aborted.catch(() => undefined);
	// axios sends nothing with a signal that is aborted already.
	if (signal?.aborted === true) return await aborted;
	if (answers === undefined)
		throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
	const {
		statusCode = 200,
		headers = {},
		...answer
	} = await Promise.race([answers(options, count), aborted]);
	return { statusCode, headers, ...answer };
}

/** Rejects as axios does when the signal aborts. */
export async function untilAborted(signal: AbortSignal | undefined): Promise<never> {
	return await new Promise<never>((_, reject) => {
		const cancel = () => reject(Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }));
		if (signal?.aborted === true) cancel();
		signal?.addEventListener('abort', cancel, { once: true });
	});
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
