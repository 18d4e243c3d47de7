import type { FaultRule, SettingsPatch } from '../service';
import type { Graph } from './graph';
import type { ModelAnswer } from '../n8n/harness/scriptedModel';

/** How the items of our nodes are told apart: the text of each task is a tag that names the item, the node and its run. */
export interface MediaNode {
	name: string;
	kind: 'creates' | 'waits' | 'tool';
	/** False where the ID of a task goes out at once. */
	waits: boolean;
	suspends: boolean;
	executeOnce: boolean;
	splits: boolean;
	maximumCredits: number | undefined;
}

export interface Plan {
	graph: Graph;
	media: MediaNode[];
	/** What the chat model answers, where an agent calls a node as its tool. */
	script?: Script;
}

export type Script = readonly [ModelAnswer, ...ModelAnswer[]];

/** What happens from outside while a workflow runs. */
export interface Events {
	stopAfterMs: number | undefined;
	/** When the workflow is started a second time. */
	againAfterMs: number | undefined;
	/** How often somebody presses Retry where an execution has failed. */
	retries: number;
	/** Whether Retry takes the workflow as it is saved now, which is the same. */
	retriesCurrent: boolean;
}

/** How the workflow starts: by hand, or by a call whose answer comes with the last node or with Respond to Webhook. */
export type Start = 'manual' | 'lastNode' | 'responseNode';

/** Everything that a seed stands for. */
export interface Case {
	seed: number;
	/** Whether n8n is killed while the workflow runs, together with others of its batch. */
	restarts: boolean;
	start: Start;
	/** Whether half of the nodes use a second credential with the same key. */
	hasTwoCredentials: boolean;
	main: Plan;
	child: Plan | undefined;
	service: SettingsPatch;
	faults: FaultRule[];
	events: Events;
}

/** What an item is called in the tags; fields of tasks and nodes before it may be around it. */
const ITEM = /"item":"([^"]+)"/;

/** The same as {@link nameOf}, as an expression of n8n. */
export const NAME = `(JSON.stringify($json).match(/"item":"([^"]+)"/)?.[1] ?? $json.task_id ?? 'none')`;

export function nameOf(json: Record<string, unknown>): string {
	const { task_id: id } = json;
	return ITEM.exec(JSON.stringify(json))?.[1] ?? (typeof id === 'string' ? id : 'none');
}

export const tag = (item: string, node: string, run: number): string => `<${item} ${node} ${run}>`;
/** The same, as an expression of n8n inside the node. */
export const tagIn = (node: string): string => `'<' + ${NAME} + ' ${node} ' + $runIndex + '>'`;
export const tagOf = (text: unknown): string => /<[^>]+>/.exec(String(text))?.[0] ?? String(text);
