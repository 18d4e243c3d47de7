/**
 * Which sleeping execution a call of a resume URL wakes, and what n8n refuses (as `WaitingWebhooks` of n8n 2.41 has it). Used by
 * `webhook.ts`.
 */
import type { Executions } from './executions';
import { HttpError, type N8nRequest, type N8nResponse } from './n8nHttp';
import { webhooksOf, type Call } from './webhookCall';

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
