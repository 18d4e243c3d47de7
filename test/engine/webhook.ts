/**
 * n8n's webhooks around the built nodes: real HTTP in, n8n-core's WebhookContext, n8n's own order of steps (as
 * `WebhookHelpers`, `LiveWebhooks`, `TestWebhooks` and `WaitingWebhooks` of n8n 2.41 have it), and the execution that
 * follows in n8n-core's engine.
 *
 *     const host = await startWebhooks();
 *     // A published workflow "Media Generation Trigger -> After":
 *     const trigger = host.publish({ parameters: {}, credentials });
 *     const { status, body } = await host.post(trigger.url, { id: taskId, status: 'done' });
 *     const [execution] = trigger.executions();
 *     const { output } = await execution.settled();
 *     // "Source -> Media Generation -> After" that falls asleep, and is woken by a POST to its resume URL:
 *     const execution = await host.start({ items, parameters: { ...waitMode: 'callback' }, credentials });
 *     await execution.settled();                  // asleep: execution.status is 'waiting'. `options: { gracePeriod: 0 }`
 *                                                 // in the parameters puts it to sleep at once
 *     await host.post(execution.resumeUrl(), { id: taskId });
 *     const { output } = await execution.settled();  // of the node; `run.data.resultData.runData.After` has the rest
 *     await execution.deadline();                 // instead of a callback: what n8n does at the deadline
 *     host.executions.beforeSaving = async () => ...;  // holds the moment in which n8n answers 409
 *     host.storing = 'fails';                     // n8n can't store executions: 500
 *     host.beforeStoring = async () => ...;       // holds the answer to a callback that starts a workflow
 *     await host.close();
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebhookContext } from 'n8n-core';
import {
	NodeHelpers,
	type IDataObject,
	type INode,
	type INodeParameters,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookDescription,
	type IWebhookResponseData,
	type Workflow,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	connect,
	mediaGeneration,
	mediaGenerationTrigger,
	node,
	noOp,
	prepareEngine,
	source,
	type EngineOptions,
} from './engine';
import { Executions, type Definition, type Execution } from './executions';

import {
	asRequest,
	asResponse,
	HttpError,
	parseBody,
	type N8nRequest,
	type N8nResponse,
} from './n8nHttp';

export type { Execution } from './executions';

export interface PublishOptions {
	parameters?: INodeParameters;
	settings?: Partial<INode>;
	credentials: EngineOptions['credentials'];
}

export interface Published {
	/** The Production URL. */
	url: string;
	/** The Test URL: 404 unless `listen()` was called. */
	testUrl: string;
	/** As the button in the editor: the next call that starts an execution is run as a test, and ends the listening. */
	listen(): void;
	/** What the workflow's static data holds by now. */
	staticData(): IDataObject;
	/** Puts other static data in its place, as a database has it that this process did not write. */
	restore(staticData: IDataObject): void;
	executions(): Execution[];
}

export interface HttpAnswer {
	status: number;
	/** Parsed, where it is JSON. */
	body: unknown;
}

export interface PostOptions {
	method?: string;
	headers?: Record<string, string>;
	signal?: AbortSignal;
}

export interface StartOptions extends Omit<EngineOptions, 'rounds' | 'stopWhen' | 'retryOf'> {
	/** Of the node; "Media" if not given. Its ID is `id-Media` all the same. */
	name?: string;
}

export interface WebhookHost {
	readonly url: string;
	readonly executions: Executions;
	/** `fails`: n8n answers 500 where it would start an execution. */
	storing: 'works' | 'fails';
	/** Runs before n8n stores an execution, and so before a trigger's callback is answered. */
	beforeStoring: () => Promise<void>;
	publish(options: PublishOptions): Published;
	start(options: StartOptions): Promise<Execution>;
	/** Posts JSON (or a text, as it is) as a sender of callbacks does. */
	post(url: string, body: unknown, options?: PostOptions): Promise<HttpAnswer>;
	close(): Promise<void>;
}

