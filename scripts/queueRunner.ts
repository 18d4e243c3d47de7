import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';
import { ensureQueuePrograms } from './queuePrograms';

export const queueFolder = join(root, 'test', 'queue');

/** Runs a file of test/queue by tsx in a child process, after everything that it needs is installed; its exit code is ours. */
export async function runInQueueFolder(
	file: string,
	args: string[],
	nodeArgs: string[] = [],
	env: Record<string, string> = {},
): Promise<void> {
	await ensureQueuePrograms();
	await ensureN8n();
	const { execa } = await import('execa');
	const tsx = pathToFileURL(require.resolve('tsx')).href;
	const child = execa(
		process.execPath,
		['--import', tsx, ...nodeArgs, join(queueFolder, file), ...args],
		{ cwd: root, stdio: 'inherit', reject: false, env },
	);
	// Ctrl-C reaches the child by itself; the others are passed on, and the child cleans up before it ends.
	for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
	process.on('SIGINT', () => {});
	const { exitCode } = await child;
	process.exitCode = Number(process.exitCode ?? 0) || (exitCode ?? 1);
}
