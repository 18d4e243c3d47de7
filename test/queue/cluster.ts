/** n8n in queue mode on this machine: one main, two webhook processors and two workers over Redis and PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import getPort from 'get-port';
import { onCleanup } from '../../scripts/cleanup';
import { installPackage } from '../../scripts/pack';
import { ensureQueuePrograms } from '../../scripts/programs';
import { commonEnv, oneAfterAnother, waitForReady } from '../n8n/harness/n8n';
import { type RunningProgram, type ProcessKind, startProcess } from '../n8n/harness/process';
import { waitUntil } from '../n8n/harness/wait';
import { Database } from './database';
import { type Backend, startGate } from './gate';
import { startPostgres, startRedis, type Store } from './store';

/** One process of the cluster; it keeps its folder and ports over restarts. */
export type Member = Awaited<ReturnType<typeof startMember>>;
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export interface ClusterOptions {
	tarball: string;
	env?: Record<string, string>;
	/** How many executions a worker runs at the same time. */
	concurrency?: number;
	/** How many workers; as many as the command says unless told otherwise. */
	workers?: number;
}

/** How soon Bull finds out that a worker died: n8n's own values are 60 s, 10 s and 30 s. */
const fastDetection = {
	QUEUE_WORKER_LOCK_DURATION: '25000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '4000',
	QUEUE_WORKER_STALLED_INTERVAL: '8000',
};

/** `npm run test:queue -- --workers 3 --manual-on-main`. */
const workerCount = Number(process.env.MEDIA_GENERATION_WORKERS ?? '') || 2;
const manualOnMain = process.env.MEDIA_GENERATION_MANUAL === 'main';

async function waitForWebhooks(started: RunningProgram, baseUrl: string): Promise<void> {
	await waitUntil(
		async () => {
			if (!started.isRunning())
				throw new Error(`The webhook processor ended early:\n${started.log().slice(-3000)}`);
			// Its health check is content before its routes exist; n8n's own 404 is JSON.
			const answer = await fetch(`${baseUrl}/webhook/nobody`).catch(() => undefined);
			return answer?.headers.get('content-type')?.includes('json') ?? false;
		},
		{
			what: 'The webhook processor',
			details: () => started.log().slice(-3000),
		},
	);
}

interface MemberOptions {
	kind: ProcessKind;
	userFolder: string;
	/** Closed to the gate while the process is not ready. */
	backend: Backend;
	env: Record<string, string>;
	args?: string[];
}

async function startMember({ kind, userFolder, backend, env, args }: MemberOptions) {
	const { port } = backend;
	const baseUrl = `http://127.0.0.1:${port}`;
	const logFile = join(userFolder, 'n8n.log');
	const launch = async (extra: Record<string, string> = {}) => {
		backend.open = false;
		const started = await startProcess(kind, { env: { ...env, ...extra }, logFile, args });
		if (kind === 'start') await waitForReady(started, baseUrl);
		else if (kind === 'webhook') await waitForWebhooks(started, baseUrl);
		else await started.waitForLog(/n8n worker is now ready/);
		backend.open = true;
		return started;
	};
	const place = { baseUrl, port, userFolder, logFile };
	return Object.assign(await oneAfterAnother(place, launch), { kind });
}

/** Restarts processes that end by themselves, as a container platform does, until the returned function is called. */
function supervise(members: readonly Member[]): () => Promise<void> {
	const stopped = new AbortController();
	const watching = members.map(async (member) => {
		while (!stopped.signal.aborted) {
			await delay(500);
			if (member.process.isRunning()) continue;
			await member.kill('SIGKILL'); // Its children may live on.
			await member.start().catch(() => undefined);
		}
	});
	return async () => {
		stopped.abort();
		await Promise.all(watching);
	};
}