/** The node's webhooks with their paths, as n8n registers them. */
function webhooksOf(workflow: Workflow, start: INode): IWebhookData[] {
	const { description } = workflow.nodeTypes.getByNameAndVersion(start.type, start.typeVersion);
	const evaluate = (webhook: IWebhookDescription, field: 'path' | 'isFullPath' | 'httpMethod') =>
		workflow.expression.getSimpleParameterValue(start, webhook[field], 'internal', {});
	return (description.webhooks ?? []).map((webhook) => ({
		httpMethod: String(evaluate(webhook, 'httpMethod')) as IWebhookData['httpMethod'],
		node: start.name,
		path: NodeHelpers.getNodeWebhookPath(
			workflow.id,
			start,
			String(evaluate(webhook, 'path')),
			Boolean(evaluate(webhook, 'isFullPath')),
			webhook.restartWebhook,
		),
		webhookDescription: webhook,
		workflowId: workflow.id,
		workflowExecuteAdditionalData: {} as IWebhookData['workflowExecuteAdditionalData'],
	}));
}

interface Call {
	definition: Definition;
	workflow: Workflow;
	start: INode;
	webhook: IWebhookData;
	mode: WorkflowExecuteMode;
	request: N8nRequest;
	response: N8nResponse;
	/** Of a sleeping execution. */
	asleep?: { id: string; data: IRunExecutionData };
}

class Host implements WebhookHost {
	url = '';

	readonly executions = new Executions(this);

	storing: 'works' | 'fails' = 'works';

	beforeStoring: () => Promise<void> = async () => await Promise.resolve();

	private readonly published = new Map<string, Definition>();

	private readonly listening = new Set<string>();

	private readonly executionsOf = new Map<string, Execution[]>();

	private readonly server = createServer((incoming, outgoing) => {
		void this.handle(asRequest(incoming), asResponse(outgoing));
	});

	async listen(): Promise<void> {
		await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
		this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}

	publish({ parameters = {}, settings, credentials }: PublishOptions): Published {
		const id = `workflow-${this.published.size + 1}`;
		const definition: Definition = {
			id,
			nodes: [
				node('Trigger', 'mediaGenerationTrigger', parameters, {
					typeVersion: 1.1,
					webhookId: `hook-${id}`,
					credentials: { mediaGenerationApi: { id: '1', name: 'Test' } },
					...settings,
				}),
				node('After', 'noOp'),
			],
			connections: connect(['Trigger', 'After']),
			types: { mediaGenerationTrigger, noOp },
			credentials,
			staticData: '{}',
		};
		const workflow = this.executions.workflowOf(definition);
		const path = webhooksOf(workflow, workflow.getNode('Trigger') as INode)[0]?.path ?? '';
		this.published.set(path, definition);
		return {
			url: `${this.url}/webhook/${path}`,
			testUrl: `${this.url}/webhook-test/${path}`,
			listen: () => this.listening.add(path),
			staticData: () => JSON.parse(definition.staticData) as IDataObject,
			restore: (staticData) => (definition.staticData = JSON.stringify(staticData)),
			executions: () => [...(this.executionsOf.get(id) ?? [])],
		};
	}

	async start(options: StartOptions): Promise<Execution> {
		await prepareEngine();
		const { name = 'Media' } = options;
		const inputs = options.inputs ?? (options.items ?? [{}]).map((json) => ({ json }));
		const definition: Definition = {
			id: 'sleeping',
			nodes: [
				node('Source', 'source'),
				node(name, 'mediaGeneration', options.parameters, {
					id: 'id-Media',
					credentials: { mediaGenerationApi: { id: '1', name: 'Test' } },
					...options.settings,
				}),
				node('After', 'noOp'),
				node('Failed', 'noOp'),
			],
			connections: connect(['Source', name], [name, 'After'], [name, 'Failed', 1]),
			types: { source: source(inputs), noOp, mediaGeneration },
			credentials: options.credentials,
			staticData: '{}',
		};
		const start = definition.nodes[0] as INode;
		return this.executions.start(definition, 'trigger', { node: start, items: [[{ json: {} }]] });
	}

