/**
 * `npm run scan`: what n8n's scanner of community packages checks, without publishing first: its two rule sets with inline disables
 * ignored, over the sources and over the packed tarball.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import communityNodes from '@n8n/eslint-plugin-community-nodes';
import { ESLint, type Linter } from 'eslint';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import tseslint from 'typescript-eslint';
import { ensureBuilt } from './built';
import { runMain } from './halt';
import { packPackage, root } from './pack';

const config: Linter.Config[] = [
	communityNodes.configs.recommended,
	{ rules: { 'no-console': 'error' } },
	{ plugins: { 'n8n-nodes-base': n8nNodesBase } },
	{ files: ['package.json'], rules: n8nNodesBase.configs.community.rules },
	{
		files: ['**/credentials/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.credentials.rules,
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
			'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
		},
	},
	{
		files: ['**/nodes/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.nodes.rules,
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
			'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
		},
	},
	{ files: ['**/*.json', '**/*.ts'], languageOptions: { parser: tseslint.parser } },
];

/** Lints what matches below a folder and returns the number of errors. */
async function scan(title: string, cwd: string, patterns: string[]): Promise<number> {
	const eslint = new ESLint({
		cwd,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig: config,
		errorOnUnmatchedPattern: true,
	});
	const results = await eslint.lintFiles(patterns);
	const errors = results.reduce((sum, { errorCount }) => sum + errorCount, 0);
	const warnings = results.reduce((sum, { warningCount }) => sum + warningCount, 0);
	console.log(`${title}: ${results.length} files, ${errors} errors, ${warnings} warnings`);
	const text = await (await eslint.loadFormatter('stylish')).format(results);
	if (text !== '') console.log(text);
	return errors;
}

runMain(async () => {
	await ensureBuilt();
	const folder = mkdtempSync(join(tmpdir(), 'media-generation-scan-'));
	try {
		execFileSync('tar', ['-xzf', await packPackage(folder), '-C', folder]);
		const errors =
			(await scan('Sources', root, ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'])) +
			(await scan('Tarball', join(folder, 'package'), ['**/*.js', '**/*.json']));
		process.exitCode = errors === 0 ? 0 : 1;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
