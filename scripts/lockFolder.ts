import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onCleanup } from './cleanup';

/** Does the process still live? One that belongs to somebody else counts. */
function lives(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}

function take(folder: string): boolean {
	try {
		mkdirSync(folder);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
		throw error;
	}
	writeFileSync(join(folder, 'pid'), String(process.pid));
	return true;
}

/** The holder's process id; undefined in the moment before it is written. */
function holder(folder: string): number | undefined {
	try {
		return Number(readFileSync(join(folder, 'pid'), 'utf8')) || undefined;
	} catch {
		return undefined;
	}
}

/**
 * Runs `work` while holding `folder` as a lock between processes (mkdir is atomic). The lock of a process that is gone is taken over.
 * `onWait` is called once if somebody else holds it; it may throw instead of waiting.
 */
export async function withLock<T>(
	folder: string,
	work: () => Promise<T>,
	onWait: (holder: number) => void,
): Promise<T> {
	let waits = 0;
	let nameless = 0;
	while (!take(folder)) {
		const pid = holder(folder);
		nameless = pid === undefined ? nameless + 1 : 0;
		if (nameless > 10 || (pid !== undefined && !lives(pid))) {
			rmSync(folder, { recursive: true, force: true });
			continue;
		}
		if (pid !== undefined && waits++ === 0) onWait(pid);
		await delay(500);
	}
	const release = () => rmSync(folder, { recursive: true, force: true });
	const forget = onCleanup(release);
	try {
		return await work();
	} finally {
		forget();
		release();
	}
}
