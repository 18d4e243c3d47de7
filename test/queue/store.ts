/** Redis and PostgreSQL for one cluster: own ports, own folders, ended with it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onCleanup } from '../../scripts/cleanup';
import type { QueuePrograms } from '../../scripts/programs';
import { waitUntil } from '../n8n/harness/wait';

export interface Store {
	readonly port: number;
	/** Ends it by this signal and waits until it is gone. */
	end(signal: NodeJS.Signals): Promise<void>;
	/** Starts it again on the same port and data. */
	start(): Promise<void>;
}

interface StoreOptions {
	folder: string;
	port: number;
}

/** Somebody listens on the port. */
function answers(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect({ host: '127.0.0.1', port });
		const settle = (result: boolean) => {
			socket.destroy();
			resolve(result);
		};
		socket.once('connect', () => settle(true)).once('error', () => settle(false));
	});
}

interface Command {
	name: string;
	file: string;
	args: string[];
	logFile: string;
	port: number;
	user?: { uid: number; gid: number };
	/** Instead of the port, e.g. because it listens before it is ready. */
	ready?: () => boolean;
}

/** A program that runs until it is told to stop; it also ends with this process, however that ends. */
async function keep(command: Command): Promise<Store> {
	const { name, file, args, logFile, port, user, ready } = command;
	let child: ChildProcess | undefined;
	let guard: ChildProcess | undefined;
	const log = () => readFileSync(logFile, 'utf8').slice(-2000);
	const end = async (signal: NodeJS.Signals) => {
		const ending = child;
		if (ending === undefined) return;
		child = undefined;
		const gone = new Promise<void>((resolve) => ending.once('exit', () => resolve()));
		if (ending.exitCode === null && ending.signalCode === null) {
			ending.kill(signal);
			await gone;
		}
		guard?.kill('SIGKILL');
	};
	const start = async () => {
		const descriptor = openSync(logFile, 'a');
		const started = spawn(file, args, {
			stdio: ['ignore', descriptor, descriptor],
			detached: true,
			...user,
		});
		closeSync(descriptor);
		child = started;
		await new Promise<void>((resolve, reject) =>
			started.once('spawn', resolve).once('error', reject),
		);
		const guardFile = join(__dirname, '..', 'n8n', 'harness', 'guard.cjs');
		guard = spawn(process.execPath, [guardFile, String(started.pid)], {
			stdio: ['pipe', 'ignore', 'ignore'],
			detached: true,
		});
		guard.unref();
		await waitUntil(
			async () => {
				if (started.exitCode !== null) throw new Error(`${name} ended early:\n${log()}`);
				return (await answers(port)) && (ready?.() ?? true);
			},
			{ intervalMs: 50, what: name, details: log },
		);
	};
	onCleanup(async () => await end('SIGKILL'));
	await start();
	return { port, end, start };
}

/** A restart of Redis remembers every change. */
export async function startRedis(
	{ redisServer }: QueuePrograms,
	{ folder, port }: StoreOptions,
): Promise<Store> {
	mkdirSync(folder, { recursive: true });
	const settings = {
		port,
		bind: '127.0.0.1',
		dir: folder,
		daemonize: 'no',
		save: '',
		appendonly: 'yes',
		'maxmemory-policy': 'noeviction',
	};
	const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]);
	return await keep({
		name: 'Redis',
		file: redisServer,
		args,
		logFile: join(folder, 'redis.log'),
		port,
	});
}

/** PostgreSQL does not run as root: then it is run by the user that its package made. */
function postgresUser(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const id = (flag: string) =>
		Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());
	return { uid: id('-u'), gid: id('-g') };
}

/** A fresh PostgreSQL with an empty database `postgres` that trusts its user `postgres`, reachable from this machine only. */
export async function startPostgres(
	{ postgresFolder }: QueuePrograms,
	{ folder, port }: StoreOptions,
): Promise<Store> {
	const user = postgresUser();
	mkdirSync(folder, { recursive: true });
	if (user) chownSync(folder, user.uid, user.gid);
	const data = join(folder, 'data');
	execFileSync(
		join(postgresFolder, 'initdb'),
		['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync'],
		{ ...user, stdio: 'pipe', cwd: folder },
	);
	const settings = {
		listen_addresses: '127.0.0.1',
		unix_socket_directories: '',
		fsync: 'off',
		max_connections: 200,
	};
	const logFile = join(folder, 'postgres.log');
	return await keep({
		name: 'PostgreSQL',
		file: join(postgresFolder, 'postgres'),
		args: [
			...['-D', data, '-p', String(port)],
			...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
		],
		logFile,
		port,
		user,
		ready: () => /ready to accept connections/.test(readFileSync(logFile, 'utf8')),
	});
}
