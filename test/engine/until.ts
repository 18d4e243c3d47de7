/** Waiting for what happens in the stand-in or in n8n, with a generous end. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { timeRunsAhead } from './hurry';

/** Resolves as soon as the condition holds; fails with its name where it never does. */
export async function until(name: string, condition: () => boolean, withinMs = 20_000) {
	const end = performance.now() + withinMs;
	while (!condition()) {
		if (performance.now() > end) throw new Error(`This never happened: ${name}`);
		await (timeRunsAhead() ? new Promise((done) => setImmediate(done)) : delay(10));
	}
}
