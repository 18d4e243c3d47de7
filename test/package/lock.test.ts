/** The lock file of the development dependencies: what `npm ci` refuses, and what only one machine could install. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
	resolved?: string;
	dependencies?: Record<string, string>;
	optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(readFileSync(join(__dirname, '..', '..', 'package-lock.json'), 'utf8')) as {
	packages: Record<string, LockedPackage>;
};

/** Where Node.js would find a package from: the folder's own `node_modules`, then those above it. */
function isLocked(name: string, from: string): boolean {
	for (let folder = from; ; folder = folder.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
		const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
		if (lock.packages[path] !== undefined) return true;
		if (folder === '') return false;
	}
}

describe('package-lock.json', () => {
	it('holds every dependency that it names, those for other platforms too: npm ci refuses it otherwise', () => {
		const missing = Object.entries(lock.packages).flatMap(([path, locked]) =>
			Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
				.filter((name) => !isLocked(name, path))
				.map((name) => `${name}, wanted by ${path}`),
		);
		expect(missing).toEqual([]);
	});

	it('names no registry, so that everybody installs from their own', () => {
		const named = Object.entries(lock.packages).filter(
			([, { resolved }]) => resolved !== undefined,
		);
		expect(named).toEqual([]);
	});
});
