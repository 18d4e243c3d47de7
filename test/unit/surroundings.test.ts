/** What is said before an execution falls asleep, as n8n would do something else with it later. docs/waiting.md. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { warnOfSurroundings } from '../../nodes/MediaGeneration/suspend/surroundings';

interface Around {
	executionTimeout?: number | null;
	mode?: string;
	parents?: object[];
}

function said({ executionTimeout, mode = 'trigger', parents = [] }: Around, timeoutMs = 120_000) {
	const hints: string[] = [];
	const lines: string[] = [];
	const context = {
		addExecutionHints: ({ message }: { message: string }) => hints.push(message),
		logger: { warn: (line: string) => lines.push(line) },
		...(executionTimeout !== null && { getWorkflowSettings: () => ({ executionTimeout }) }),
		getMode: () => mode,
		getNode: () => ({ name: 'Generate' }),
		getParentNodes: (_name: string, options: object) => {
			expect(options).toEqual({ includeNodeParameters: true });
			return parents;
		},
	} as unknown as IExecuteFunctions;
	warnOfSurroundings(context, timeoutMs);
	return { hints, lines };
}

const nothing = { hints: [], lines: [] };
const webhook = (parameters: object, more = {}) => ({
	name: 'Hook',
	type: 'n8n-nodes-base.webhook',
	parameters,
	...more,
});
const chat = (parameters: object) => ({
	name: 'Chat',
	type: '@n8n/n8n-nodes-langchain.chatTrigger',
	parameters,
});

test("the workflow's own Timeout ends before the deadline", () => {
	const { hints, lines } = said({ executionTimeout: 90 });
	const words =
		"The workflow's own Timeout (90 s) ends before the Timeout of this node (2 minutes)";
	expect(hints).toEqual([words]);
	expect(lines).toEqual([expect.stringContaining(`${words}: n8n cancels the execution`)]);
});

test.each<[number | null | undefined, number]>([
	[90, 90_000],
	[90, 60_000],
	[-1, 60_000],
	[0, 60_000],
	[undefined, 60_000],
	[null, 60_000],
])('a workflow Timeout of %j s is nothing to tell of with %d ms', (executionTimeout, timeoutMs) => {
	expect(said({ executionTimeout }, timeoutMs)).toEqual(nothing);
});

test.each([
	['Hook', webhook({ responseMode: 'lastNode' })],
	['Chat', chat({})],
	['Chat', chat({ options: { responseMode: 'lastNode' } })],
])('%s waits for the last node, and gets what sleeps', (name, parent) => {
	const { hints, lines } = said({
		parents: [{ name: 'Edit', type: 'n8n-nodes-base.set' }, parent],
	});
	expect(hints).toEqual([expect.stringContaining(`${name}" answers its caller with unfinished`)]);
	expect(lines).toEqual([expect.stringContaining('Let it answer at once with the task_id')]);
});

test.each([
	['at once', webhook({ responseMode: 'onReceived' })],
	['by Respond to Webhook', webhook({ responseMode: 'responseNode' })],
	['never, as it is disabled', webhook({ responseMode: 'lastNode' }, { disabled: true })],
	['by a response node', chat({ options: { responseMode: 'responseNodes' } })],
])('a trigger that answers %s is fine', (_, parent) => {
	expect(said({ parents: [parent] })).toEqual(nothing);
});

test('a sub-workflow that a parent may run once for each item', () => {
	const words = /"once for each item", only one of its items goes on: use Poll/;
	const { hints, lines } = said({ mode: 'integrated' });
	expect(hints).toEqual([expect.stringMatching(words)]);
	expect(lines).toEqual([expect.stringMatching(words)]);
});

test('one hint at most, the costliest first', () => {
	const parents = [webhook({ responseMode: 'lastNode' })];
	const { hints } = said({ executionTimeout: 5, mode: 'integrated', parents });
	expect(hints).toEqual([expect.stringContaining('own Timeout (5 s)')]);
});
