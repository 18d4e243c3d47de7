/**
 * Finds out whether n8n's Retry repeats an execution that was killed, so that this node may have sent requests of which nothing is noted.
 * n8n saves an execution when it begins to wait, when it wakes, when a node has finished if the workflow saves its progress, and when it
 * ends (n8n 2.41). Its Retry begins with the first node that the saved state leaves to run:
 *
 * | First node of the Retry | The execution failed              | The execution was killed                                   |
 * |-------------------------|-----------------------------------|------------------------------------------------------------|
 * | the trigger             | in the trigger                    | before anything was saved                                  |
 * | one that has slept      | never, but this Retry may sleep   | after that node had woken                                  |
 * | this one                | here: the ledger has its run      | here: the ledger lacks its run                             |
 * | another one             | there, so that this one never ran | in a Retry: n8n's recovery may add a run that has crashed  |
 *
 * The rule: unless the first node is another one, the execution counts as killed. Other than that, only n8n's recovery tells.
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

/** Finds the first run of this execution. Other runs in n8n's data are of the executions that it repeats, or made up by its recovery. */
function firstRun({ runExecutionData }: Internals) {
	const runs = Object.entries(runExecutionData?.resultData?.runData ?? {}).flatMap(
		([name, ofNode]) => ofNode.map((run) => ({ name, run })),
	);
	const startOf = ({ run }: (typeof runs)[number]) => Number(run.startTime);
	return runs
		.filter(({ run }) => run.executionIndex === 0)
		.sort((one, other) => startOf(other) - startOf(one))
		.at(0);
}

/** Whether n8n's recovery says so of this node. Retry removes that run if it is the last one (`execution-recovery.service.js`, n8n 2.41). */
function crashedHere(context: IExecuteFunctions, { runExecutionData }: Internals): boolean {
	const runs = runExecutionData?.resultData?.runData?.[context.getNode().name];
	return runs !== undefined && (runs.at(-1)?.executionStatus ?? 'crashed') === 'crashed';
}

function mayRepeatKilled(context: IExecuteFunctions, inner: Internals): boolean {
	const started = inner.additionalData?.currentNodeExecutionIndex;
	const first = typeof started === 'number' && started > 1 ? firstRun(inner) : undefined;
	if (first === undefined || first.run.source?.[0] === undefined) return true;
	return canSleep(context, inner.workflow?.nodes?.[first.name]) || crashedHere(context, inner);
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
