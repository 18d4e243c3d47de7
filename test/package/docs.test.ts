/** The docs name commands, files, fields and messages that are there. Their links are checked by `npm run check:links`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { resources } from '../../nodes/MediaGeneration/actions';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';
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

type Entry = INodeProperties | INodePropertyOptions | INodePropertyCollection;

/** What is written on screen in a description: names of fields, of choices, of rows, and texts to click. */
function shownIn(entries: readonly Entry[]): string[] {
	return entries.flatMap((entry) => {
		const name = 'displayName' in entry ? entry.displayName : entry.name;
		const inner = 'values' in entry ? entry.values : 'options' in entry ? entry.options : [];
		return [name, ...shownIn(inner ?? [])];
	});
}

/** What the docs name of n8n itself. */
const OF_N8N = [
	...['Binary', 'Execute step', 'On Error', 'Save execution progress', 'When Last Node Finishes'],
	...[
		'Edit Fields',
		'Execute Sub-workflow',
		'If',
		'Loop Over Items',
		'Merge',
		'Respond to Webhook',
	],
	...['Split Out', 'Wait', 'Write File'],
];

test('every field, option and operation that the docs name is on screen', () => {
	const nodes = [new MediaGeneration(), new MediaGenerationTrigger()];
	const properties = nodes.flatMap(({ description }) => description.properties);
	const operations = resources.flatMap(({ name, operations: all }) =>
		all.flatMap((each) => [each.name, `${name}: ${each.name}`]),
	);
	const onScreen = shownIn([...properties, ...new MediaGenerationApi().properties]);
	/** A unit or a word in brackets behind a name may be left out. */
	const short = [...onScreen, ...operations].map((name) => name.replace(/ \(.*\)$/, ''));
	const known = new Set([...onScreen, ...operations, ...short, ...OF_N8N]);
	const titles = [...read('examples/README.md').matchAll(/^## (.*?): \[/gm)];
	for (const [, title = ''] of titles) known.add(title);
	const named = pages
		.filter((page) => !/fields\.md|CHANGELOG/.test(page))
		.flatMap((page) =>
			[...read(page).matchAll(/(?<![\w*`])_([A-Z][^_`\n]*?)_(?![\w*])/g)].map(
				([, name = '']) => name,
			),
		)
		.filter((name) => !/[?.]$/.test(name));
	expect(named.length).toBeGreaterThan(40);
	expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});

test.each(resources)('the table of the README has all of $name', ({ name, operations }) => {
	const rows =
		read('README.md')
			.match(new RegExp(`^\\|[^|]*${name}.*`, 'gm'))
			?.join() ?? '';
	expect(operations.filter((each) => !rows.includes(each.name))).toEqual([]);
});

const codeOf = (folders: string[]) =>
	folders
		.flatMap((folder) =>
			readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
				.filter((name) => name.endsWith('.ts'))
				.map((name) => read(join(folder, name))),
		)
		.join('\n');

test('every message that the docs explain is in the code', () => {
	const code = codeOf(['nodes', 'credentials']);
	const [, table = ''] = read('docs/troubleshooting.md').split('| Message begins with');
	const rows = [...table.matchAll(/^\| (?!---|Cause)(.*?) \|/gm)].map(([, row = '']) => row);
	const pieces = rows
		.flatMap((row) => row.split(/\.\.\.|\(HTTP.*\).*|, (?=[A-Z])/))
		.map((piece) => piece.trim())
		.filter((piece) => piece.length > 12 && !/^(`|HTTP)/.test(piece));
	expect(pieces.length).toBeGreaterThan(10);
	expect(pieces.filter((piece) => !code.includes(piece))).toEqual([]);
});

test('every test that stands behind a promise is there', () => {
	const level = '(?:unit|model|engine|n8n|queue|browser|package)';
	const pattern = new RegExp(`\`(${level}/\\w+)\``, 'g');
	const named = ['SECURITY.md', 'CONTRIBUTING.md'].flatMap((page) =>
		[...read(page).matchAll(pattern)].map(([, name = '']) => name),
	);
	expect(named.length).toBeGreaterThan(20);
	const isThere = (name: string) =>
		['.test.ts', '.ts', ''].some((end) => existsSync(join(root, 'test', name + end))) ||
		existsSync(join(root, 'test', name.replace(/^(\w+)\/.*/, '$&.$1.ts')));
	expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test('every function that the day of a task names is in the code', () => {
	const [, day = ''] = read('docs/architecture.md').split('## A day in the life of a task');
	const [section = ''] = day.split('\n## ');
	const named = [...section.matchAll(/`(?:\w+\.)?(\w+)`/g)].map(([, name = '']) => name);
	const code = codeOf(['nodes']);
	expect(named.length).toBeGreaterThan(20);
	const isThere = (name: string) =>
		new RegExp(`\\b(function\\*?|class|const) ${name}\\b|^\\t(async )?${name}\\(`, 'm').test(code);
	expect(named.filter((name) => !isThere(name))).toEqual([]);
});
