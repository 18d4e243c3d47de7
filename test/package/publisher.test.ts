/** Who publishes the package is written in package.json alone; the build carries it to where users see it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json';
import { root } from '../../scripts/pack';
import { addressOf, fillIn, placeholdersIn, standIn } from '../../scripts/publisher.cjs';

const published = {
	author: { email: 'someone@example.com' },
	repository: { url: 'git+https://git.example.com/someone/nodes.git' },
	homepage: 'https://git.example.com/someone/nodes#readme',
};

test('what is built names that address wherever the sources name the stand-in', () => {
	const folder = mkdtempSync(join(tmpdir(), 'media-generation-publisher-'));
	try {
		for (const part of ['nodes', 'credentials'])
			cpSync(join(root, 'dist', part), join(folder, part), { recursive: true });
		fillIn(folder, published);
		const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
			.filter((name) => /\.js(on)?$/.test(name))
			.map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
		const named = (address: string) =>
			texts.filter(({ text }) => text.includes(address)).map(({ name }) => name);
		expect(named(standIn)).toEqual([]);
		expect(named('https://git.example.com/someone/nodes').sort()).toEqual(
			[
				join('credentials', 'MediaGenerationApi.credentials.js'),
				join('nodes', 'MediaGeneration', 'MediaGeneration.node.json'),
				join('nodes', 'MediaGeneration', 'MediaGenerationTrigger.node.json'),
			].sort(),
		);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

test('a release is refused with words while a placeholder stands', () => {
	const left = placeholdersIn(manifest);
	const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'publisher.cjs')], {
		encoding: 'utf8',
	});
	expect({ status, stderr }).toEqual(
		left.length === 0
			? { status: 0, stderr: '' }
			: {
					status: 1,
					stderr: `package.json still has a placeholder in ${left.join(' and ')}: fill in who publishes this package (RELEASING.md).\n`,
				},
	);
});

test('package.json names the repository and its page, and nothing that npm derives from them', () => {
	expect(manifest.homepage).toBe(`${addressOf(manifest)}#readme`);
	const leftovers = ['bugs', 'allowScripts', 'overrides', 'publishConfig'];
	expect(Object.keys(manifest).filter((field) => leftovers.includes(field))).toEqual([]);
});
