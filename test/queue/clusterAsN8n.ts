/** A whole cluster in the place of the one n8n, so that the suites of test/n8n run on it unchanged. */
import type { N8n } from '../n8n/harness/n8n';
import type { Cluster } from './cluster';

/** Killing and restarting mean all of n8n's processes; Redis and PostgreSQL stay. */
export function asN8n(cluster: Cluster): N8n {
	const { main, members, webhookUrl } = cluster;
	const kill = async (signal: NodeJS.Signals) => {
		await Promise.all(members.map((member) => member.kill(signal)));
	};
	return {
		baseUrl: webhookUrl,
		port: Number(new URL(webhookUrl).port),
		userFolder: main.userFolder,
		logFile: main.logFile,
		get process() {
			return main.process;
		},
		memory: () => main.memory(),
		log: () => members.map((member) => member.log()).join(''),
		kill,
		async restart(env) {
			await main.restart(env);
			await Promise.all(
				members.filter((member) => member !== main).map((member) => member.restart(env)),
			);
		},
		stop: () => cluster.stop(),
	};
}
