/** A name exists once: a reader who meets it, and a search for it, find one meaning. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const DECLARED =
	/^(?:export )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

const files = ['nodes', 'credentials'].flatMap((folder) =>
	readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.ts'))
		.map((name) => join(folder, name)),
);

test('no two files of the package have the same name', () => {
	const names = files.map((file) => basename(file));
	expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('no two top-level names of the package are alike', () => {
	const placesOf = new Map<string, string[]>();
	for (const file of files)
		for (const [, name = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARED))
			placesOf.set(name, [...(placesOf.get(name) ?? []), file]);
	expect(placesOf.size).toBeGreaterThan(500);
	const twice = [...placesOf].filter(([, places]) => places.length > 1);
	expect(twice.map(([name, places]) => `${name}: ${places.join(', ')}`)).toEqual([]);
});
