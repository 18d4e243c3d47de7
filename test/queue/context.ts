import { packedTarball, startContext, type TestContext } from '../n8n/harness/context';
import type { Node } from '../n8n/harness/nodes';
import type { SavedWorkflow } from '../n8n/harness/rest';
import type { SettingsPatch } from '../service';
import { type Cluster, type ClusterOptions, startCluster } from './cluster';
import { asN8n } from './clusterAsN8n';

/** What the suites on a cluster work with. */
export interface QueueContext extends TestContext {
	cluster: Cluster;
	/** Saves a workflow, named by the path of its webhook, and publishes it. */
	publish(nodes: Node[]): Promise<SavedWorkflow>;
	/** The same, and calls it. */
	start(nodes: Node[], body: object): Promise<{ workflow: SavedWorkflow; id: string }>;
	/** The address at which the service reaches a trigger with this path. */
	triggerUrl(path: string): string;
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
	const cluster = await startCluster({ ...options, tarball: await packedTarball() });
	const callbackSecret = 'a-secret-of-the-callbacks';
	const own = { n8n: asN8n(cluster), settings, seed, callbackSecret };
	const context = await startContext(own);
	const { rest, save } = context;
	return {
		...context,
		cluster,
		publish: async (nodes) => await rest.publish(await save(nodes)),
		async start(nodes, body) {
			const workflow = await save(nodes);
			return { workflow, id: await rest.startByWebhook(workflow, workflow.name, body) };
		},
		triggerUrl: (path) => `${cluster.webhookUrl}/webhook/${path}/callback`,
	};
}
