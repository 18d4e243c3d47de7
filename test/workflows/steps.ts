/** n8n's own nodes. */
import type { Start } from './case';
import {
	agent,
	base,
	calledByParent,
	chatModel,
	last,
	listed,
	type Node,
} from '../n8n/harness/nodes';
import type { Choices } from './choices';
import type { Graph, Port } from './graph';

const ports = (node: string, count: number): Port[] =>
	Array.from({ length: count }, (_, output) => ({ node, output }));

const when = (condition: string) =>
	base('If', ['if', 2.2], {
		conditions: {
			options: { version: 2, typeValidation: 'loose', caseSensitive: true, leftValue: '' },
			combinator: 'and',
			conditions: [
				{
					id: 'condition',
					leftValue: `={{ ${condition} }}`,
					rightValue: '',
					operator: { type: 'boolean', operation: 'true', singleValue: true },
				},
			],
		},
		options: {},
	});

/** The path of a case's webhook. */
export const pathOf = (seed: number): string => `random-${seed}`;

export function startOf(start: Start, seed: number): Node {
	if (start === 'manual') return base('Start', ['manualTrigger', 1]);
	const webhook = base('Start', ['webhook', 2], {
		httpMethod: 'POST',
		path: pathOf(seed),
		responseMode: start,
		options: {},
	});
	return { ...webhook, webhookId: pathOf(seed) };
}

export function addAnswer(graph: Graph, from: readonly Port[]): void {
	const answer = { respondWith: 'json', responseBody: '{ "answered": true }', options: {} };
	graph.add(base('Answer', ['respondToWebhook', 1.4], answer), from);
}

/** A start, and so many items. */
export function addItems(graph: Graph, given: Node, count: number): Port[] {
	const start = graph.add(given);
	const list = Array.from({ length: count }, (_, index) => ({ item: `i${index}` }));
	return listed(list, 'Items').reduce(
		(from, node) => ports(graph.add(node, from), 1),
		ports(start, 1),
	);
}

export function addCalled(graph: Graph): Port[] {
	return ports(graph.add(calledByParent()), 1);
}

export function addEdit(graph: Graph, from: readonly Port[]): Port[] {
	const edit = base('Edit', ['set', 3.4], {
		mode: 'manual',
		assignments: { assignments: [{ id: 'a', name: 'seen', value: 'yes', type: 'string' }] },
		includeOtherFields: true,
		options: {},
	});
	return ports(graph.add(edit, from), 1);
}

export function addIf(graph: Graph, from: readonly Port[], condition: string): Port[] {
	return ports(graph.add(when(condition), from), 2);
}

export function addSwitch(graph: Graph, from: readonly Port[]): Port[] {
	const by = { mode: 'expression', numberOutputs: 3, output: '={{ $itemIndex % 3 }}' };
	return ports(graph.add(base('Switch', ['switch', 3.2], by), from), 3);
}

export function addMerge(graph: Graph, first: Port, second: Port): Port[] {
	const name = graph.add(base('Merge', ['merge', 3.1], { mode: 'append', numberInputs: 2 }), [
		first,
	]);
	graph.link([second], name, 1);
	return ports(name, 1);
}

/** @returns the loop's name, the port of each batch, and that of all of them */
export function addLoop(graph: Graph, from: readonly Port[], batchSize: number) {
	const name = graph.add(base('Loop', ['splitInBatches', 3], { batchSize, options: {} }), from);
	return { name, batch: { node: name, output: 1 }, done: { node: name, output: 0 } };
}

export function addCall(random: Choices, graph: Graph, from: readonly Port[]): Port[] {
	const call = base('Call', ['executeWorkflow', 1.2], {
		workflowId: { __rl: true, mode: 'id', value: '__CHILD__' },
		mode: random.pick(['once', 'each']),
		options: { waitForSubWorkflow: true },
	});
	const settings = random.pick([{}, {}, { onError: 'continueRegularOutput' }]);
	return ports(graph.add({ ...call, ...settings }, from), 1);
}

export function addStopAndError(graph: Graph, from: readonly Port[]): void {
	graph.add(base('Fail', ['stopAndError', 1], { errorMessage: 'as planned' }), from);
}

export function addEnd(graph: Graph, from: readonly Port[]): void {
	graph.add(last('End'), from);
}

/** An AI Agent whose model does as it is told. @returns its name */
export function addAgent(graph: Graph, from: readonly Port[]): string {
	const name = graph.add(agent('Make sounds.'), from);
	graph.lend(graph.add(chatModel('__MODEL__')), name, 'ai_languageModel');
	return name;
}
