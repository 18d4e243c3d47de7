import { Agent, fetch as fetchBy, type RequestInit } from 'undici';

/** One connection for each request: a server may close an idle one in the moment in which it is used again. */
const dispatcher = new Agent({ pipelining: 0 });

export async function fetch(url: string, init: RequestInit = {}) {
	return await fetchBy(url, { dispatcher, ...init });
}
