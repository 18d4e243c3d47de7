import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { onCleanup } from '../../../scripts/cleanup';
import { ensureN8n } from '../../../scripts/n8nInstall';
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

/** A running program with its children, which form a process group of their own: a process of n8n, or what it stands on. */
export type RunningProgram = Awaited<ReturnType<typeof startProgram>>;

/** Settings of whoever runs the tests must not leak into their n8n. */
const unwanted =
	/^(N8N_|DB_|QUEUE_|EXECUTIONS_|OFFLOAD_|WEBHOOK_URL$|NODE_OPTIONS$|NODE_ENV$|npm_|NODE_TEST_CONTEXT$)/i;

function environment(binFolder: string, env: Record<string, string>): NodeJS.ProcessEnv {
	const own = Object.entries(process.env).filter(([name]) => !unwanted.test(name));
	return {
		...Object.fromEntries(own),
		PATH: `${binFolder}:${process.env.PATH ?? ''}`,
		...env,
	};
}

/** Sends a signal to a process group. Returns whether there was something to signal. */
function signalGroup(group: number, signal: NodeJS.Signals): boolean {
	try {
		return process.kill(-group, signal);
	} catch {
		return false;
	}
}

/** Kills the group if this process dies without cleaning up (SIGKILL): then its stdin closes. The returned function calls the guard off. */
function guard(group: number): () => void {
	const script = `process.stdin.resume().on('close', () => process.kill(-${group}, 'SIGKILL'))`;
	const child = spawn(process.execPath, ['-e', script], {
		stdio: ['pipe', 'ignore', 'ignore'],
		detached: true,
	});
	child.unref();
	return () => void child.kill('SIGKILL');
}

/** Starts one process of n8n and returns at once: see `waitForLog`, and `waitForReady` of n8n.ts. */
export async function startProcess(
	kind: ProcessKind,
	{ env, logFile, args = [] }: ProcessOptions,
): Promise<RunningProgram> {
	const { node, bin, binFolder } = await ensureN8n();
	return await startProgram({
		name: `n8n ${kind}`,
		file: node,
		args: [bin, kind, ...args],
		env: environment(binFolder, env),
		logFile,
	});
}

export interface Program {
	name: string;
	file: string;
	args: string[];
	logFile: string;
	env?: NodeJS.ProcessEnv;
	/** Who runs it, if not the user of this process. */
	user?: { uid: number; gid: number } | undefined;
}

/** Starts a program and returns at once. It ends with this process, however that ends. */
export async function startProgram({
	name,
	file,
	args,
	logFile,
	env = process.env,
	user,
}: Program) {
	const logStart = existsSync(logFile) ? statSync(logFile).size : 0;
	const descriptor = openSync(logFile, 'a');
	const child = spawn(file, args, {
		env,
		stdio: ['ignore', descriptor, descriptor],
		detached: true,
		...user,
	});
	closeSync(descriptor);
	await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
	const pid = child.pid as number;
	let running = true;
	const exited = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(
		() => void (running = false),
	);
	const callOff = guard(pid);

	const isGone = () => groupMembers(pid).length === 0;
	const waitUntilGone = (timeoutMs?: number) =>
		waitUntil(isGone, { timeoutMs, intervalMs: 50, what: `The end of ${name}` });
	/** What this process wrote to its log file. */
	const log = () => readFileSync(logFile).subarray(logStart).toString('utf8');

	/** Ends the group: SIGTERM first, SIGKILL after `graceMs`. Resolves when no process of it is left. */
	const stop = async (graceMs = 60_000): Promise<void> => {
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
		/** False as soon as the process has ended, for whatever reason. */
		isRunning: () => running,
		log,
		/** Bytes that the group holds now. */
		memory: () => groupBytes(pid),
		stop,
		/** Waits for a line that matches; fails when the process ends before. */
		async waitForLog(pattern: RegExp) {
			await waitUntil(
				() => {
					if (pattern.test(log())) return true;
					if (!running)
						throw new Error(`${name} ended early. The end of its log:\n${log().slice(-3000)}`);
					return false;
				},
				{
					what: `${String(pattern)} in the log of ${name}`,
					details: () => log().slice(-3000),
				},
			);
		},
		/** Sends a signal to the whole group and waits until it is gone. */
		async kill(signal: NodeJS.Signals) {
			signalGroup(pid, signal);
			await settle();
		},
	};
}
