/** Reads from n8n facts about the execution that a node runs in, depending on how n8n runs the node. */
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { agentCall } from './agentCall';

export type N8nContext = IExecuteFunctions | IWebhookFunctions;

/** n8n's Agents run a node without an execution (`EphemeralNodeExecutor`, n8n 2.41). The type of n8n's function doesn't say so. */
function givenIdOf(context: IExecuteFunctions): string | undefined {
	return context.getExecutionId();
}

/** The node's store, which n8n saves with the execution. Without an execution, `getContext` throws, and nothing can be kept. */
export function storeOf(context: IExecuteFunctions): Record<string, unknown> {
	return givenIdOf(context) === undefined ? {} : context.getContext('node');
}

/** Returns whether an AI agent runs the node: an agent node of the workflow that has it as a tool, or one of n8n's Agents. */
export function isToolRun(context: IExecuteFunctions): boolean {
	const { isToolExecution } = context as Partial<Pick<IExecuteFunctions, 'isToolExecution'>>;
	const isTool = isToolExecution?.call(context) === true || context.getNode().type.endsWith('Tool');
	return isTool || givenIdOf(context) === undefined;
}

/** Identifies the run, its execution, and the agent's call if there is one. */
export function runOf(context: IExecuteFunctions) {
	const evaluated = context.evaluateExpression('{{ $runIndex }}', 0);
	const runIndex = typeof evaluated === 'number' ? evaluated : 0;
	const run = { executionId: givenIdOf(context) ?? 'without an ID', runIndex };
	return isToolRun(context) ? { ...run, call: agentCall(context, runIndex) } : run;
}

/** n8n 2.41 has this; its older versions do not, nor do they have the binary mode "combined". */
interface HavingSettings {
	getWorkflowSettings?(): { binaryMode?: unknown; executionTimeout?: unknown };
}

export function workflowSettings(context: object) {
	return (context as HavingSettings).getWorkflowSettings?.() ?? {};
}

/** n8n's helper gives a request the execution's signal (n8n-core 2.41). Called with this context, it gives this one instead. */
export function withSignal<Context extends object>(context: Context, signal: AbortSignal): Context {
	const own = { getExecutionCancelSignal: { value: () => signal } };
	return Object.create(context, own) as Context;
}
