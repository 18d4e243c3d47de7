/** `npm run test:chaos`: the random workflows in n8n's queue mode while its processes are killed, judged as ever. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { cleanUp } from '../../scripts/cleanup';
import { Halt, runMain } from '../../scripts/halt';
import type { Cluster } from '../queue/cluster';
import { startQueueContext } from '../queue/context';
import { judgeAll, playAll } from './batch';
import { caseOf } from './generate';

/** Beyond the 20 s that a process of n8n takes to be back on two cores. */
const BETWEEN_BLOWS_MS = 10_000;
const DOWN_MS = 1_500;
const AT_ONCE = 10;

const blows = ['worker', 'webhook processor', 'Redis', 'worker', 'main'] as const;
type Blow = (typeof blows)[number];

/** Kills a process and starts it again; the main ends in peace. */
async function strike({ cluster, blow }: { cluster: Cluster; blow: Blow }): Promise<void> {
	const { redis, main, workers, webhooks } = cluster;
	if (blow === 'main') return await main.restart();
	const [victim] = { worker: workers, 'webhook processor': webhooks, Redis: [] }[blow];
	await (victim === undefined ? redis.end('SIGKILL') : victim.kill('SIGKILL'));
	await delay(DOWN_MS);
	await (victim ?? redis).start();
}

runMain(async () => {
	const [seeds = 50, seed = 1] = process.argv.slice(2).map(Number);
	const cases = Array.from({ length: seeds }, (_, index) => caseOf(seed + index, true));
	const env = { N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '1' };
	const context = await startQueueContext({ env });
	const { cluster, rest } = context;
	const killedAt: number[] = [];
	const over = new AbortController();
	const striking = (async () => {
		for (let turn = 0; !over.signal.aborted; turn += 1) {
			const blow = blows[turn % blows.length] ?? 'worker';
			console.log(`${new Date().toISOString().slice(11, 19)}  ${blow}`);
			killedAt.push(Date.now());
			await strike({ cluster, blow });
			await delay(BETWEEN_BLOWS_MS, undefined, { signal: over.signal }).catch(() => undefined);
		}
	})();
	const all = await playAll(cases, rest, AT_ONCE).finally(() => over.abort());
	await striking;
	const log = cluster.members.map(({ logFile }) => readFileSync(logFile, 'utf8')).join('');
	const failed = await judgeAll(all, { killedAt, log, rest });
	const running = cluster.members.filter((member) => member.process.isRunning());
	await context.close();
	await cleanUp();
	console.log(`${seeds} workflows from seed ${seed}: ${failed.length} failed ${failed.join(' ')}`);
	if (failed.length > 0) throw new Halt('Random workflows broke a rule; see above.');
	if (running.length < cluster.members.length) throw new Halt('A process of n8n has ended.');
});
