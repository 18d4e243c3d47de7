/** Redis and PostgreSQL for one cluster: own ports, own folders, ended with it. */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { QueuePrograms } from '../../scripts/programs';
import { type Program, type RunningProgram, startProgram } from '../n8n/harness/process';

export type Store = Awaited<ReturnType<typeof keep>>;

interface StoreOptions {
	folder: string;
	port: number;
}

/** A program that runs until it is told to stop. */
async function keep(port: number, program: Program) {
	let running: RunningProgram | undefined;
	const start = async () => {
		running = await startProgram(program);
		// Both say it in these words.
		await running.waitForLog(/ready to accept connections/i);
	};
	await start();
	return {
		port,
		/** Starts it again on the same port and data. */
		start,
		/** Ends it by this signal and waits until it is gone. */
		async end(signal: NodeJS.Signals) {
			await running?.kill(signal);
			running = undefined;
		},
	};
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
	const logFile = join(folder, 'redis.log');
	return await keep(port, { name: 'Redis', file: redisServer, args, logFile });
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
	return await keep(port, {
		name: 'PostgreSQL',
		file: join(postgresFolder, 'postgres'),
		args: [
			...['-D', data, '-p', String(port)],
			...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
		],
		logFile: join(folder, 'postgres.log'),
		user,
	});
}
