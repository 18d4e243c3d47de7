import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { lock } from 'proper-lockfile';
import { Halt } from './halt';

/** The lock of a process that is gone is free after 15 s. One that was taken over meanwhile, as from a machine that slept, is left to its holder. */
const options = { realpath: false, stale: 15_000, update: 3000, onCompromised: () => undefined };
const untilFree = { retries: 1, forever: true, minTimeout: 500, maxTimeout: 500 };

/**
 * Runs `work` while this process alone holds `PATH.lock`.
 * @param whenHeld what to print before waiting for another process, or a {@link Halt} instead of waiting
 */
export async function withLock<T>(
	path: string,
	work: () => Promise<T>,
	whenHeld: string | Halt,
): Promise<T> {
	mkdirSync(dirname(path), { recursive: true });
	const release = await lock(path, options).catch(async (error: NodeJS.ErrnoException) => {
		if (error.code !== 'ELOCKED') throw error;
		if (whenHeld instanceof Halt) throw whenHeld;
		console.log(whenHeld);
		return await lock(path, { ...options, retries: untilFree });
	});
	try {
		return await work();
	} finally {
		await release().catch(() => undefined);
	}
}
