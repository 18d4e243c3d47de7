import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npm } from '../npm';
import { installPackage, packPackage, root } from '../pack';
import { type StartState, startFolder, writeState } from './state';

const sources = [
	'nodes',
	'credentials',
	'icons',
	'gulpfile.js',
	'package.json',
	'tsconfig.json',
	'README.md',
	'LICENSE',
];

function filesIn(path: string): string[] {
	if (!existsSync(path)) return [];
	if (statSync(path).isFile()) return [path];
	return readdirSync(path, { recursive: true, encoding: 'utf8' })
		.map((name) => join(path, name))
		.filter((file) => statSync(file).isFile())
		.sort();
}

/** One hash over the names and contents of files and folders of the checkout. */
function hashOf(paths: string[]): string {
	const hash = createHash('sha256');
	for (const file of paths.flatMap((path) => filesIn(join(root, path)))) {
		hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
	}
	return hash.digest('hex');
}

const builtFrom = () => hashOf([...sources, 'dist']);
/** What the tarball holds. */
const packageContent = () => hashOf(['dist', 'package.json', 'README.md', 'LICENSE']);

/** Builds the package, unless `dist/` already is what these sources make, and installs it into the demo's n8n, unless it is there. */
export async function buildAndInstall(state: StartState): Promise<void> {
	if (!existsSync(join(root, 'dist')) || state.builtFrom !== builtFrom()) {
		console.log('Building the nodes ...');
		await npm(['run', 'build', '--silent'], { cwd: root, purpose: 'building the nodes' });
		state.builtFrom = builtFrom();
		writeState(state);
	}
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
