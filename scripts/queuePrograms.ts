import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { canInstallPackages, installPackages } from './apt';
import { Halt } from './halt';

/** Where the programs lie that n8n's queue mode needs besides n8n. */
export interface QueuePrograms {
	redisServer: string;
	/** The folder of `initdb` and `postgres`. */
	postgresFolder: string;
}

const packages = ['redis-server', 'postgresql'];
const postgresRoot = '/usr/lib/postgresql';

/** A program on the PATH. */
function onPath(name: string): string | undefined {
	return (process.env.PATH ?? '')
		.split(':')
		.map((folder) => join(folder, name))
		.find((file) => existsSync(file));
}

/** Debian keeps the server's programs off the PATH, in a folder per version: the newest one. */
function postgresFolder(): string | undefined {
	const versions = existsSync(postgresRoot) ? readdirSync(postgresRoot) : [];
	return [...versions.sort((a, b) => Number(b) - Number(a)), undefined]
		.map((version) => version && join(postgresRoot, version, 'bin'))
		.find((folder) => folder !== undefined && existsSync(join(folder, 'initdb')));
}

function find(): QueuePrograms | undefined {
	const redisServer = onPath('redis-server');
	const initdb = onPath('initdb');
	const folder = postgresFolder() ?? (initdb && join(initdb, '..'));
	return redisServer && folder ? { redisServer, postgresFolder: folder } : undefined;
}

/** Finds Redis and PostgreSQL, and installs them where that is possible without asking anybody. */
export async function ensureQueuePrograms(): Promise<QueuePrograms> {
	const present = find();
	if (present) return present;
	if (!canInstallPackages()) {
		throw new Halt(
			`n8n's queue mode needs Redis and PostgreSQL, and this machine has not both of them. Install them first, e.g. by\n\n` +
				`  sudo apt-get install ${packages.join(' ')}\n\nThen run the command again. Nothing is started but under own ports and in temporary folders.`,
		);
	}
	await installPackages(packages);
	const installed = find();
	if (installed) return installed;
	throw new Halt(
		`apt-get installed ${packages.join(' and ')}, but redis-server or initdb can't be found.`,
	);
}
