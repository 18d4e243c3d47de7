import { isObject, parseJson } from '../../nodes/MediaGeneration/base/json';

async function answerTo(url: string, options: RequestInit) {
	try {
		const signal = AbortSignal.timeout(60_000);
		// No redirect is followed: a key must not travel along.
		const response = await fetch(url, { redirect: 'manual', signal, ...options });
		const { status, headers } = response;
		return { status, headers, text: await response.text() };
	} catch (error) {
		const { message, cause } = error as Error & { cause?: { code?: string } };
		return { status: 0, headers: new Headers(), text: cause?.code ?? message };
	}
}

/** Asks the service, and keeps the names of headers about limits and the status of every answer. */
export function serviceAt(baseUrl: string, apiKey: string) {
	const statuses: number[] = [];
	const limitHeaders = new Set<string>();
	const bearer = { authorization: `Bearer ${apiKey}` };
	/** @param path or the whole address of a file */
	const ask = async (path: string, options: RequestInit) => {
		const address = path.startsWith('/') ? baseUrl.replace(/\/+$/, '') + path : path;
		const { status, headers, text } = await answerTo(address, options);
		statuses.push(status);
		headers.forEach((_, name) => /rate-?limit|retry-after/.test(name) && limitHeaders.add(name));
		const json = parseJson(text);
		const type = headers.get('content-type') ?? 'none';
		return { status, type, text, json, body: isObject(json) ? json : {} };
	};
	const get = async (path: string, headers: Record<string, string> = bearer) =>
		await ask(path, { headers });
	const look = async (route: 'v1' | 'v1e', taskId: string) =>
		await get(`/${route}/task/${encodeURIComponent(taskId)}`);
	const post = async (path: string, body: unknown) => {
		const headers = { ...bearer, 'content-type': 'application/json' };
		return await ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
	};
	return { baseUrl, apiKey, statuses, limitHeaders, ask, get, look, post };
}
export type ProbedService = ReturnType<typeof serviceAt>;
/** What came back. Without an answer `status` is 0 and `text` says why; `body` is the JSON where that is an object. */
export type Answer = Awaited<ReturnType<ProbedService['ask']>>;
