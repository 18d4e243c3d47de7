import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, hashOf } from '../built';
import { installPackage, packPackage, root } from '../pack';
import { type StartState, startFolder, writeState } from './state';

/** What the tarball holds. */
const packageContent = () => hashOf(['dist', 'package.json', 'README.md', 'LICENSE']);

/** Builds the package and installs it into the demo's n8n, each unless it is there already. */
export async function buildAndInstall(state: StartState): Promise<void> {
	await ensureBuilt();
	const content = packageContent();
	const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string };
	const installed = join(startFolder, '.n8n', 'nodes', 'node_modules', name);
	if (state.installed === content && existsSync(installed)) return;

	console.log('Packing the nodes and installing them into n8n ...');
	const folder = mkdtempSync(join(tmpdir(), 'media-generation-pack-'));
	try {
		await installPackage(await packPackage(folder), startFolder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
	state.installed = content;
	writeState(state);
}
