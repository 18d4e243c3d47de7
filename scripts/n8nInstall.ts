import { createHash } from 'node:crypto';
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statfsSync,
	writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Halt } from './halt';
import { withLock } from './lock';
import { npm } from './npm';

const neededGigabytes = 3;
/** A folder for each version, with the manifest and the lock file that install it. */
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

/** A real n8n with the Node.js that it wants, outside the checkout. */
export interface N8nInstall {
	version: string;
	dir: string;
	/** The Node.js 24 of the npm package `node`. */
	node: string;
	/** n8n's command line script, to be run by `node`. */
	bin: string;
	/** The folder to put first on n8n's PATH. */
	binFolder: string;
}

/** `$XDG_CACHE_HOME/n8n-nodes-media-generation`, or the same under `~/.cache`. */
export function cacheFolder(): string {
	return join(
		process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
		'n8n-nodes-media-generation',
	);
}

function checkDiskSpace(folder: string): void {
	const { bavail, bsize } = statfsSync(folder);
	const free = (bavail * bsize) / 1e9;
	if (free >= neededGigabytes) return;
	throw new Halt(
		`Not enough disk space for n8n: ${folder} has ${free.toFixed(1)} GB left, and ${neededGigabytes} GB are needed. ` +
			'Free some space, or let XDG_CACHE_HOME point to a folder on another disk, then run the command again.',
	);
}

/**
 * The commands that make a working n8n. Install scripts stay off but for the two that are needed: `node` fetches its binary, and
 * `sqlite3` (under that Node.js) its addon. `npm ci` refuses this lock file: the versions come from the lock all the same.
 */
const installSteps: ReadonlyArray<{ args: string[]; purpose: string }> = [
	{
		args: [
			'install',
			'--legacy-peer-deps',
			'--ignore-scripts',
			'--no-audit',
			'--no-fund',
			'--loglevel=error',
		],
		purpose: 'installing n8n',
	},
	{
		args: ['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'],
		purpose: "unpacking n8n's Node.js",
	},
	{
		args: ['rebuild', 'sqlite3', '--ignore-scripts=false', '--loglevel=error'],
		purpose: "building n8n's SQLite",
	},
];

async function install({ version, dir, binFolder }: N8nInstall): Promise<void> {
	// What an interrupted attempt left behind is of unknown state.
	rmSync(dir, { recursive: true, force: true });
	mkdirSync(dir, { recursive: true });
	checkDiskSpace(dir);
	for (const file of ['package.json', 'package-lock.json']) {
		copyFileSync(join(manifests, version, file), join(dir, file));
	}
	console.log(`Installing n8n ${version} into ${dir}: once, about 5 minutes and 2.2 GB ...`);
	for (const { args, purpose } of installSteps) {
		console.log(`  ${purpose} ...`);
		await npm(args, { cwd: dir, purpose, binFolders: [binFolder] });
	}
	writeFileSync(join(dir, '.complete'), '');
}

/** Where a version lies, or would lie: the folder is named by its lock file. */
function located(version: string): N8nInstall {
	const lock = readFileSync(join(manifests, version, 'package-lock.json'));
	const key = createHash('sha256').update(lock).digest('hex').slice(0, 12);
	const dir = join(cacheFolder(), `n8n-${key}`);
	const modules = join(dir, 'node_modules');
	const executable = process.platform === 'win32' ? 'node.exe' : 'node';
	return {
		version,
		dir,
		binFolder: join(modules, '.bin'),
		node: join(modules, 'node', 'bin', executable),
		bin: join(modules, 'n8n', 'bin', 'n8n'),
	};
}

/** The cached n8n of this process's version, installed first if it is not there yet. Two callers at once install it once. */
export async function ensureN8n(): Promise<N8nInstall> {
	const n8n = located(n8nVersion());
	const isComplete = () => existsSync(join(n8n.dir, '.complete'));
	if (!isComplete())
		await withLock(
			n8n.dir,
			async () => (isComplete() ? undefined : await install(n8n)),
			'Another process is installing n8n; waiting for it ...',
		);
	return n8n;
}
