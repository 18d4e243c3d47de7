import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultVersion, n8nVersion, versions, versionVariable } from '../../scripts/n8nInstall';
import { root } from '../../scripts/pack';
import { versionsPage, versionsSummary, withSummary } from '../../scripts/versionsPage';

describe('versions of n8n', () => {
	afterEach(() => delete process.env[versionVariable]);

	it('are chosen by a variable, and one that can not be installed is refused', () => {
		expect(n8nVersion()).toBe(defaultVersion);
		process.env[versionVariable] = versions[0];
		expect(n8nVersion()).toBe(versions[0]);
		process.env[versionVariable] = '0.1.0';
		expect(() => n8nVersion()).toThrow(
			`MEDIA_GENERATION_N8N_VERSION is "0.1.0", and these versions of n8n can be installed: ${versions.join(', ')}.`,
		);
	});

	it('have a folder each, whose manifest and lock file install just that version', () => {
		expect(versions).toContain(defaultVersion);
		for (const version of versions) {
			const folder = join(root, 'test', 'n8n', 'install', version);
			const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
				dependencies: Record<string, string>;
			};
			expect(manifest.dependencies.n8n).toBe(version);
			expect(existsSync(join(folder, 'package-lock.json'))).toBe(true);
			const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8');
			expect(lock).not.toContain('"resolved"');
		}
	});
});

describe('docs/versions.md', () => {
	it('says of each test what came of it in each version, and why one was left out', () => {
		const page = versionsPage(
			new Map([
				['1.0.0', [{ suite: 's', name: 'a', verdict: 'skipped', why: 'too old' }]],
				[
					'2.0.0',
					[
						{ suite: 's', name: 'a', verdict: 'passed' },
						{ suite: 's', name: 'b', verdict: 'failed' },
					],
				],
			]),
		);
		expect(page).toContain(
			'| Suite | Test | n8n 1.0.0 | n8n 2.0.0 |\n| --- | --- | --- | --- |\n| s | a | n/a | yes |\n| s | b | - | **no** |\n\n- n8n 1.0.0: too old.\n',
		);
	});
});

describe("the README's table", () => {
	it('says for each suite and version how many of the tests that ran have passed', () => {
		const passed = { suite: 's', name: 'a', verdict: 'passed' } as const;
		const summary = versionsSummary(
			new Map([
				['1.0.0', [passed, { suite: 's', name: 'b', verdict: 'skipped' }]],
				[
					'2.0.0',
					[passed, { suite: 's', name: 'b', verdict: 'failed' }, { ...passed, suite: 't' }],
				],
			]),
		);
		expect(summary).toBe(
			'| Suite | n8n 1.0.0 | n8n 2.0.0 |\n| --- | --- | --- |\n| s | 1 of 1, 1 n/a | 1 of 2 |\n| t | - | 1 of 1 |',
		);
	});

	it('is put between its markers, and nowhere else', () => {
		const readme = readFileSync(join(root, 'README.md'), 'utf8');
		const renewed = withSummary(readme, 'NEW');
		expect(renewed.match(/NEW/g)).toHaveLength(1);
		expect(withSummary(renewed, 'NEWER')).toBe(withSummary(readme, 'NEWER'));
		expect(() => withSummary('no markers', 'NEW')).toThrow(/README.md has no/);
	});
});