/** Starts everything and waits until it is ready. A failure on the way, a signal or `stop` ends all of it. */
export async function startCluster(options: ClusterOptions) {
	const programs = await ensureQueuePrograms();
	const folder = mkdtempSync(join(tmpdir(), 'n8n-queue-'));
	chmodSync(folder, 0o755); // PostgreSQL's user passes through it.
	const removeFolder = () => rmSync(folder, { recursive: true, force: true });
	const forget = onCleanup(removeFolder);
	const ports = await Promise.all(Array.from({ length: 24 }, () => getPort({ host: '127.0.0.1' })));
	const port = () => ports.pop() as number;
	const members: Member[] = [];
	const stores: Store[] = [];
	let closeGate = async () => await Promise.resolve();
	const stop = async () => {
		await Promise.all(members.map((member) => member.stop()));
		await closeGate();
		await Promise.all(stores.map((store) => store.end('SIGKILL')));
		removeFolder();
		forget();
	};
	try {
		const redis = await startRedis(programs, { folder: join(folder, 'redis'), port: port() });
		stores.push(redis);
		const postgres = await startPostgres(programs, {
			folder: join(folder, 'postgres'),
			port: port(),
		});
		stores.push(postgres);

		const installed = join(folder, 'installed');
		mkdirSync(installed);
		await installPackage(options.tarball, installed);
		const backend = (): Backend => ({ port: port(), open: false });
		const [mainBackend, gatePort] = [backend(), port()];
		const webhookBackends = [backend(), backend()];
		closeGate = await startGate(gatePort, { webhooks: webhookBackends, main: mainBackend.port });
		const webhookUrl = `http://127.0.0.1:${gatePort}`;
		const common = {
			...commonEnv,
			...fastDetection,
			EXECUTIONS_MODE: 'queue',
			...(manualOnMain ? {} : { OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true' }),
			QUEUE_BULL_REDIS_HOST: '127.0.0.1',
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			DB_TYPE: 'postgresdb',
			DB_POSTGRESDB_HOST: '127.0.0.1',
			DB_POSTGRESDB_PORT: String(postgres.port),
			DB_POSTGRESDB_DATABASE: 'postgres',
			DB_POSTGRESDB_USER: 'postgres',
			DB_POSTGRESDB_PASSWORD: 'trusted',
			DB_POSTGRESDB_POOL_SIZE: '10',
			N8N_ENCRYPTION_KEY: randomBytes(16).toString('hex'),
			N8N_DEFAULT_BINARY_DATA_MODE: 'database',
			// The workers write it into resume URLs, the main into the editor's.
			N8N_WEBHOOK_URL: `${webhookUrl}/`,
			...options.env,
		};
		const member = (
			name: string,
			kind: ProcessKind,
			own: Backend,
			args?: string[],
		): Promise<Member> => {
			const userFolder = join(folder, name);
			cpSync(installed, userFolder, { recursive: true });
			const env = {
				...common,
				N8N_USER_FOLDER: userFolder,
				N8N_PORT: String(own.port),
				N8N_RUNNERS_BROKER_PORT: String(port()),
			};
			return startMember({ kind, userFolder, backend: own, env, args }).then((started) => {
				members.push(started);
				return started;
			});
		};
		// The main migrates the database; the others want it ready.
		const main = await member('main', 'start', mainBackend);
		const concurrency = [`--concurrency=${options.concurrency ?? 10}`];
		const others = await Promise.allSettled([
			...webhookBackends.map((own, at) => member(`webhook-${at + 1}`, 'webhook', own)),
			...Array.from({ length: options.workers ?? workerCount }, (_, at) =>
				member(`worker-${at + 1}`, 'worker', backend(), concurrency),
			),
		]);
		const started = others.map((result) => {
			if (result.status === 'rejected') throw result.reason as Error;
			return result.value;
		});
		const [webhooks, workers] = [started.slice(0, 2), started.slice(2)];
		return {
			main,
			/** Webhook processors. */
			webhooks,
			workers,
			members,
			redis,
			postgres,
			/** Where everything is reached: the proxy before the webhook processors and the main. */
			webhookUrl,
			stop,
			database: new Database(postgres.port),
			supervise: () => supervise(members),
		};
	} catch (error) {
		await stop();
		throw error;
	}
}
