/** The docs name commands and files of this repository that are there. Their links are checked by `npm run check:links`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';

const root = join(__dirname, '..', '..');
const pages = ['.', 'docs', 'examples'].flatMap((folder) =>
	readdirSync(join(root, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => join(folder, name)),
);
const read = (page: string) => readFileSync(join(root, page), 'utf8');

test.each(pages)('%s: its commands exist', (page) => {
	const named = [...read(page).matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
	expect(named.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
});

test('the stand-in takes what the docs have users try', () => {
	const types = readFileSync(join(root, 'test', 'service', 'types.ts'), 'utf8');
	const [, steering = ''] = /interface Steering \{(.*?)\n\}/s.exec(types) ?? [];
	const named = [
		...pages
			.map(read)
			.join('')
			.matchAll(/"stand_in": \{(.*?)\}/g),
	];
	const fields = named.flatMap(([, inner = '']) => [...inner.matchAll(/"(\w+)":/g)]);
	expect(fields.length).toBeGreaterThan(4);
	for (const [, field = ''] of fields) expect(steering).toContain(`\t${field}?:`);
});

test('every file that the map of the code names is there', () => {
	const folders = readdirSync(join(root, 'nodes', 'MediaGeneration'), { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ name }) => name);
	const pattern = new RegExp(`\`((?:${folders.join('|')})/[a-zA-Z]+)\``, 'g');
	const named = [...read('docs/architecture.md').matchAll(pattern)];
	const files = named.map(([, name = '']) => `nodes/MediaGeneration/${name}`);
	expect(files.length).toBeGreaterThan(15);
	expect(files.filter((file) => !existsSync(join(root, `${file}.ts`)))).toEqual([]);
});
