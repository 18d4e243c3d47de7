import { after, before, beforeEach } from 'node:test';
import { packedTarball, startContext } from '../n8n/harness/context';
import type { SettingsPatch } from '../service';
import { type ClusterOptions, startCluster } from './cluster';
import { asN8n } from './clusterAsN8n';

/** What the suites on a cluster work with. */
export type QueueContext = Awaited<ReturnType<typeof startQueueContext>>;

interface QueueOptions extends Omit<ClusterOptions, 'tarball'> {
	settings?: SettingsPatch;
}

/** A context for the cases of one suite: handed over before the first, reset before each, and closed after the last. */
export function ownQueueContext(started: (own: QueueContext) => void, options?: QueueOptions) {
	let context: QueueContext | undefined;
	before(async () => started((context = await startQueueContext(options))));
	after(async () => await context?.close());
	beforeEach(() => context?.service.reset());
}

/** A cluster, a stand-in, and a credential with a callback secret that leads from one to the other. */
export async function startQueueContext({ settings, ...options }: QueueOptions = {}) {
	const cluster = await startCluster({ ...options, tarball: await packedTarball() });
	const callbackSecret = 'a-secret-of-the-callbacks';
	const own = { n8n: asN8n(cluster), settings, callbackSecret };
	const context = await startContext(own);
	return { ...context, cluster };
}
