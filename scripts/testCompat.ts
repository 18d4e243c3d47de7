/**
 * `npm run test:compat`: type-check and unit tests against `n8n-workflow` of the oldest n8n that is supported and of the
 * newest that can be installed. Each version is installed once, into the cache folder.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './pack';

/** n8n 2.14 is the first whose resume URLs carry a token, which suspending needs. */
const versions = ['2.14.0', 'latest'];

const cache = join(
	process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
	'n8n-nodes-media-generation',
);
const shell = process.platform === 'win32';

function run(command: string, args: string[], cwd: string): void {
	execFileSync(command, args, { cwd, stdio: 'inherit', shell });
}

/** The folder of n8n-workflow in that version. */
function install(version: string): string {
	const folder = join(cache, `n8n-workflow-${version}`);
	const target = join(folder, 'node_modules', 'n8n-workflow');
	if (version === 'latest' || !existsSync(join(target, 'package.json'))) {
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
		run(
			'npm',
			[
				'install',
				`n8n-workflow@${version}`,
				'--ignore-scripts',
				'--legacy-peer-deps',
				'--no-audit',
				'--no-fund',
				'--loglevel=error',
			],
			folder,
		);
	}
	return target;
}

function check(target: string): void {
	const { version } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
		version: string;
	};
	console.log(`\nn8n-workflow ${version}: type-check`);
	const config = join(root, `tsconfig.compat-${process.pid}.json`);
	writeFileSync(
		config,
		JSON.stringify({
			extends: './tsconfig.json',
			compilerOptions: { noEmit: true, baseUrl: '.', paths: { 'n8n-workflow': [target] } },
			include: ['credentials/**/*.ts', 'nodes/**/*.ts'],
		}),
	);
	try {
		run(
			process.execPath,
			[join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config],
			root,
		);
	} finally {
		rmSync(config, { force: true });
	}
	console.log(`n8n-workflow ${version}: unit tests`);
	const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
	const mapper = JSON.stringify({ '^n8n-workflow$': target });
	const jestConfig = join(tmpdir(), `media-generation-jest-${process.pid}.json`);
	writeFileSync(
		jestConfig,
		JSON.stringify({
			rootDir: root,
			roots: ['<rootDir>/test/unit'],
			testPathIgnorePatterns: ['standIn'],
			testEnvironment: 'node',
			transform: {
				'^.+\\.ts$': [
					'ts-jest',
					{ tsconfig: join(root, 'tsconfig.test.json'), diagnostics: false },
				],
			},
			moduleNameMapper: JSON.parse(mapper) as Record<string, string>,
		}),
	);
	try {
		run(process.execPath, [jest, '--config', jestConfig], root);
	} finally {
		rmSync(jestConfig, { force: true });
	}
}

for (const version of versions) check(install(version));
