/** What the editor asks the built node for while nothing runs: a page of a list, by n8n-core's own context for it. */
import { LoadOptionsContext } from 'n8n-core';
import {
	Workflow,
	type INodeListSearchResult,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import {
	credentialsHelper,
	mediaGeneration,
	mediaNode,
	typesOf,
	type EngineOptions,
} from './engine';

/** Calls one of the node's list searches as n8n's server does. */
export async function listOf(
	name: string,
	{ credentials, filter }: { credentials: EngineOptions['credentials']; filter?: string },
): Promise<INodeListSearchResult> {
	const method = mediaGeneration.methods?.listSearch?.[name];
	if (method === undefined) throw new Error(`The node has no list "${name}"`);
	const node = mediaNode({ parameters: {} });
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: typesOf({ mediaGeneration }),
	});
	const additionalData = {
		credentialsHelper: credentialsHelper(credentials),
		currentNodeParameters: {},
	} as unknown as IWorkflowExecuteAdditionalData;
	const context = new LoadOptionsContext(workflow, node, additionalData, '');
	return await method.call(context, filter);
}
