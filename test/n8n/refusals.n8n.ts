import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inSharedContext, type TestContext } from './harness/context';
import { canSuspend } from './harness/version';

/** What a version of n8n lacks is refused in words before anything is paid for. */
describe('refusals', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	it(
		'suspending, where n8n does not sign its resume URLs',
		{ skip: canSuspend() && 'this n8n can suspend' },
		async () => {
			const { rest, service } = context;
			const workflow = await context.addWorkflow('suspend', { PATH: 'refusal' });
			await rest.publish(workflow);
			const job = { text: 'Long', standIn: { ms: 3_600_000 } };
			await rest.callWebhook('refusal', { jobs: [job], grace: 0, timeout: 60 });
			const [execution] = await rest.waitForExecutions(workflow.id, 1);
			await rest.unpublish(workflow);
			assert.equal(execution?.status, 'error');
			const { message, description } = execution.resultData.error ?? {};
			assert.equal(message, 'This n8n gives no signed resume URL, which suspending needs');
			assert.match(String(description), /Update n8n to 2\.14 or newer.*or set Wait Mode to "Poll"/);
			assert.equal(service.creations().length, 0);
		},
	);
});
