/** Reads from n8n facts about the execution that a node runs in, depending on how n8n runs the node. */
import { randomUUID } from 'crypto';
import type { ICredentialDataDecryptedObject, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { getOrCreate } from '../base/boundedMap';

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
	return isToolRun(context) ? { ...run, call: callOf(context, runIndex) } : run;
}

/** n8n hands the same object to each try, and nothing else tells the calls apart, so no argument can replace this map. */
const callIds = new WeakMap<object, string>();

function callOf(context: IExecuteFunctions, runIndex: number) {
	const [source] = context.getExecuteData().source?.main ?? [];
	const agent = `${source?.previousNode ?? ''}:${source?.previousNodeRun ?? 0}`;
	const json: IDataObject = context.getInputData()[0]?.json ?? {};
	const { toolCallId } = json;
	// The engine runs a tool with the model's ID of the call; all tries are one run. A model can give several calls the same ID.
	if (typeof toolCallId === 'string')
		return { id: `${runIndex} ${toolCallId.replaceAll(':', ' ')}`, agent };
	// The agent itself runs it with the arguments only: each try is a run of its own.
	return { id: getOrCreate(callIds, json, randomUUID), agent };
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

/** Not part of n8n's interface; older versions lack it (`Expression.withIsolate`, n8n-workflow 2.41). */
interface HavingIsolate {
	workflow?: { expression?: { withIsolate?<T>(act: () => Promise<T>): Promise<T> } };
}

/** Reads what can have expressions: once an execution sleeps, or a webhook has answered, n8n 2.41 evaluates them in an isolate only if asked for one. */
export async function evaluating<T>(context: object, read: () => Promise<T>): Promise<T> {
	const expression = (context as HavingIsolate).workflow?.expression;
	return await read().catch(async (error: unknown) => {
		if (expression?.withIsolate === undefined) throw error;
		return await expression.withIsolate(read);
	});
}

type Decrypted = ICredentialDataDecryptedObject | undefined;

/** This is not part of n8n's interface either. `isRaw` leaves expressions unresolved (`CredentialsHelper.getDecrypted`, n8n 2.41). */
interface Decrypting {
	additionalData?: {
		credentialsHelper?: {
			getDecrypted(...given: [...unknown[], isRaw: true]): Promise<Decrypted>;
		};
	};
}

/** Returns the node's credential as stored, with its expressions; undefined if n8n doesn't give it. */
export async function storedCredential(
	context: IExecuteFunctions,
	type: string,
): Promise<Decrypted> {
	const { additionalData } = context as Decrypting;
	const helper = additionalData?.credentialsHelper;
	if (helper === undefined) return undefined;
	const used = context.getNode().credentials?.[type];
	const mode = context.getMode();
	return await helper
		.getDecrypted(additionalData, used, type, mode, undefined, true)
		.catch(() => undefined);
}
