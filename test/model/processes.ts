/**
 * Processes of n8n, as far as the nodes keep anything in memory: each has the modules of its own. They are loaded once and used by
 * many histories; every history has an account, executions and a workflow of its own, so none finds anything of another.
 */
import type * as receive from '../../nodes/MediaGeneration/callback/receive';
import type * as run from '../../nodes/MediaGeneration/run';
import type * as wake from '../../nodes/MediaGeneration/sleep/wake';

export interface Process {
	runOperation: typeof run.runOperation;
	wake: typeof wake.wake;
	receive: typeof receive.receive;
}

/** A history has no more processes than that, so one more death than this is none. */
const PROCESSES = 4;

async function load(): Promise<Process> {
	vi.resetModules();
	const { runOperation } = await import('../../nodes/MediaGeneration/run');
	const { wake } = await import('../../nodes/MediaGeneration/sleep/wake');
	const { receive } = await import('../../nodes/MediaGeneration/callback/receive');
	return { runOperation, wake, receive };
}

export async function loadProcesses(): Promise<Process[]> {
	const processes: Process[] = [];
	while (processes.length < PROCESSES) processes.push(await load());
	return processes;
}
