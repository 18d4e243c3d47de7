/**
 * n8n's webhooks around the built nodes: real HTTP in, n8n-core's WebhookContext, n8n's own order of steps (as
 * `WebhookHelpers`, `LiveWebhooks`, `TestWebhooks` and `WaitingWebhooks` of n8n 2.41 have it), and the execution that
 * follows in n8n-core's engine.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
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
import { asRequest, asResponse, HttpError, type N8nRequest, type N8nResponse } from './n8nHttp';
import { handleCall, wakingCall, webhooksOf, type Call, type CalledN8n } from './webhookCall';

export type { Execution } from './executions';

export interface PublishOptions {
	parameters?: INodeParameters;
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
	executions(): Execution[];
}

export interface HttpAnswer {
	status: number;
	/** Parsed, where it is JSON. */
	body: unknown;
}

export interface StartOptions extends Omit<EngineOptions, 'rounds' | 'stopWhen' | 'retryOf'> {
	/** Of the node; "Media" if not given. Its ID is `id-Media` all the same. */
	name?: string;
	/** Whether two connections lead into the node, as from both outputs of an If. */
	twice?: boolean;
	/** Of the node of ours that stands behind the error branch; without them, one that passes items through. */
	behindErrors?: INodeParameters;
}

export interface WebhookHost {
	readonly url: string;
	readonly executions: Executions;
	/** See {@link CalledN8n}. */
	storing: CalledN8n['storing'];
	publish(options: PublishOptions): Published;
	start(options: StartOptions): Promise<Execution>;
	/** Posts JSON (or a text, as it is) as a sender of callbacks does. */
	post(url: string, body: unknown, headers?: Record<string, string>): Promise<HttpAnswer>;
	/** README, rule 3, for all executions that are over: none of these in what n8n saves or logs. */
	expectNoSecrets(secrets: string[]): Promise<void>;
	close(): Promise<void>;
}

class Host implements WebhookHost, CalledN8n {
	url = '';

	readonly executions = new Executions(this);

	storing: 'works' | 'fails' = 'works';

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

	publish({ parameters = {}, credentials }: PublishOptions): Published {
		const id = `workflow-${this.published.size + 1}`;
		const definition: Definition = {
			id,
			nodes: [
				node('Trigger', 'mediaGenerationTrigger', parameters, {
					typeVersion: 1.1,
					webhookId: `hook-${id}`,
					credentials: { mediaGenerationApi: { id: '1', name: 'Test' } },
				}),
				node('After', 'noOp'),
			],
			connections: connect(['Trigger', 'After']),
			types: { mediaGenerationTrigger, noOp },
			credentials,
			staticData: 'null',
		};
		const workflow = this.executions.workflowOf(definition);
		const path = webhooksOf(workflow, workflow.getNode('Trigger') as INode)[0]?.path ?? '';
		this.published.set(path, definition);
		return {
			url: `${this.url}/webhook/${path}`,
			testUrl: `${this.url}/webhook-test/${path}`,
			listen: () => this.listening.add(path),
			staticData: () => (JSON.parse(definition.staticData) ?? {}) as IDataObject,
			executions: () => [...(this.executionsOf.get(id) ?? [])],
		};
	}

	async start(options: StartOptions): Promise<Execution> {
		await prepareEngine();
		const { name = 'Media', behindErrors } = options;
		const inputs = options.inputs ?? (options.items ?? [{}]).map((json) => ({ json }));
		const credentials = { mediaGenerationApi: { id: '1', name: 'Test' } };
		const definition: Definition = {
			id: 'sleeping',
			nodes: [
				node('Source', 'source'),
				node(name, 'mediaGeneration', options.parameters, {
					id: 'id-Media',
					credentials,
					...options.settings,
				}),
				node('After', 'noOp'),
				behindErrors === undefined
					? node('Failed', 'noOp')
					: node('Failed', 'mediaGeneration', behindErrors, {
							credentials,
							onError: 'continueRegularOutput',
						}),
			],
			connections: connect(
				['Source', name],
				...(options.twice === true ? [['Source', name] as [string, string]] : []),
				[name, 'After'],
				[name, 'Failed', 1],
			),
			types: { source: source(inputs), noOp, mediaGeneration },
			credentials: options.credentials,
			staticData: 'null',
		};
		const start = definition.nodes[0] as INode;
		return this.executions.start(definition, 'trigger', { node: start, items: [[{ json: {} }]] });
	}

	onStarted({ id }: Definition, execution: Execution): void {
		this.executionsOf.set(id, [...(this.executionsOf.get(id) ?? []), execution]);
	}

	async post(
		url: string,
		body: unknown,
		headers: Record<string, string> = {},
	): Promise<HttpAnswer> {
		const response = await fetch(url, {
			method: 'POST',
			headers: { 'content-type': 'application/json', ...headers },
			body: typeof body === 'string' ? body : JSON.stringify(body),
		});
		const text = await response.text();
		try {
			return { status: response.status, body: JSON.parse(text) as unknown };
		} catch {
			return { status: response.status, body: text };
		}
	}

	async expectNoSecrets(secrets: string[]): Promise<void> {
		for (const execution of this.executions.all()) {
			if (['waiting', 'running'].includes(execution.status)) continue;
			const { saved, logs } = await execution.settled();
			for (const text of [saved, ...logs])
				for (const secret of secrets) expect(text).not.toContain(secret);
		}
	}

	private async handle(request: N8nRequest, response: N8nResponse): Promise<void> {
		try {
			await prepareEngine();
			const [, kind, ...rest] = new URL(request.originalUrl, 'http://n8n').pathname.split('/');
			const path = rest.join('/').replace(/\/$/, '');
			if (kind === 'webhook-waiting') {
				const call = await wakingCall(this.executions, { request, response }, rest);
				if (call !== undefined) await handleCall(call, this);
			} else if (kind === 'webhook') await this.live(request, response, path);
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
		await handleCall({ ...call, mode: 'webhook' }, this);
	}

	private async test(request: N8nRequest, response: N8nResponse, path: string): Promise<void> {
		const call = this.listening.has(path) ? this.callOf(path, request, response) : undefined;
		if (call === undefined)
			throw new HttpError(404, `The requested webhook "${path}" is not registered.`);
		if (await handleCall({ ...call, mode: 'manual' }, this)) this.listening.delete(path);
	}
}

export async function startWebhooks(): Promise<WebhookHost> {
	const host = new Host();
	await host.listen();
	return host;
}
