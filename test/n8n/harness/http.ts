import { setTimeout as delay } from 'node:timers/promises';
import { Agent, fetch as fetchBy, type RequestInit, type Response } from 'undici';
import { PATIENCE_MS } from './wait';

/** One connection for each request: a server may close an idle one in the moment in which it is used again. */
const dispatcher = new Agent({ pipelining: 0 });

/** Said before the request reaches any handler: by an n8n whose database is busy, and by the gate of test/queue. */
const NOT_YET = /Database is not ready!|no webhook processor is ready/;

async function isNotYet(response: Response): Promise<boolean> {
	return response.status === 503 && NOT_YET.test(await response.clone().text());
}

/** How the harness asks n8n: "not yet" is asked again, since a busy machine is no failure. */
export async function fetch(url: string, init: RequestInit = {}): Promise<Response> {
	const deadline = Date.now() + PATIENCE_MS;
	for (;;) {
		const response = await fetchBy(url, { dispatcher, ...init });
		if (!(await isNotYet(response)) || Date.now() > deadline) return response;
		await delay(250);
	}
}
