import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { onCleanup } from '../../../scripts/cleanup';
import { ensureN8n } from '../../../scripts/n8nInstall';
import { signalGroup } from './group.cjs';
import { groupBytes, groupMembers } from './memory';
import { waitUntil } from './wait';

/** n8n's commands: one process for all, or main (`start`), worker and webhook processor of queue mode. */
export type ProcessKind = 'start' | 'worker' | 'webhook';

export interface ProcessOptions {
	env: Record<string, string>;
	logFile: string;
	/** Further arguments, e.g. `--concurrency=10`. */
	args?: string[];
}

/** A running process of n8n with its children, which form a process group of their own. */
export interface N8nProcess {
	readonly pid: number;
	readonly logFile: string;
	/** False as soon as the process has ended, for whatever reason. */
	isRunning(): boolean;
	/** What this process wrote to its log file. */
	log(): string;
	/** Waits for a line that matches; fails when the process ends before. */
	waitForLog(pattern: RegExp): Promise<void>;
	/** Bytes that the group holds now. */
	memory(): number;
	/** Sends a signal to the whole group. SIGKILL also waits until the group is gone. */
	kill(signal: NodeJS.Signals): Promise<void>;
	/** Ends the group: SIGTERM first, SIGKILL after `graceMs`. Resolves when no process of it is left. */
	stop(graceMs?: number): Promise<void>;
}

/** Settings of whoever runs the tests must not leak into their n8n. */
const unwanted =
	/^(N8N_|DB_|QUEUE_|EXECUTIONS_|OFFLOAD_|WEBHOOK_URL$|NODE_OPTIONS$|NODE_ENV$|npm_|NODE_TEST_CONTEXT$)/i;

function environment(binFolder: string, env: Record<string, string>): NodeJS.ProcessEnv {
	const own = Object.entries(process.env).filter(([name]) => !unwanted.test(name));
	const separator = process.platform === 'win32' ? ';' : ':';
	return {
		...Object.fromEntries(own),
		PATH: `${binFolder}${separator}${process.env.PATH ?? ''}`,
		...env,
	};
}

/** Kills the group if this process dies without cleaning up; the returned function calls the guard off. */
function guard(group: number): () => void {
	const child = spawn(process.execPath, [join(__dirname, 'guard.cjs'), String(group)], {
		stdio: ['pipe', 'ignore', 'ignore'],
		detached: true,
		windowsHide: true,
	});
	child.unref();
	return () => void child.kill('SIGKILL');
}

/** Starts one process of n8n and returns at once; see {@link N8nProcess.waitForLog} or `waitForReady` of n8n.ts. */
export async function startProcess(
	kind: ProcessKind,
	options: ProcessOptions,
): Promise<N8nProcess> {
	const { node, bin, binFolder } = await ensureN8n();
	const logStart = existsSync(options.logFile) ? statSync(options.logFile).size : 0;
	const descriptor = openSync(options.logFile, 'a');
	const child = spawn(node, [bin, kind, ...(options.args ?? [])], {
		env: environment(binFolder, options.env),
		stdio: ['ignore', descriptor, descriptor],
		detached: true,
		windowsHide: true,
	});
	closeSync(descriptor);
	await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
	const pid = child.pid as number;
	let running = true;
	const exited = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
		() => void (running = false),
	);
	const callOff = guard(pid);

	const isGone = () => (groupMembers(pid) ?? (signalGroup(pid, 0) ? [pid] : [])).length === 0;
	const waitUntilGone = (timeoutMs?: number) =>
		waitUntil(isGone, { timeoutMs, intervalMs: 50, what: `The end of n8n's process group ${pid}` });
	const log = () => readFileSync(options.logFile).subarray(logStart).toString('utf8');

	const stop = async (graceMs = 60_000) => {
		if (signalGroup(pid, 'SIGTERM'))
			await waitUntilGone(graceMs).catch(() => signalGroup(pid, 'SIGKILL'));
		await settle();
	};
	const settle = async () => {
		await Promise.all([waitUntilGone(), exited]);
		callOff();
		forget();
	};
	const forget = onCleanup(stop);

	return {
		pid,
		logFile: options.logFile,
		isRunning: () => running,
		log,
		memory: () => groupBytes(pid),
		stop,
		async waitForLog(pattern) {
			await waitUntil(
				() => {
					if (pattern.test(log())) return true;
					if (!running)
						throw new Error(`n8n ${kind} ended early. The end of its log:\n${log().slice(-3000)}`);
					return false;
				},
				{
					what: `${String(pattern)} in the log of n8n ${kind}`,
					details: () => log().slice(-3000),
				},
			);
		},
		async kill(signal) {
			signalGroup(pid, signal);
			if (signal === 'SIGKILL') await settle();
		},
	};
}
