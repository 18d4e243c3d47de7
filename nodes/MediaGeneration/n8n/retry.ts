/**
 * Finds out whether n8n's Retry repeats an execution that was killed, so that this node may have sent requests of which nothing is noted.
 * n8n saves an execution when it begins to wait, when it wakes, when a node has finished if the workflow saves its progress, and when it
 * ends (n8n 2.41). Its Retry begins with the first node that the saved state leaves to run, and that tells what became of the execution:
 *
 * | It begins with                                        | so that the execution                                         | killed  |
 * |-------------------------------------------------------|---------------------------------------------------------------|---------|
 * | this node, or n8n doesn't tell                        | failed here (the ledger has its run), or was killed here      | perhaps |
 * | the trigger                                           | failed there, or was killed before anything was saved         | perhaps |
 * | one that can sleep                                    | was killed after that node had woken, unless this Retry slept | perhaps |
 * | another one, and n8n's recovery noted a crash here    | was a Retry, and was killed                                   | yes     |
 * | another one                                           | failed there, so that this node never ran                     | no      |
 */
import type { IExecuteFunctions, INode } from 'n8n-workflow';
import { asText } from '../base/json';
import { isToolRun } from './execution';
import { hasSlept } from './sleep';

/** What an execution may have sent without a note. Times are epoch ms by the machine's clock, which outlives a process. */
export interface UnrecordedRun {
	/** No later than the first request; undefined if n8n doesn't tell. */
	beganAt?: number | undefined;
	/** When its Retry began, so that it had surely ended. */
	endedBefore: number;
	/** ID of that execution, if n8n names it: 2.14 does not, nor 2.41 once its Retry has slept (`wait-tracker`). */
	repeated?: string | undefined;
}

interface NodeRunData {
	startTime?: unknown;
	executionIndex?: unknown;
	source?: unknown[];
	executionStatus?: unknown;
}

/** Not part of n8n's interface: how many nodes it has started in this execution, which execution it repeats, and the nodes' results (n8n-core 2.41). */
interface Internals {
	additionalData?: { currentNodeExecutionIndex?: unknown; hooks?: { retryOf?: unknown } };
	runExecutionData?: { resultData?: { runData?: Record<string, NodeRunData[]> } };
	workflow?: { nodes?: Record<string, INode> };
}

/** Behind a Chat Trigger, a response is a sleep of a moment. An agent's tools sleep as nodes of their own. */
const SLEEPS =
	/^(n8n-nodes-base|@n8n\/n8n-nodes-langchain)\.(wait|form|executeWorkflow|toolWorkflow|respondToWebhook|chat|chatTool)$/;

function canSleep(context: IExecuteFunctions, node: INode | undefined): boolean {
	if (node === undefined) return true;
	// `sendAndWait`, `dispatchAndWait`: approvals, forms in messages, GitHub's workflows.
	const isAnswered = /AndWait$/.test(asText(node.parameters.operation) ?? '');
	if (SLEEPS.test(node.type) || isAnswered) return true;
	return node.type === context.getNode().type && hasSlept(context);
}

/** Finds the node with which this execution began, unless it is this one. Other runs are those that it repeats, or made up by n8n's recovery. */
function firstNode({ additionalData, runExecutionData, workflow }: Internals) {
	const started = additionalData?.currentNodeExecutionIndex;
	if (typeof started !== 'number' || started <= 1) return undefined;
	const runs = Object.entries(runExecutionData?.resultData?.runData ?? {}).flatMap(
		([name, ofNode]) => ofNode.map((run) => ({ name, run })),
	);
	const [first] = runs
		.filter(({ run }) => run.executionIndex === 0)
		.sort((one, other) => Number(other.run.startTime) - Number(one.run.startTime));
	const isTrigger = first?.run.source?.[0] === undefined;
	return first && { isTrigger, node: workflow?.nodes?.[first.name] };
}

/** Returns whether n8n's recovery has noted a crash of this node. Retry removes that run if it is the last one (`execution-recovery.service.js`, n8n 2.41). */
function crashedHere(context: IExecuteFunctions, { runExecutionData }: Internals): boolean {
	const runs = runExecutionData?.resultData?.runData?.[context.getNode().name];
	return runs !== undefined && (runs.at(-1)?.executionStatus ?? 'crashed') === 'crashed';
}

/** Goes through the rows of the table above. */
function mayRepeatKilled(context: IExecuteFunctions, inner: Internals): boolean {
	const first = firstNode(inner);
	if (first === undefined || first.isTrigger) return true;
	return canSleep(context, first.node) || crashedHere(context, inner);
}

/** Returns what may have been sent without a note, if this execution is n8n's Retry of one that may have been killed. */
export function unrecordedRun(context: IExecuteFunctions): UnrecordedRun | undefined {
	if (context.getMode() !== 'retry' || isToolRun(context)) return undefined;
	const inner = context as Internals;
	if (!mayRepeatKilled(context, inner)) return undefined;
	const { getExecutionContext } = context as Partial<IExecuteFunctions>;
	// n8n keeps it from the first execution to the last Retry.
	const beganAt = getExecutionContext?.call(context)?.establishedAt;
	const repeated = asText(inner.additionalData?.hooks?.retryOf);
	return { beganAt, endedBefore: Date.now(), repeated };
}
