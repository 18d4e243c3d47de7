/**
 * `npm run test:compat`: type-check and unit tests against the `n8n-workflow` of each n8n that is supported. Each is installed once, into
 * the cache folder. The versions are pinned, so that CI fails for a change of this repository alone.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { runJest, runNode } from './child';
import { runMain } from './halt';
import { cacheFolder } from './n8nInstall';
import { npm } from './npm';
import { root } from './pack';

/** Of n8n 2.14, the first that suspending works in, and of the newest that was tried. */
const pinned = ['2.14.1', '2.41.0'];

/** The folder of n8n-workflow in that version. */
async function install(version: string): Promise<string> {
	const folder = join(cacheFolder(), `n8n-workflow-${version}`);
	const target = join(folder, 'node_modules', 'n8n-workflow');
	if (version === 'latest' || !existsSync(join(target, 'package.json'))) {
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
		const flags = '--ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error';
		const purpose = `installing n8n-workflow ${version}`;
		await npm(['install', `n8n-workflow@${version}`, ...flags.split(' ')], {
			cwd: folder,
			purpose,
		});
	}
	return target;
}

/** Compiles the nodes with the types of the n8n-workflow in this folder. */
async function checkTypes(target: string): Promise<void> {
	const paths = { 'n8n-workflow': [target] };
	const typeRoots = [join(root, 'node_modules', '@types')];
	const config = {
		extends: join(root, 'tsconfig.json'),
		compilerOptions: { noEmit: true, baseUrl: root, paths, typeRoots },
		include: [join(root, 'credentials/**/*.ts'), join(root, 'nodes/**/*.ts')],
	};
	const file = join(target, '..', '..', 'tsconfig.json');
	writeFileSync(file, JSON.stringify(config));
	await runNode([require.resolve('typescript/bin/tsc'), '-p', file]);
}

runMain(async () => {
	const { only } = new Command('npm run test:compat --')
		.description("Type-check and unit tests against several versions of n8n's interfaces")
		.option('--only <version...>', 'e.g. "latest" for what is newest today', pinned)
		.parse()
		.opts<{ only: string[] }>();
	for (const version of only) {
		const target = await install(version);
		console.log(`\nn8n-workflow ${version}`);
		await checkTypes(target);
		await runJest(['test/unit/'], { N8N_WORKFLOW: target });
	}
});
