import { onCleanup } from '../../scripts/cleanup';
import { packedTarball } from '../n8n/harness/context';
import { type Node, workflowOf } from '../n8n/harness/nodes';
import { Rest, type SavedCredential, type SavedWorkflow } from '../n8n/harness/rest';
import { type SettingsPatch, type StandIn, startService } from '../service';
import { type Cluster, type ClusterOptions, startCluster } from './cluster';

/** The main answers the editor's requests, the webhook processor those to webhooks. */
class QueueRest extends Rest {
	constructor(
		mainUrl: string,
		private readonly webhooks: Rest,
	) {
		super(mainUrl);
	}

	override callWebhook(path: string, body?: unknown) {
		return this.webhooks.callWebhook(path, body);
	}
}

/** What the suites on a cluster work with. */
export interface QueueContext {
	cluster: Cluster;
	rest: Rest;
	service: StandIn;
	credential: SavedCredential;
	/** Saves a workflow, named by the path of its webhook, with this context's credential in it, and publishes it. */
	publish(nodes: Node[]): Promise<SavedWorkflow>;
	/** The same, and calls it. */
	start(nodes: Node[], body: object): Promise<{ workflow: SavedWorkflow; id: string }>;
	/** The address at which the service reaches a trigger with this path. */
	triggerUrl(path: string): string;
	close(): Promise<void>;
}

interface QueueOptions extends Omit<ClusterOptions, 'tarball'> {
	settings?: SettingsPatch;
	seed?: number;
}

/** A cluster, a stand-in, and a credential with a callback secret that leads from one to the other. */
export async function startQueueContext({
	settings,
	seed,
	...options
}: QueueOptions = {}): Promise<QueueContext> {
	const service = await startService({ seed, settings });
	const forget = onCleanup(() => service.close());
	let cluster: Cluster | undefined;
	const close = async () => {
		await cluster?.stop();
		await service.close();
		forget();
	};
	try {
		cluster = await startCluster({ ...options, tarball: await packedTarball() });
		const { main, webhookUrl } = cluster;
		const rest = new QueueRest(main.baseUrl, new Rest(webhookUrl));
		await rest.ownerSetup();
		const credential = await rest.createCredential('Media Generation API', 'mediaGenerationApi', {
			apiKey: service.apiKey,
			baseUrl: service.baseUrl,
			callbackSecret: 'a-secret-of-the-callbacks',
		});
		const pathOf = (nodes: Node[]) => nodes[0]?.webhookId ?? '';
		const save = async (nodes: Node[]) =>
			await rest.createWorkflow(workflowOf(pathOf(nodes), nodes, credential));
		return {
			cluster,
			rest,
			service,
			credential,
			publish: async (nodes) => await rest.publish(await save(nodes)),
			async start(nodes, body) {
				const workflow = await save(nodes);
				return { workflow, id: await rest.startByWebhook(workflow, pathOf(nodes), body) };
			},
			triggerUrl: (path) => `${webhookUrl}/webhook/${path}/callback`,
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}
