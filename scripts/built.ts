import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock';
import { npm } from './npm';
import { root } from './pack';

/** What `dist/` is made from. */
const sources =
	'nodes credentials icons gulpfile.js scripts/publisher.cjs package.json tsconfig.json'.split(' ');
const stampFile = join(root, 'node_modules', '.cache', 'media-generation-built');

function filesIn(path: string): string[] {
	if (!existsSync(path)) return [];
	if (statSync(path).isFile()) return [path];
	return readdirSync(path, { recursive: true, encoding: 'utf8' })
		.map((name) => join(path, name))
		.filter((file) => statSync(file).isFile())
		.sort();
}

/** One hash over the names and contents of files and folders of the checkout. */
export function hashOf(paths: string[]): string {
	const hash = createHash('sha256');
	for (const file of paths.flatMap((path) => filesIn(join(root, path)))) {
		hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
	}
	return hash.digest('hex');
}

/** Of the sources and of what was built from them. */
const built = () => hashOf([...sources, 'dist']);
const stamp = () => (existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '');

/**
 * Builds the package, unless `dist/` already is what these sources make. Commands that run at the same time build it once, and none finds
 * it half-built.
 */
export async function ensureBuilt(): Promise<void> {
	await withLock(
		stampFile,
		async () => {
			if (existsSync(join(root, 'dist')) && stamp() === built()) return;
			console.log('Building the nodes ...');
			await npm(['run', 'build', '--silent'], { cwd: root, purpose: 'building the nodes' });
			writeFileSync(stampFile, built());
		},
		'Another command is building the nodes; waiting for it ...',
	);
}
