/** Programs that suites need beside n8n: Debian's packages, installed where that is possible without asking anybody. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Halt } from './halt';

async function install(packages: string): Promise<void> {
	const { execa } = await import('execa');
	// In run level 1 Debian's packages do not start their servers, which would take the usual ports.
	const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
	console.log(`Installing ${packages} from Debian's packages ...`);
	const installing = `install -y --no-install-recommends ${packages}`;
	for (const command of ['update', installing]) {
		const { exitCode, stderr } = await execa('apt-get', command.split(' '), { env, reject: false });
		if (exitCode === 0) continue;
		const words = stderr.trim().split('\n').slice(-8).join('\n');
		throw new Halt(
			`apt-get ${command} failed:\n\n${words}\n\nInstall ${packages} by hand, then run the command again.`,
		);
	}
}

/** What `find` finds, at once or after these packages were installed. @param need what is missing otherwise, in words */
async function ensure<T>(find: () => T | undefined, packages: string, need: string): Promise<T> {
	const present = find();
	if (present !== undefined) return present;
	if (existsSync('/usr/bin/apt-get') && process.getuid?.() === 0) await install(packages);
	const installed = find();
	if (installed !== undefined) return installed;
	throw new Halt(
		`${need} Install it, on Debian by "sudo apt-get install ${packages}", then run the command again.`,
	);
}

/** Where the programs lie that n8n's queue mode needs besides n8n. */
export interface QueuePrograms {
	redisServer: string;
	/** The folder of `initdb` and `postgres`. */
	postgresFolder: string;
}

/** The folder that holds this program: one of the PATH, or one of these. */
const folderOf = (name: string, others: string[] = []) =>
	[...(process.env.PATH ?? '').split(':'), ...others].find((it) => existsSync(join(it, name)));

function findQueuePrograms(): QueuePrograms | undefined {
	// Debian keeps the server's programs off the PATH, in a folder per version.
	const debian = '/usr/lib/postgresql';
	const versions = existsSync(debian) ? readdirSync(debian).map(Number) : [];
	const newestFirst = versions.sort((a, b) => b - a).map((it) => join(debian, String(it), 'bin'));
	const [redis, postgresFolder] = [folderOf('redis-server'), folderOf('initdb', newestFirst)];
	return redis && postgresFolder
		? { redisServer: join(redis, 'redis-server'), postgresFolder }
		: undefined;
}

export async function ensureQueuePrograms(): Promise<QueuePrograms> {
	return await ensure(
		findQueuePrograms,
		'redis-server postgresql',
		"n8n's queue mode needs Redis and PostgreSQL, and this machine has not both of them. They are only run in temporary folders, with ports of their own.",
	);
}

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser's path. */
export async function ensureChromium(): Promise<string> {
	const given = process.env.CHROMIUM;
	if (given !== undefined && !existsSync(given))
		throw new Halt(`CHROMIUM names ${given}, which does not exist.`);
	return await ensure(
		() => given ?? browsers.find((path) => existsSync(path)),
		'chromium',
		`No Chromium was found in ${browsers.join(', ')}, and the variable CHROMIUM names none.`,
	);
}
