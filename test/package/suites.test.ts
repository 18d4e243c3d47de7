import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseSuites, suitesIn } from '../../scripts/suites';

describe('the choice of suites', () => {
	let folder: string;

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'media-generation-suites-'));
		for (const name of ['b.n8n.ts', 'a.n8n.ts', 'README.md', 'helper.ts'])
			writeFileSync(join(folder, name), '');
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	const suites = () => suitesIn(folder, '.n8n.ts');

	it('is made from the files with the ending, in order, named without it', () => {
		expect([...suites()]).toEqual([
			['a', join(folder, 'a.n8n.ts')],
			['b', join(folder, 'b.n8n.ts')],
		]);
	});

	it('is all of them unless some are named', () => {
		expect([...chooseSuites(suites()).keys()]).toEqual(['a', 'b']);
		expect([...chooseSuites(suites(), ['b']).keys()]).toEqual(['b']);
	});

	it('refuses a name that does not exist, also beside one that does, and names those that do', () => {
		expect(() => chooseSuites(suites(), ['b', 'c'])).toThrow(
			'There is no suite c. There are: a, b.',
		);
	});
});