	async post(url: string, body: unknown, options: PostOptions = {}): Promise<HttpAnswer> {
		const response = await fetch(url, {
			method: options.method ?? 'POST',
			headers: { 'content-type': 'application/json', ...options.headers },
			body: typeof body === 'string' ? body : JSON.stringify(body),
			...(options.signal === undefined ? {} : { signal: options.signal }),
		});
		const text = await response.text();
		try {
			return { status: response.status, body: JSON.parse(text) as unknown };
		} catch {
			return { status: response.status, body: text };
		}
	}

	private async handle(request: N8nRequest, response: N8nResponse): Promise<void> {
		try {
			await prepareEngine();
			const [, kind, ...rest] = new URL(request.originalUrl, 'http://n8n').pathname.split('/');
			const path = rest.join('/').replace(/\/$/, '');
			if (kind === 'webhook-waiting') await this.wake(request, response, rest);
			else if (kind === 'webhook') await this.live(request, response, path);
			else if (kind === 'webhook-test') await this.test(request, response, path);
			else throw new HttpError(404, 'Not Found');
		} catch (error) {
			const status = error instanceof HttpError ? error.status : 500;
			const message = error instanceof Error ? error.message : String(error);
			if (!response.headersSent) response.status(status).json({ code: status, message });
		}
	}

	private callOf(
		path: string,
		request: N8nRequest,
		response: N8nResponse,
	): Omit<Call, 'mode'> | undefined {
		const definition = this.published.get(path);
		if (definition === undefined) return undefined;
		const workflow = this.executions.workflowOf(definition);
		const start = workflow.getNode('Trigger') as INode;
		const webhook = webhooksOf(workflow, start).find(
			({ httpMethod }) => httpMethod === request.method,
		);
		return webhook === undefined
			? undefined
			: { definition, workflow, start, webhook, request, response };
	}

	private async live(request: N8nRequest, response: N8nResponse, path: string): Promise<void> {
		const call = this.callOf(path, request, response);
		if (call === undefined)
			throw new HttpError(404, `The requested webhook "${path}" is not registered.`);
		await this.run({ ...call, mode: 'webhook' });
	}

	private async test(request: N8nRequest, response: N8nResponse, path: string): Promise<void> {
		const call = this.listening.has(path) ? this.callOf(path, request, response) : undefined;
		if (call === undefined)
			throw new HttpError(404, `The requested webhook "${path}" is not registered.`);
		if (await this.run({ ...call, mode: 'manual' })) this.listening.delete(path);
	}

	private async wake(
		request: N8nRequest,
		response: N8nResponse,
		[id = '', suffix = '']: string[],
	): Promise<void> {
		const found = this.executions.read(id);
		if (found === undefined) throw new HttpError(404, `The execution "${id}" does not exist.`);
		const { row, data } = found;
		const { signature } = request.query as Record<string, unknown>;
		if (signature !== data.resumeToken) {
			response.status(401).json({ error: 'Invalid token' });
			return;
		}
		if (row.status === 'running')
			throw new HttpError(409, `The execution "${id}" is running already.`);
		if (row.status !== 'waiting')
			throw new HttpError(409, `The execution "${id} has finished already.`);
		const sleeping = data.executionData?.nodeExecutionStack[0];
		if (sleeping !== undefined) sleeping.node.disabled = true;
		data.waitTill = undefined;
		const last = data.resultData.lastNodeExecuted ?? '';
		data.resultData.runData[last]?.pop();
		const workflow = this.executions.workflowOf(row.definition);
		const start = workflow.getNode(last);
		await workflow.expression.acquireIsolate?.();
		const webhook =
			start === null
				? undefined
				: webhooksOf(workflow, start).find(
						({ httpMethod, path, webhookDescription }) =>
							httpMethod === request.method &&
							path === suffix &&
							webhookDescription.restartWebhook === true,
					);
		if (start === null || webhook === undefined) {
			throw new HttpError(
				404,
				`The workflow for execution "${id}" does not contain a waiting webhook with a matching path/method.`,
			);
		}
		const { definition, mode } = row;
		await this.run({
			definition,
			workflow,
			start,
			webhook,
			mode,
			request,
			response,
			asleep: { id, data },
		});
	}

