/** Throwing in webhook() would end the execution as failed, and still run the next node with an empty item: `wake` never does. */
import type { IWebhookFunctions } from 'n8n-workflow';
import { wake } from '../../nodes/MediaGeneration/sleep/wake';
import { WebhookResponse } from './webhookResponse';

/** A call for a sleeping execution; `broken` throws. */
function call(broken: 'evaluateExpression' | 'getCredentials' | 'getNode' | 'getBodyData') {
	const response = new WebhookResponse();
	const body = { id: 'task-1', status: 'done' };
	const context = {
		getNode: () => ({ id: 'n', name: 'Media', type: 'x', parameters: {} }),
		getWorkflow: () => ({ id: 'w' }),
		getExecutionId: () => '1',
		getMode: () => 'trigger',
		getRequestObject: () => ({ body, headers: {}, originalUrl: '/webhook-waiting/1/n' }),
		getResponseObject: () => response,
		getBodyData: () => body,
		getHeaderData: () => ({ 'content-type': 'application/json' }),
		getQueryData: () => ({}),
		evaluateExpression: (expression: string) => (expression.includes('$input') ? [] : undefined),
		getCredentials: async () => await Promise.resolve({}),
		logger: { debug() {}, info() {}, warn() {}, error() {} },
		helpers: {},
		[broken]: () => {
			throw new Error('broken');
		},
	};
	return { context: context as unknown as IWebhookFunctions, response };
}

test.each(['evaluateExpression', 'getCredentials', 'getNode', 'getBodyData'] as const)(
	'where %s throws',
	async (broken) => {
		const { context, response } = call(broken);
		const result = await wake(context);
		expect(result.workflowData).toBeUndefined();
		expect(result.noWebhookResponse).toBe(true);
		expect(response.statusCode).toBeGreaterThanOrEqual(400);
		expect(response.sent).toMatchObject({ received: false });
	},
);
