/** `npm run scan`: n8n's scanner of community packages, over the sources and over the packed tarball, without publishing first. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';
import { runMain } from './halt';
import { inTemporaryFolder, packPackage, root } from './pack';

runMain(async () => {
	await inTemporaryFolder(async (folder) => {
		execFileSync('tar', ['-xzf', await packPackage(folder), '-C', folder]);
		const sources = await analyzePackage(root, SOURCE_FILE_PATTERNS);
		const tarball = await analyzePackage(join(folder, 'package'));
		for (const [name, { passed, message, details }] of Object.entries({ sources, tarball })) {
			console.log(`${name}: ${passed ? 'passed' : `${message}\n${details ?? ''}`}`);
			if (!passed) process.exitCode = 1;
		}
	});
});
