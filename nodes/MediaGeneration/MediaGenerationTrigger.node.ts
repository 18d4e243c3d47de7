/**
 * Describes and starts the trigger node, whose webhook is the `receive_url` of tasks. `trigger/` checks and verifies what is posted;
 * execute() then delivers it in the started execution. The first callback loads both, because n8n loads every node when it starts.
 */
import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';
import { readTriggerSettings, triggerFields } from './actions/trigger';
import { credentialTest } from './methods/testMethod';

/** n8n's AI workflow builder reads this. It is spread because the types of older versions do not know it. */
const triggerForBuilders = {
	builderHint: {
		searchHint:
			'Starts when the service reports that a task is done or has failed. Its Production URL goes into callbackUrl of a Media Generation node with waitForCompletion off. To wait within one workflow, use that node alone.',
		relatedNodes: [
			{
				nodeType: 'n8n-nodes-media-generation.mediaGeneration',
				relationHint: 'Creates the tasks; its callbackUrl is the Production URL',
			},
		],
	},
};

const TEST_EVENT =
	'Put the Test URL into the Callback URL of a Media Generation node and run that node.';

export class MediaGenerationTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Media Generation Trigger',
		name: 'mediaGenerationTrigger',
		icon: {
			light: 'file:../../icons/mediaGeneration.svg',
			dark: 'file:../../icons/mediaGeneration.dark.svg',
		},
		group: ['trigger'],
		...triggerForBuilders,
		// n8n 2.41 evaluates an expression before each call to a webhook of version 1, which fails in the combined binary mode (`parseRequestBody`).
		version: 1.1,
		subtitle:
			'={{ $parameter["statuses"].length > 1 ? "Done or Failed" : $parameter["statuses"][0] === "error" ? "Failed" : "Done" }}',
		// The editor lists both nodes of this package as one, and takes the sentence from here.
		description:
			'Generate speech, music, sound effects and images, transcribe and dub, or start a workflow when a task has finished',
		eventTriggerDescription: TEST_EVENT,
		activationMessage: 'The service can now call the Production URL.',
		triggerPanel: {
			header: 'Receive a finished task',
			executionsHelp: `<b>While building your workflow</b>, click "Execute step". ${TEST_EVENT}<br /> <br /><b>Once you're happy with your workflow</b>, publish it, and use the Production URL instead. These executions show up in the <a data-key="executions">executions list</a>, not in the editor.`,
			activationHint: `${TEST_EVENT} Once the workflow is published, the service can call the Production URL at any time.`,
		},
		defaults: { name: 'Media Generation Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{ name: 'mediaGenerationApi', required: true, testedBy: 'mediaGenerationApiTest' },
		],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				// webhook() decides the answer, so this is empty. Without it, n8n 2.41 answers with the name of its default.
				responseData: '',
				path: 'callback',
			},
		],
		properties: triggerFields,
	};

	// Webhooks are not registered at the service: the URL goes along with each task (docs/service.md, "Callbacks").
	webhookMethods = {
		default: {
			checkExists: async (): Promise<boolean> => true,
			create: async (): Promise<boolean> => true,
			delete: async (): Promise<boolean> => true,
		},
	};

	methods = { credentialTest };

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		const { receive } = await import('./trigger/receive');
		return await receive(this, readTriggerSettings(this));
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { deliverReceived } = await import('./trigger/deliverReceived');
		return [await deliverReceived(this)];
	}
}
