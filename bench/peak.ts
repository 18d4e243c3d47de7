import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from '../test/n8n/harness/context';

/** The most that n8n's processes hold above what they held before, in bytes. */
export async function peakOver({ n8n }: TestContext, work: () => Promise<void>): Promise<number> {
	const idle = n8n.memory().rssBytes;
	let peak = idle;
	let over = false;
	const watching = (async () => {
		while (!over) {
			peak = Math.max(peak, n8n.memory().rssBytes);
			await delay(20);
		}
	})();
	await work().finally(() => {
		over = true;
	});
	await watching;
	return peak - idle;
}
