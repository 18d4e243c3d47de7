/**
 * One call of a webhook, or of a resume URL, in n8n's own order of steps (as `WebhookHelpers` of n8n 2.41 has it): the body is read, the node is
 * asked, the execution is stored and started or resumed, and the sender gets its answer. Used by `webhook.ts`.
 */
import { WebhookContext } from 'n8n-core';
import {
	NodeHelpers,
	type INode,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookDescription,
	type IWebhookResponseData,
	type Workflow,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import type { Definition, Execution, Executions } from './executions';
import { HttpError, parseBody, type N8nRequest, type N8nResponse } from './n8nHttp';

export interface Call {
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

/** The n8n that is called. */
export interface CalledN8n {
	readonly executions: Executions;
	/** `fails`: n8n answers 500 where it would start an execution. */
	storing: 'works' | 'fails';
	/** Called for every execution that a call starts. */
	onStarted(definition: Definition, execution: Execution): void;
}

/** The node's webhooks with their paths, as n8n registers them. */
export function webhooksOf(workflow: Workflow, start: INode): IWebhookData[] {
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

/** n8n's `executeWebhook`. Resolves with whether an execution runs now. */
export async function handleCall(call: Call, n8n: CalledN8n): Promise<boolean> {
	const { executions } = n8n;
	const { definition, workflow, start, mode, request, response, asleep } = call;
	await workflow.expression.acquireIsolate?.();
	await parseBody(request, workflow, start, mode);
	const result = await callNode(call, executions);
	const save = () => {
		if (mode === 'webhook' && asleep === undefined) executions.saveStaticData(definition, workflow);
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
	if (n8n.storing === 'fails') throw new Error('There was a problem executing the workflow');
	if (asleep === undefined) {
		executions.establishContext(definition, workflow);
		const execution = executions.start(definition, mode, {
			node: start,
			items: result.workflowData,
		});
		n8n.onStarted(definition, execution);
	} else resume(asleep, result, executions);
	const stated: unknown = description('responseData', 'firstEntryJson');
	const body: unknown = stated === '' ? result.webhookResponse : stated;
	save();
	if (!silent) response.status(code).json(body ?? { message: 'Workflow was started' });
	return true;
}

function resume(
	{ id, data }: NonNullable<Call['asleep']>,
	result: IWebhookResponseData,
	executions: Executions,
): void {
	const resuming = data.executionData?.nodeExecutionStack[0];
	if (resuming !== undefined) {
		resuming.data.main = result.workflowData ?? [];
		resuming.metadata = { ...resuming.metadata, forwardAllOutputs: true };
	}
	if (!executions.resume(id, data)) throw new Error('There was a problem executing the workflow');
}

/** A webhook that throws is answered 500, and n8n runs the workflow with one empty item all the same. */
async function callNode(call: Call, executions: Executions): Promise<IWebhookResponseData> {
	const { definition, workflow, start, webhook, mode, request, response, asleep } = call;
	const additionalData = executions.additionalData(definition, asleep?.id);
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
		response.status(500).json({ code: 0, message: 'Workflow could not be started!', was: message });
		return { noWebhookResponse: true, workflowData: [[{ json: {} }]] };
	}
}

/** The call that wakes a sleeping execution; undefined where it was refused with an answer. Throws an HttpError for other refusals. */
export async function wakingCall(
	executions: Executions,
	{ request, response }: { request: N8nRequest; response: N8nResponse },
	[id = '', suffix = '']: string[],
): Promise<Call | undefined> {
	const found = executions.read(id);
	if (found === undefined) throw new HttpError(404, `The execution "${id}" does not exist.`);
	const { row, data } = found;
	const { signature } = request.query as Record<string, unknown>;
	if (signature !== data.resumeToken) {
		response.status(401).json({ error: 'Invalid token' });
		return undefined;
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
	const workflow = executions.workflowOf(row.definition);
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
	return {
		definition,
		workflow,
		start,
		webhook,
		mode,
		request,
		response,
		asleep: { id, data },
	};
}
