import { join } from 'node:path';
import { ensureBuilt } from './built';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';
import { ensureQueuePrograms } from './queuePrograms';
import { runFile } from './suites';

export const queueFolder = join(root, 'test', 'queue');

/** Runs a file of test/queue, after everything that it needs is installed; see {@link runFile}. */
export async function runInQueueFolder(
	file: string,
	...more: [args: readonly string[], options?: Parameters<typeof runFile>[2]]
): Promise<void> {
	await ensureQueuePrograms();
	await ensureBuilt();
	await ensureN8n();
	await runFile(join(queueFolder, file), ...more);
}
