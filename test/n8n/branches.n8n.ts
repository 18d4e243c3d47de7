import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { action, base, chain, type Link, start } from './harness/nodes';

/** What n8n does with the items of a node that both outputs of another one lead to: it runs twice, and may sleep in each run. */
describe('branches', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	const even = {
		leftValue: '={{ $itemIndex % 2 === 0 }}',
		rightValue: '',
		operator: { type: 'boolean', operation: 'true', singleValue: true },
	};

	it('both outputs of an If lead into one Generate that suspends: every item comes out with its own task', async () => {
		const { rest, service } = context;
		const texts = ['Sound 0', 'Sound 1', 'Sound 2', 'Sound 3'];
		const nodes = [
			start(),
			base('List', ['set', 3.4], { mode: 'raw', jsonOutput: JSON.stringify({ texts }) }),
			base('Items', ['splitOut', 1], { fieldToSplitOut: 'texts', options: {} }),
			base('If', ['if', 2.2], {
				conditions: {
					options: { version: 2, typeValidation: 'loose' },
					combinator: 'and',
					conditions: [even],
				},
			}),
			action({
				...{ resource: 'soundEffect', operation: 'generate', text: '={{ $json.texts }}' },
				...{ waitMode: 'callback', options: { gracePeriod: 0 } },
			}),
		];
		const links: Link[] = [...chain(nodes), ['If', 'Generate', 1]];
		const { resultData } = await rest.run(await context.save(nodes, links), 'Start');
		const all = (resultData.runData.Generate ?? []).flatMap(({ data }) => data?.main[0] ?? []);
		const textOf = (taskId: unknown) => service.task(String(taskId)).body.text;
		assert.deepEqual(all.map(({ json }) => textOf(json.task_id)).sort(), texts);
		assert.equal(service.creations().length, 4);
		assert.ok(service.callbacks.length > 0, 'it slept');
		assert.ok(all.every(({ json, binary }) => json.status === 'done' && binary?.data));
	});
});
