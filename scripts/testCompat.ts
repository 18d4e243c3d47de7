/**
 * `npm run test:compat`: type-check and unit tests against the `n8n-workflow` of each n8n that is supported. Each is installed once, into
 * the cache folder. The versions are pinned, so that CI fails for a change of this repository alone; `-- --newest` adds whatever is
 * newest today.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { runMain } from './halt';
import { cacheFolder } from './n8nInstall';
import { npm } from './npm';
import { root } from './pack';

interface Version {
	version: string;
	/** Unit tests only: the nodes ask at run time for what these types do not know yet. */
	olderTypes?: boolean;
}

/** Of n8n 1.123, which is still maintained; of 2.14, the first that suspending works in; of the newest that was tried. */
const pinned: Version[] = [
	{ version: '1.120.31', olderTypes: true },
	{ version: '2.14.1' },
	{ version: '2.41.0' },
];

/** The folder of n8n-workflow in that version. */
async function install(version: string): Promise<string> {
	const folder = join(cacheFolder(), `n8n-workflow-${version}`);
	const target = join(folder, 'node_modules', 'n8n-workflow');
	if (version === 'latest' || !existsSync(join(target, 'package.json'))) {
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
		const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];
		await npm(['install', `n8n-workflow@${version}`, ...flags, '--loglevel=error'], {
			cwd: folder,
			purpose: `installing n8n-workflow ${version}`,
		});
	}
	return target;
}

function node(args: string[], env: NodeJS.ProcessEnv = {}): void {
	execFileSync(process.execPath, args, {
		cwd: root,
		stdio: 'inherit',
		env: { ...process.env, ...env },
	});
}

/** Compiles the nodes with the types of the n8n-workflow in this folder. */
function checkTypes(target: string): void {
	const config = join(root, `tsconfig.compat-${process.pid}.json`);
	const content = {
		extends: './tsconfig.json',
		compilerOptions: { noEmit: true, baseUrl: '.', paths: { 'n8n-workflow': [target] } },
		include: ['credentials/**/*.ts', 'nodes/**/*.ts'],
	};
	writeFileSync(config, JSON.stringify(content));
	try {
		node([join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config]);
	} finally {
		rmSync(config, { force: true });
	}
}

/** The unit tests, but for those of the stand-in, which knows nothing of n8n. */
function runTests(target: string): void {
	const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
	node([jest, 'test/unit/', '--testPathIgnorePatterns', '/standIn'], { N8N_WORKFLOW: target });
}

runMain(async () => {
	const { newest } = new Command()
		.name('npm run test:compat --')
		.description("Type-check and unit tests against several versions of n8n's interfaces")
		.option('--newest', 'also against the newest that is published')
		.parse()
		.opts<{ newest?: boolean }>();
	for (const { version, olderTypes } of newest === true
		? [...pinned, { version: 'latest' }]
		: pinned) {
		const target = await install(version);
		console.log(`\nn8n-workflow ${version}`);
		if (olderTypes !== true) checkTypes(target);
		runTests(target);
	}
});
