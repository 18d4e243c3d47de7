import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Halt } from './halt';
import { npm } from './npm';

export const root = join(__dirname, '..');

/** What `npm pack --json` says of a tarball. Bytes. */
export interface Packed {
	filename: string;
	size: number;
	files: Array<{ path: string }>;
}

/** Reads the answer of `npm pack --json`: npm 12 gives an object by package name where older ones give an array. */
export function packedIn(answer: string): Packed {
	const [packed] = Object.values(JSON.parse(answer) as Record<string, Packed>);
	if (packed !== undefined) return packed;
	throw new Halt('npm pack named no tarball. Run "npm pack" to see what it says.');
}

/** Runs `work` with a temporary folder, which is removed afterwards. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
	const folder = mkdtempSync(join(tmpdir(), 'media-generation-'));
	try {
		return await work(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** `npm pack` of the built package into `folder`; the tarball's path. */
export async function packPackage(folder: string): Promise<string> {
	if (!existsSync(join(root, 'dist', 'nodes'))) {
		throw new Halt('There is nothing to pack yet: run "npm run build" first.');
	}
	mkdirSync(folder, { recursive: true });
	const output = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
		cwd: root,
		purpose: 'packing the nodes',
	});
	return join(folder, packedIn(output).filename);
}

/**
 * Installs a tarball into n8n's user folder the way n8n installs a community package: into `.n8n/nodes`, without install scripts and
 * without the peer dependencies, which n8n itself provides. No network is needed: the package has no dependencies.
 */
export async function installPackage(tarball: string, userFolder: string): Promise<void> {
	const folder = join(userFolder, '.n8n', 'nodes');
	mkdirSync(folder, { recursive: true });
	const manifest = join(folder, 'package.json');
	if (!existsSync(manifest))
		writeFileSync(manifest, '{ "name": "installed-nodes", "private": true, "dependencies": {} }');
	const flags =
		'--ignore-scripts --legacy-peer-deps --omit=peer --no-audit --no-fund --prefer-offline';
	await npm(['install', ...flags.split(' '), tarball], {
		cwd: folder,
		purpose: 'installing the nodes into n8n',
	});
}
