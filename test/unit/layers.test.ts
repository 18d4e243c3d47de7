/**
 * The structure of the node, as docs/architecture.md draws it: a floor knows the floors below it and nothing above, and the
 * network has one door for each purpose.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { preProcessFile } from 'typescript';

const ROOT = join(__dirname, '../../nodes/MediaGeneration');

/** From the top. Folders on one floor do not know each other. */
const FLOORS = [
	['node'],
	['methods'],
	['run'],
	['suspend'],
	['trigger'],
	['files'],
	['items'],
	['task'],
	['actions'],
	['transport'],
	['answers'],
	['audio', 'n8n'],
	['base'],
];
/** Any other file that sends something needs a good reason, and an entry here. */
const DOORS = [
	'methods/credentialTest.ts',
	'transport/client.ts',
	'transport/fileHost.ts',
	'transport/selfCall.ts',
];

interface Source {
	/** Relative to the node's folder, with slashes. */
	file: string;
	folder: string;
	text: string;
	/** The files of the node that it imports, for values or types. */
	imports: string[];
}

function importsOf(path: string, text: string): string[] {
	return preProcessFile(text)
		.importedFiles.map(({ fileName }) => fileName)
		.filter((name) => name.startsWith('.'))
		.map((name) => join(dirname(path), name))
		.map((target) => {
			const found = [`${target}.ts`, join(target, 'index.ts')].find((file) => existsSync(file));
			if (found === undefined) throw new Error(`${path} imports ${target}, which is not there`);
			return relative(ROOT, found).split(sep).join('/');
		});
}

const sources: Source[] = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.ts'))
	.map((name) => {
		const path = join(ROOT, name);
		const text = readFileSync(path, 'utf8');
		const file = name.split(sep).join('/');
		const folder = file.includes('/') ? file.slice(0, file.indexOf('/')) : 'node';
		return { file, folder, text, imports: importsOf(path, text) };
	});

const folderOf = (file: string) => sources.find((source) => source.file === file)?.folder ?? '';
const floorOf = (folder: string) => FLOORS.findIndex((folders) => folders.includes(folder));

test('every file is in a folder of the plan', () => {
	expect(sources.length).toBeGreaterThan(50);
	expect(sources.filter(({ folder }) => floorOf(folder) < 0).map(({ file }) => file)).toEqual([]);
});

test('no import goes upwards, or to another folder on the same floor', () => {
	const wrong = sources.flatMap(({ file, folder, imports }) =>
		imports
			.filter(
				(target) => folderOf(target) !== folder && floorOf(folderOf(target)) <= floorOf(folder),
			)
			.map((target) => `${file} -> ${target}`),
	);
	expect(wrong).toEqual([]);
});

test('no imports form a circle', () => {
	const byFile = new Map(sources.map((source) => [source.file, source.imports]));
	const cleared = new Set<string>();
	const circleFrom = (file: string, path: readonly string[]): string | undefined => {
		if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' -> ');
		if (cleared.has(file)) return undefined;
		for (const target of byFile.get(file) ?? []) {
			const circle = circleFrom(target, [...path, file]);
			if (circle !== undefined) return circle;
		}
		cleared.add(file);
		return undefined;
	};
	const circles = sources.map(({ file }) => circleFrom(file, []));
	expect(circles.find((circle) => circle !== undefined)).toBeUndefined();
});

test('the network has one door for the service, for the test of its credential, for files and for this n8n', () => {
	const sending = sources.filter(({ text }) =>
		/httpRequest|helpers\.request\b|\bfetch\(|XMLHttpRequest|requestWithAuthentication|requestOAuth/.test(
			text,
		),
	);
	expect(sending.map(({ file }) => file).sort()).toEqual(DOORS);
});

test("n8n's log is written to in one place, which cleans what is written", () => {
	const logging = sources.filter(({ text }) => /\blogger\??\.\w/.test(text));
	expect(logging.map(({ file }) => file)).toEqual(['n8n/log.ts']);
});
