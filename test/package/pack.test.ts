import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '../../nodes/MediaGeneration/actions';
import { type Packed, packedIn, root } from '../../scripts/pack';
import { schemaFiles } from '../../scripts/schemas.cjs';

function pack(): Packed {
	const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
		cwd: root,
		encoding: 'utf8',
		stdio: ['ignore', 'pipe', 'ignore'],
		shell: process.platform === 'win32',
	});
	return packedIn(output);
}

/** What is more than types. */
const CODE = /^(export )?(default |abstract |async )*(const|let|function|class) |^\{/m;

/** What the sources of a folder become in `dist/`: a file of types alone becomes nothing. */
function built(folder: string, kinds: RegExp): string[] {
	return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => kinds.test(name))
		.filter(
			(name) => !/ts$/.test(name) || CODE.test(readFileSync(join(root, folder, name), 'utf8')),
		)
		.map((name) => join('dist', folder, name).replace(/\.ts$/, '.js'));
}

describe('the packed tarball', () => {
	const packed = pack();

	it('holds the built sources, output schemas, icons and codex files, the licence and the README, and nothing else', () => {
		const schemas = Object.keys(schemaFiles(resources, 1.1)).map(
			(name) => `dist/nodes/MediaGeneration/__schema__/${name}`,
		);
		const expected = [
			'LICENSE',
			'README.md',
			'package.json',
			...built('nodes', /\.(ts|json|svg)$/),
			...built('credentials', /\.ts$/),
			...built('icons', /\.svg$/),
			...schemas,
		];
		expect(packed.files.map(({ path }) => path).sort()).toEqual(expected.sort());
	});

	it('stays below 150 kB', () => {
		expect(packed.size).toBeLessThan(150_000);
	});
});
