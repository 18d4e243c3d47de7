import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';
import { installPackage } from '../../../scripts/pack';
import { onCleanup } from '../../../scripts/cleanup';
import { type RunningProgram, startProcess } from './process';
import { atLeast } from './version';
import { waitUntil } from './wait';

export interface N8nOptions {
	/** Where n8n keeps everything. A temporary folder by default, which `stop` removes. */
	userFolder?: string;
	/** The packed nodes to install before the start; leave it out where they are installed already. */
	tarball?: string;
	port?: number;
	/** Default: `n8n.log` in the user folder. */
	logFile?: string;
	env?: Record<string, string>;
}

/** One n8n (main, worker and webhooks in one process, SQLite), or what stands for it. */
export type N8n = Omit<Awaited<ReturnType<typeof oneAfterAnother>>, 'start'>;

/** What every n8n of ours is started with: quiet, local, plain http. */
export const commonEnv: Readonly<Record<string, string>> = {
	N8N_LISTEN_ADDRESS: '127.0.0.1',
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_SECURE_COOKIE: 'false',
	N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
	N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '10',
};

const local = { host: '127.0.0.1' };

async function statusOf(url: string): Promise<number> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
		await response.body?.cancel();
		return response.status;
	} catch {
		return 0;
	}
}

/** Ready is when the health check says so and the REST routes exist, which come a little later. */
export async function waitForReady(n8n: RunningProgram, baseUrl: string): Promise<void> {
	await waitUntil(
		async () => {
			if (!n8n.isRunning())
				throw new Error(`n8n ended early. The end of its log:\n${n8n.log().slice(-3000)}`);
			if ((await statusOf(`${baseUrl}/healthz/readiness`)) !== 200) return false;
			return ![0, 404, 503].includes(await statusOf(`${baseUrl}/rest/login`));
		},
		{ what: `n8n at ${baseUrl}`, details: () => n8n.log().slice(-3000) },
	);
}

/** The one folder that nodes of such an n8n may read and write. */
export const filesFolder = (userFolder: string) => join(userFolder, 'files');

/** Starts a real n8n and waits until it is ready. It ends with `stop`, and in any case with this process. */
export async function startN8n(options: N8nOptions = {}): Promise<N8n> {
	const userFolder = options.userFolder ?? mkdtempSync(join(tmpdir(), 'n8n-media-'));
	const removeFolder = () => {
		if (!options.userFolder) rmSync(userFolder, { recursive: true, force: true });
	};
	const forget = onCleanup(removeFolder);
	mkdirSync(filesFolder(userFolder), { recursive: true });
	if (options.tarball) await installPackage(options.tarball, userFolder);

	const port = options.port ?? (await getPort(local));
	const brokerPort = await getPort(local);
	const baseUrl = `http://127.0.0.1:${port}`;
	const logFile = options.logFile ?? join(userFolder, 'n8n.log');
	const env = {
		...commonEnv,
		N8N_USER_FOLDER: userFolder,
		N8N_RESTRICT_FILE_ACCESS_TO: filesFolder(userFolder),
		N8N_PORT: String(port),
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		// Older versions know only the second.
		[atLeast('2.41') ? 'N8N_WEBHOOK_URL' : 'WEBHOOK_URL']: `${baseUrl}/`,
		...options.env,
	};
	const start = async (extra: Record<string, string> = {}) => {
		const started = await startProcess('start', { env: { ...env, ...extra }, logFile });
		try {
			await waitForReady(started, baseUrl);
		} catch (error) {
			await started.stop(0);
			throw error;
		}
		return started;
	};
	const n8n = await oneAfterAnother({ baseUrl, port, userFolder, logFile }, start);
	const stop = async () => {
		await n8n.process.stop();
		removeFolder();
		forget();
	};
	return Object.assign(n8n, { stop });
}

/** An n8n that keeps its folder and ports over restarts. @param launch starts its process and waits until it is ready */
export async function oneAfterAnother(
	place: { baseUrl: string; port: number; userFolder: string; logFile: string },
	launch: (env?: Record<string, string>) => Promise<RunningProgram>,
) {
	let current = await launch();
	return {
		...place,
		/** The process that runs now; another one after a restart. */
		get process() {
			return current;
		},
		memory: () => current.memory(),
		/** All that the process wrote since its start. */
		log: () => current.log(),
		/** Sends a signal to n8n and its children, and waits until they are gone. */
		kill: async (signal: NodeJS.Signals) => await current.kill(signal),
		/** Starts it after it was killed. */
		async start() {
			current = await launch();
		},
		/** Starts again on the same folder and ports; ends the process first if it still runs. */
		async restart(env?: Record<string, string>) {
			await current.stop();
			current = await launch(env);
		},
		stop: async () => await current.stop(),
	};
}
