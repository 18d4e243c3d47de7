/** What is left of a case when all is over: the stand-in's books, and n8n's saved executions. */
import { parse } from 'flatted';
import type { StandIn } from '../service';
import { type Execution, type Item, type NodeRun, readExecution } from '../n8n/harness/execution';
import type { SavedWorkflow } from '../n8n/harness/rest';
import type { Workflow } from '../n8n/harness/workflow';
import type { Case, MediaNode, Plan } from './case';

/** An execution with the text of its data, as n8n's database has it. */
export interface Saved extends Execution {
	plan: Plan;
	raw: string;
}

export interface Evidence {
	played: Case;
	service: StandIn;
	/** The workflows as n8n has them, the sub-workflow first. */
	workflows: SavedAs[];
	executions: Saved[];
	/** Executions that were not over in time. */
	unfinished: string[];
	/** When n8n, or a process of it, was killed, in epoch ms. */
	killedAt: readonly number[];
	/** All that n8n has written to its log. */
	log: string;
	/** What must be nowhere in what n8n saves. */
	secrets: string[];
}

export type RawExecution = Parameters<typeof readExecution>[0];

export const savedOf = (raw: RawExecution, plan: Plan): Saved => ({
	...readExecution(raw),
	...{ plan, raw: raw.data },
});

/** n8n's own token of an execution that has slept. */
export function resumeTokenOf({ raw }: Saved): string | undefined {
	const { resumeToken } = (parse(raw) ?? {}) as { resumeToken?: string };
	return resumeToken;
}

export const runsOf = ({ resultData }: Saved, node: string): NodeRun[] =>
	resultData.runData[node] ?? [];

/**
 * The items that a run of a node got, by the node that gave them out. With execution order v0, n8n gives an empty item of its own to a way
 * that got none and leads to a Merge. As its source it names a node of another way (`addNodeToBeExecuted`, n8n-core 2.41).
 */
export function inputOf(
	execution: Saved,
	{ name, executeOnce }: Pick<MediaNode, 'name' | 'executeOnce'>,
	{ source }: NodeRun,
): Item[] {
	const [from] = source ?? [];
	if (from == null) return [];
	const { graph } = execution.plan;
	const isLinked = graph
		.into(name)
		.some(
			(port) => port.node === from.previousNode && port.output === (from.previousNodeOutput ?? 0),
		);
	if (!isLinked && graph.settings.executionOrder === 'v0') return [{ json: {} }];
	const before = runsOf(execution, from.previousNode)[from.previousNodeRun ?? 0];
	const items = before?.data?.main?.[from.previousNodeOutput ?? 0] ?? [];
	return executeOnce ? items.slice(0, 1) : items;
}

export const outputsOf = ({ data }: NodeRun): Item[] =>
	(data?.main ?? []).flatMap((items) => items ?? []);

/** An execution and its Retries, the first one first. */
export function familiesOf(executions: readonly Saved[]): Saved[][] {
	const families = new Map<string, Saved[]>();
	for (const execution of [...executions].sort((a, b) => Number(a.id) - Number(b.id))) {
		const family = families.get(execution.retryOf ?? '') ?? [];
		family.push(execution);
		families.set(execution.id, family);
	}
	return [...new Set(families.values())];
}

/** A workflow that n8n can import, with the ID that others of its case call it by. */
export type SavedAs = Workflow & { id: string };

export type Workflows = ReadonlyArray<{ plan: Plan; workflow: SavedWorkflow; as: SavedAs }>;
