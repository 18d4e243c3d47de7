import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { base, called, chain, generate, type Link, oneItemEach } from './harness/nodes';

/** What n8n does with the items of a node that both outputs of another one lead to: it runs twice, and may sleep in each run. */
describe('branches', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	const even = {
		leftValue: '={{ $itemIndex % 2 === 0 }}',
		rightValue: '',
		operator: { type: 'boolean', operation: 'true', singleValue: true },
	};
	const options = { version: 2, typeValidation: 'loose' };

	it('both outputs of an If lead into one Generate that suspends: every item comes out with its own task', async () => {
		const { rest, service } = context;
		const jobs = [0, 1, 2, 3].map((index) => ({ text: `Sound ${index}` }));
		const nodes = [
			called('branches'),
			oneItemEach(),
			base('If', ['if', 2.2], {
				conditions: { options, combinator: 'and', conditions: [even] },
			}),
			generate({ waitMode: 'callback' }, { gracePeriod: 0 }),
		];
		const links: Link[] = [...chain(nodes), ['If', 'Generate', 1]];
		const workflow = await context.save(nodes, links);
		const id = await rest.startByWebhook(workflow, 'branches', { jobs });
		const { resultData } = await rest.waitForExecution(id);
		const all = (resultData.runData.Generate ?? []).flatMap(({ data }) => data?.main[0] ?? []);
		const textOf = (taskId: unknown) => service.task(String(taskId)).body.text;
		assert.deepEqual(
			all.map(({ json }) => textOf(json.task_id)).sort(),
			jobs.map(({ text }) => text),
		);
		assert.equal(service.creations().length, 4);
		assert.ok(service.callbacks.length > 0, 'it slept');
		assert.ok(all.every(({ json, binary }) => json.status === 'done' && binary?.data));
	});
});
