/** Throwing in webhook() would end the execution as failed, and still run the next node with an empty item: `wake` never does. */
import type { IWebhookFunctions } from 'n8n-workflow';
import type { Notes } from '../../nodes/MediaGeneration/sleep/notes';
import { wake } from '../../nodes/MediaGeneration/sleep/wake';
import type { Watch } from '../../nodes/MediaGeneration/wait/poll';
import { ASSEMBLY, FILES } from './itemSettings';
import { WebhookResponse } from '../support/webhookResponse';

const TASK: Watch = { taskId: 'task-1', kind: 'x', createdAt: 0, deadline: 1 };
const NOTES: Notes = {
	id: 'never-throws',
	watched: true,
	items: [{ kind: 'open', tasks: [TASK], files: FILES, assembly: ASSEMBLY }],
};

/** A call for a sleeping execution; `broken` throws. */
function call(broken: 'evaluateExpression' | 'getCredentials' | 'getNode' | 'getBodyData') {
	const warnings: string[] = [];
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
		evaluateExpression: () => ['[{ "json": {} }]', NOTES, 'https://n8n.example/webhook-waiting/1'],
		getCredentials: async () => await Promise.resolve({}),
		logger: { warn: (text: string) => warnings.push(text) },
		helpers: {},
		[broken]: () => {
			throw new Error('broken');
		},
	};
	return { context: context as unknown as IWebhookFunctions, response, warnings };
}

test.each(['evaluateExpression', 'getCredentials', 'getNode', 'getBodyData'] as const)(
	'where %s throws',
	async (broken) => {
		const { context, response, warnings } = call(broken);
		const result = await wake(context);
		expect(result.workflowData).toBeUndefined();
		expect(result.noWebhookResponse).toBe(true);
		expect(response.statusCode).toBeGreaterThanOrEqual(400);
		expect(response.sent).toMatchObject({ received: false });
		expect(warnings).toEqual([
			'Media Generation: a call for a sleeping execution could not be handled: broken',
		]);
	},
);