	/** n8n's `executeWebhook`. Resolves with whether an execution runs now. */
	private async run(call: Call): Promise<boolean> {
		const { definition, workflow, start, mode, request, response, asleep } = call;
		await workflow.expression.acquireIsolate?.();
		await parseBody(request, workflow, start, mode);
		const result = await this.callNode(call);
		const save = () => {
			if (mode === 'webhook' && asleep === undefined)
				this.executions.saveStaticData(definition, workflow);
		};
		const description = (field: 'responseCode' | 'responseData', fallback: string | number) =>
			workflow.expression.getSimpleParameterValue(
				start,
				call.webhook.webhookDescription[field],
				mode,
				{},
				undefined,
				fallback,
			);
		const code = Number(description('responseCode', 200));
		const silent = result.noWebhookResponse === true;
		// n8n saves where it answers, so not where it can't store the execution.
		if (silent || result.workflowData === undefined) save();
		if (result.workflowData === undefined) {
			if (!silent)
				response.status(code).json(result.webhookResponse ?? { message: 'Webhook call received' });
			return false;
		}
		await this.beforeStoring();
		if (this.storing === 'fails') throw new Error('There was a problem executing the workflow');
		if (asleep === undefined) {
			const execution = this.executions.start(definition, mode, {
				node: start,
				items: result.workflowData,
			});
			this.executionsOf.set(definition.id, [
				...(this.executionsOf.get(definition.id) ?? []),
				execution,
			]);
		} else this.resume(asleep, result);
		const stated: unknown = description('responseData', 'firstEntryJson');
		const body: unknown = stated === '' ? result.webhookResponse : stated;
		save();
		if (!silent) response.status(code).json(body ?? { message: 'Workflow was started' });
		return true;
	}

	private resume({ id, data }: NonNullable<Call['asleep']>, result: IWebhookResponseData): void {
		const resuming = data.executionData?.nodeExecutionStack[0];
		if (resuming !== undefined) {
			resuming.data.main = result.workflowData ?? [];
			resuming.metadata = { ...resuming.metadata, forwardAllOutputs: true };
		}
		if (!this.executions.resume(id, data))
			throw new Error('There was a problem executing the workflow');
	}

	/** A webhook that throws is answered 500, and n8n runs the workflow with one empty item all the same. */
	private async callNode(call: Call): Promise<IWebhookResponseData> {
		const { definition, workflow, start, webhook, mode, request, response, asleep } = call;
		const additionalData = this.executions.additionalData(definition, asleep?.id);
		Object.assign(additionalData, { httpRequest: request, httpResponse: response });
		const context = new WebhookContext(
			workflow,
			start,
			additionalData,
			mode,
			webhook,
			[],
			asleep?.data ?? null,
		);
		const type = workflow.nodeTypes.getByNameAndVersion(start.type, start.typeVersion);
		try {
			return (await type.webhook?.call(context)) ?? {};
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			response
				.status(500)
				.json({ code: 0, message: 'Workflow could not be started!', was: message });
			return { noWebhookResponse: true, workflowData: [[{ json: {} }]] };
		}
	}
}

export async function startWebhooks(): Promise<WebhookHost> {
	const host = new Host();
	await host.listen();
	return host;
}
