import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultVersion, n8nVersion, versions, versionVariable } from '../../scripts/n8nInstall';
import { root } from '../../scripts/pack';

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
