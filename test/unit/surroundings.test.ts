/** What is said before an execution falls asleep, as n8n would do something else with it later. docs/waiting.md. */
import { warnOfSurroundings } from '../../nodes/MediaGeneration/suspend/surroundings';
import { fakeN8n } from '../support/n8n';

interface Around {
	executionTimeout?: number | null;
	mode?: string;
	parents?: object[];
	timeoutMs?: number;
}

/** The hints, and the lines of the log. */
function said({ executionTimeout, mode, parents = [], timeoutMs = 120_000 }: Around) {
	const { context, hints, warnings } = fakeN8n({
		settings: executionTimeout === null ? null : { executionTimeout },
		mode: mode ?? 'trigger',
		own: {
			getParentNodes: (_name: string, options: object) => {
				expect(options).toEqual({ includeNodeParameters: true });
				return parents;
			},
		},
	});
	warnOfSurroundings(context, timeoutMs);
	return [hints.map(({ message }) => message), warnings];
}

const webhook = (responseMode: string, more = {}) => ({
	...{ name: 'Hook', type: 'n8n-nodes-base.webhook', parameters: { responseMode }, ...more },
});
const chat = (parameters: object) => ({
	...{ name: 'Chat', type: '@n8n/n8n-nodes-langchain.chatTrigger', parameters },
});
const after = (...parents: object[]) => ({ parents });
const last = webhook('lastNode');
const waits = /" answers its caller with unfinished/;
const atOnce = /Let it answer at once with the task_id/;
const ownTimeout =
	/^The workflow's own Timeout \(90 s\) ends before the Timeout of this node \(2 minutes\)$/;
const eachItem = /"once for each item", only one of its items goes on: use Poll/;
const notEvaluated = /n8n's evaluation does not wait .* counts this row as failed: use Poll$/;
const costliest = { ...after(last), mode: 'integrated', executionTimeout: 90 };

test.each<[string, Around, hint: RegExp, line: RegExp]>([
	["the workflow's own Timeout", { executionTimeout: 90 }, ownTimeout, /n8n cancels the execution/],
	['a caller that waits for the last node', after({ type: 'x.set' }, last), waits, atOnce],
	['a chat, as it does by itself', after(chat({})), waits, atOnce],
	['one that is set so', after(chat({ options: { responseMode: 'lastNode' } })), waits, atOnce],
	['a parent that may run it once for each item', { mode: 'integrated' }, eachItem, eachItem],
	['an evaluation', { mode: 'evaluation' }, notEvaluated, notEvaluated],
	['several, of which the costliest is told', costliest, ownTimeout, /cancels/],
])('%s', (_name, around, hint, line) => {
	expect(said(around)).toEqual([[expect.stringMatching(hint)], [expect.stringMatching(line)]]);
});

test.each<[string, Around]>([
	['a Timeout that is not shorter', { executionTimeout: 90, timeoutMs: 90_000 }],
	['none', { executionTimeout: -1 }],
	['none that n8n could name', { executionTimeout: null }],
	['a caller that is answered at once', after(webhook('onReceived'))],
	['one that is disabled', after(webhook('lastNode', { disabled: true }))],
	['a chat that a node answers', after(chat({ options: { responseMode: 'responseNodes' } }))],
])('%s is nothing to tell of', (_name, around) => {
	expect(said(around)).toEqual([[], []]);
});
