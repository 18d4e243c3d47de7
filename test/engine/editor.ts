/** What the editor asks the built node for while nothing runs: a page of a list, by n8n-core's own context for it. */
import { LoadOptionsContext } from 'n8n-core';
import {
	Workflow,
	type INode,
	type INodeListSearchResult,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { credentialsHelper, mediaGeneration, mediaNode, type EngineOptions } from './engine';

export interface ListRequest {
	credentials: EngineOptions['credentials'];
	/** Whether the node has a credential at all. */
	withCredential?: boolean;
	filter?: string;
	paginationToken?: string;
}

/** A workflow of nothing but this node. */
function workflowOf(node: INode): Workflow {
	return new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: {
			getByName: () => mediaGeneration,
			getByNameAndVersion: () => mediaGeneration,
			getKnownTypes: () => ({}),
		},
	});
}

/** Calls one of the node's list searches as n8n's server does. */
export async function listOf(
	name: string,
	{ credentials, withCredential = true, filter, paginationToken }: ListRequest,
): Promise<INodeListSearchResult> {
	const method = mediaGeneration.methods?.listSearch?.[name];
	if (method === undefined) throw new Error(`The node has no list "${name}"`);
	const node = mediaNode({ parameters: {}, settings: withCredential ? {} : { credentials: {} } });
	const workflow = workflowOf(node);
	const additionalData = {
		credentialsHelper: credentialsHelper(credentials),
		currentNodeParameters: {},
	} as unknown as IWorkflowExecuteAdditionalData;
	const context = new LoadOptionsContext(workflow, node, additionalData, '');
	return await method.call(context, filter, paginationToken);
}
