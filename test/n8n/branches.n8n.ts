import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownContext, type TestContext } from './harness/context';
import { type Execution, type Item, items, type NodeRun } from './harness/execution';
import { action, base, chain, type Link, type Node, workflowOf } from './harness/nodes';

const start = base('Start', ['manualTrigger', 1]);
const list = (count: number): Node[] => [
	start,
	base('List', ['set', 3.4], {
		mode: 'raw',
		jsonOutput: JSON.stringify({
			list: Array.from({ length: count }, (_, index) => ({ text: `Sound ${index}` })),
		}),
		options: {},
	}),
	base('Items', ['splitOut', 1], { fieldToSplitOut: 'list', options: {} }),
];
const even = (name = 'If', condition = '$itemIndex % 2 === 0') =>
	base(name, ['if', 2.2], {
		conditions: {
			options: { version: 2, typeValidation: 'loose' },
			combinator: 'and',
			conditions: [
				{
					leftValue: `={{ ${condition} }}`,
					rightValue: '',
					operator: { type: 'boolean', operation: 'true', singleValue: true },
				},
			],
		},
	});
const asleep = { waitMode: 'callback', options: { gracePeriod: 0 } };
const sound = (name: string, parameters: Record<string, unknown> = {}, settings = {}): Node => ({
	...action(
		{ resource: 'soundEffect', operation: 'generate', text: '={{ $json.text }}', ...parameters },
		settings,
	),
	name,
});
const waiting = (name: string, parameters: object = {}, settings = {}): Node => ({
	...action({ resource: 'task', operation: 'wait', ...parameters }, settings),
	name,
});
const toErrorOutput = { onError: 'continueErrorOutput' };

/** What n8n does with the items of a node whose outputs, loops and Retries meet the same node again. */
describe('branches', () => {
	let context: TestContext;
	ownContext((own) => (context = own));

	async function save(nodes: Node[], links: Link[]) {
		const { rest, credential } = context;
		return await rest.createWorkflow(workflowOf('branches', nodes, credential, links));
	}

	async function run(nodes: Node[], links: Link[]): Promise<Execution> {
		return await context.rest.run(await save(nodes, links), 'Start');
	}

	const created = () => context.service.creations().map(({ body }) => body.text);
	const runsOf = ({ resultData }: Execution, name: string): NodeRun[] =>
		resultData.runData[name] ?? [];
	const allOf = (execution: Execution, name: string): Item[] =>
		runsOf(execution, name).flatMap(({ data }) => data?.main.flatMap((each) => each ?? []) ?? []);

	it('both outputs of an If lead into one Generate that suspends: every item comes out with its own task', async () => {
		const nodes = [...list(4), even(), sound('Generate', asleep)];
		const links: Link[] = [...chain(nodes), ['If', 'Generate', 1]];
		const all = allOf(await run(nodes, links), 'Generate');
		assert.deepEqual(created().sort(), ['Sound 0', 'Sound 1', 'Sound 2', 'Sound 3']);
		const texts = all.map(({ json }) => context.service.task(String(json.task_id)).body.text);
		// n8n begins with the output whose way is drawn higher.
		assert.deepEqual(texts.sort(), ['Sound 0', 'Sound 1', 'Sound 2', 'Sound 3']);
		assert.ok(all.every(({ json, binary }) => json.status === 'done' && binary?.data));
	});

	for (const [how, steering, outcome] of [
		['is refused', '', 'invalid'],
		['fails', '{"stand_in":{"end":"error"}}', 'failed'],
		['fails asleep', '{"stand_in":{"end":"error"}}', 'failed'],
	] as const)
		it(`a Generate behind a Generate ${how}: its error output leads Task: Wait to that failure, not to the first one's file`, async () => {
			const second = sound(
				'Second',
				{
					text: outcome === 'invalid' ? "={{ '' }}" : 'Second',
					...(how === 'fails asleep' && { waitMode: 'callback' }),
					options: { extraFields: steering, gracePeriod: 0 },
				},
				toErrorOutput,
			);
			const behind = waiting('Wait', {}, { onError: 'continueRegularOutput' });
			const nodes = [...list(1), sound('First'), second, behind];
			const links: Link[] = [...chain(nodes.slice(0, -1)), ['Second', 'Wait', 1]];
			const [item] = items(await run(nodes, links), 'Wait');
			assert.equal(item?.json.outcome, outcome);
			assert.notEqual(item.json.task_id, context.service.creations()[0]?.id);
			assert.equal(item.binary, undefined);
		});

	it('Stop After Credits counts all rounds of a loop', async () => {
		context.service.settings.costs.sound_effect = 12;
		const loop = base('Loop', ['splitInBatches', 3], { batchSize: 2, options: {} });
		const capped = sound(
			'Generate',
			{ options: { maximumCredits: 30 } },
			{ onError: 'continueRegularOutput' },
		);
		const nodes = [...list(10), loop, capped];
		const links: Link[] = [...chain(nodes.slice(0, -1)), ['Loop', 'Generate', 1]];
		const execution = await run(nodes, [...links, ['Generate', 'Loop']]);
		assert.equal(created().length, 3);
		assert.equal(allOf(execution, 'Generate').length, 10);
	});
});
