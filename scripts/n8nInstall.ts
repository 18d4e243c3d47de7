import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Halt } from './halt';
import { npm } from './npm';

const neededGigabytes = 3;
/** A folder for each version with the manifest that installs it, and a lock file for the default one. */
const manifests = join(__dirname, '..', 'test', 'n8n', 'install');

/** The version that everything runs in unless told otherwise. */
export const defaultVersion = '2.41.1';
/** Every version of n8n that can be installed here, the oldest first. */
export const versions: readonly string[] = readdirSync(manifests).sort((one, other) =>
	one.localeCompare(other, 'en', { numeric: true }),
);
/** Names the version for this process and those that it starts; see {@link n8nVersion}. */
export const versionVariable = 'MEDIA_GENERATION_N8N_VERSION';

/** The version of n8n that this process uses. A {@link Halt} for one that can't be installed. */
export function n8nVersion(): string {
	const version = process.env[versionVariable] || defaultVersion;
	if (versions.includes(version)) return version;
	throw new Halt(
		`${versionVariable} is "${version}", and these versions of n8n can be installed: ${versions.join(', ')}.`,
	);
}

/** A real n8n outside the checkout: `bin` is to be run by `node` 24 of the npm package of that name, with `binFolder` first on the PATH. */
export interface N8nInstall {
	version: string;
	dir: string;
	node: string;
	bin: string;
	binFolder: string;
}

/** `$XDG_CACHE_HOME/n8n-nodes-media-generation`, or the same under `~/.cache`. */
export function cacheFolder(): string {
	return join(
		process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
		'n8n-nodes-media-generation',
	);
}

/**
 * The commands that make a working n8n. Install scripts stay off except for the two that are needed: `node` fetches its binary, and
 * `sqlite3` (under that Node.js) its addon. `npm ci` refuses this lock file: the versions come from the lock all the same.
 */
const installSteps = {
	'installing n8n': 'install --legacy-peer-deps --ignore-scripts --no-audit --no-fund',
	"unpacking n8n's Node.js": 'rebuild node --ignore-scripts=false',
	"building n8n's SQLite": 'rebuild sqlite3 --ignore-scripts=false',
};

async function install({ version, dir, binFolder }: N8nInstall): Promise<void> {
	// What an interrupted attempt left behind is of unknown state.
	rmSync(dir, { recursive: true, force: true });
	mkdirSync(dir, { recursive: true });
	const { bavail, bsize } = statfsSync(dir);
	const free = (bavail * bsize) / 1e9;
	if (free < neededGigabytes)
		throw new Halt(
			`Not enough disk space for n8n: ${dir} has ${free.toFixed(1)} GB left, and ${neededGigabytes} GB are needed. ` +
				'Free some space, or let XDG_CACHE_HOME point to a folder on another disk, then run the command again.',
		);
	for (const file of readdirSync(join(manifests, version)))
		copyFileSync(join(manifests, version, file), join(dir, file));
	console.log(`Installing n8n ${version} into ${dir}: once, about 5 minutes and 2.2 GB ...`);
	for (const [purpose, command] of Object.entries(installSteps)) {
		console.log(`  ${purpose} ...`);
		const args = [...command.split(' '), '--loglevel=error'];
		await npm(args, { cwd: dir, purpose, binFolders: [binFolder] });
	}
	writeFileSync(join(dir, '.complete'), '');
}

/** The cached n8n of this process's version, installed first if it is not there yet: its folder is named by the files that install it. */
export async function ensureN8n(): Promise<N8nInstall> {
	const version = n8nVersion();
	const hash = createHash('sha256');
	for (const file of readdirSync(join(manifests, version)).sort())
		hash.update(readFileSync(join(manifests, version, file)));
	const key = hash.digest('hex').slice(0, 12);
	const dir = join(cacheFolder(), `n8n-${key}`);
	const modules = join(dir, 'node_modules');
	const executable = process.platform === 'win32' ? 'node.exe' : 'node';
	const n8n = {
		version,
		dir,
		binFolder: join(modules, '.bin'),
		node: join(modules, 'node', 'bin', executable),
		bin: join(modules, 'n8n', 'bin', 'n8n'),
	};
	if (!existsSync(join(dir, '.complete'))) await install(n8n);
	return n8n;
}
