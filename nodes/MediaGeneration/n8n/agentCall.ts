/** Tells the calls of an AI agent apart. */
import { randomUUID } from 'crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { getOrCreate } from '../base/boundedMap';

/** n8n hands the same object to each try, and nothing else tells the calls apart, so no argument can replace this map. */
const callIds = new WeakMap<object, string>();

/** Identifies the call that runs the node, and the run of the agent that it belongs to. */
export function agentCall(context: IExecuteFunctions, runIndex: number) {
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
