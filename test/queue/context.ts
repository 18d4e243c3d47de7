import { packedTarball, startContext } from '../n8n/harness/context';
import type { Node } from '../n8n/harness/nodes';
import type { SettingsPatch } from '../service';
import { type ClusterOptions, startCluster } from './cluster';
import { asN8n } from './clusterAsN8n';

/** What the suites on a cluster work with. */
export type QueueContext = Awaited<ReturnType<typeof startQueueContext>>;

interface QueueOptions extends Omit<ClusterOptions, 'tarball'> {
	settings?: SettingsPatch;
}

/** A cluster, a stand-in, and a credential with a callback secret that leads from one to the other. */
export async function startQueueContext({ settings, ...options }: QueueOptions = {}) {
	const cluster = await startCluster({ ...options, tarball: await packedTarball() });
	const callbackSecret = 'a-secret-of-the-callbacks';
	const own = { n8n: asN8n(cluster), settings, callbackSecret };
	const context = await startContext(own);
	const { rest, save } = context;
	return {
		...context,
		cluster,
		/** Saves a workflow, named by the path of its webhook, and publishes it. */
		publish: async (nodes: Node[]) => await rest.publish(await save(nodes)),
	};
}
