/** What README and docs say of this repository is there: files, headings, commands, and the files of the code's own map. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../package.json';

const root = join(__dirname, '..', '..');
const inFolder = (folder: string) =>
	readdirSync(join(root, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => join(folder, name));
/** Written by a command. */
const written = ['benchmarks.md', 'mutation.md'].map((name) => join('docs', name));
const pages = [...inFolder('.'), ...inFolder('docs'), ...inFolder('examples')].filter(
	(page) => !written.includes(page),
);
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
	return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
		heading
			.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\s_-]/gu, '')
			.replace(/ /g, '-'),
	);
}

/** The targets of links and pictures, except those on other hosts. */
function linksIn(page: string): string[] {
	const text = read(page).replace(/```.*?```/gs, '');
	const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)];
	return targets
		.map(([, link, source]) => link ?? source ?? '')
		.filter((target) => !/^[a-z]+:/.test(target));
}

test.each(pages)('%s: its links lead somewhere', (page) => {
	const broken = linksIn(page).filter((target) => {
		const [path = '', anchor] = target.split('#');
		const file = path === '' ? page : join(dirname(page), path);
		if (!existsSync(join(root, file))) return true;
		return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor);
	});
	expect(broken).toEqual([]);
});

test.each(pages)('%s: its commands exist', (page) => {
	const named = [...read(page).matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
	expect(named.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
});

/** The texts of a test as docs/promises.md names it, e.g. `unit/once`, with those of the tables beside it. */
function testTextOf(name: string): string {
	const endings = ['.test.ts', '.n8n.ts', '.browser.ts', '.queue.ts', '.ts'];
	const files = endings.map((ending) => `test/${name}${ending}`);
	return files.map((file) => (existsSync(join(root, file)) ? read(file) : '')).join('');
}

/** The promises of a line: which file each refers to, and the parts of the names that it quotes, cut where they have an ellipsis. */
function testsIn(line: string) {
	const found = [
		...line.matchAll(/`((?:unit|model|engine|package|n8n|browser|queue)\/[\w/]+)`|"([^"]+)"/g),
	];
	let name = '';
	return found.map(([, file, quoted = '']) => {
		name = file ?? name;
		return { name, words: quoted.split('...').map((part) => part.trim()) };
	});
}

test('every test behind a promise exists, by the name that the page gives it', () => {
	const rows = read('docs/promises.md')
		.split('\n')
		.filter((line) => line.startsWith('| '));
	const security = read('SECURITY.md').replace(/\n +/g, ' ').split('\n');
	const named = [
		...rows.flatMap((line) => testsIn(line.slice(line.indexOf('|', 1)))),
		...security.flatMap((line) => testsIn(line)).filter(({ name }) => name !== ''),
	];
	expect(named.length).toBeGreaterThan(80);
	const missing = named.filter(({ name, words }) => {
		const text = testTextOf(name).replaceAll("\\'", "'");
		return text === '' || words.some((part) => !text.includes(part));
	});
	expect(missing).toEqual([]);
});

/** The README keeps a paragraph on a line, as its lines are counted; the others are written by scripts. */
const unwrapped = /README|docs\/(?:fields|benchmarks|versions|mutation)\.md/;
test.each(pages.filter((page) => !unwrapped.test(page)))(
	'%s: wrapped at 160 characters',
	(page) => {
		const prose = read(page).replace(/```.*?```/gs, '');
		const long = prose.split('\n').filter((line) => line.length > 160 && !/^\s*[|<]/.test(line));
		expect(long).toEqual([]);
	},
);

test('the README is short enough to be read', () => {
	expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(200);
});

test('every file that the map of the code names is there', () => {
	const floors = 'run|sleep|callback|delivery|create|wait|operations|media|service|base';
	const pattern = new RegExp(`\`((?:${floors})/[a-zA-Z]+)\``, 'g');
	const named = [...read('docs/architecture.md').matchAll(pattern)];
	const files = named.map(([, name = '']) => `nodes/MediaGeneration/${name}`);
	expect(files.length).toBeGreaterThan(15);
	expect(files.filter((file) => !existsSync(join(root, `${file}.ts`)))).toEqual([]);
});

/** Words of translated or insiders' English, with what to say instead. */
const avoided: Array<[word: RegExp, instead: string]> = [
	[/\bin vain\b/i, 'rejected, without a result'],
	[/\bis no other than\b/i, 'equals'],
	[/\banew\b/i, 'again'],
	[/\btold\b/i, 'says, reports'],
	[/\bwhoever\b/i, 'anyone who'],
	[/\bso long as? it goes by\b/i, 'it caches'],
	[/\bbut for\b/i, 'except'],
	[/\brun so\b/i, 'run this way'],
	[/\bto take to bed\b/i, ''],
	[/\bis only a reason to ask\b/i, 'only prompts a lookup'],
];
test.each(pages)('%s: plain words', (page) => {
	// What stands in quotes is the name of a test, or what somebody else says.
	const text = read(page).replace(/"[^"\n]*"/g, '');
	expect(avoided.filter(([word]) => word.test(text)).map(([word]) => word.source)).toEqual([]);
});
