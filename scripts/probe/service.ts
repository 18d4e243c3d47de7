import type { IDataObject } from 'n8n-workflow';
import { isObject, parseJson } from '../../nodes/MediaGeneration/base/json';
import { sendByRoute } from '../../nodes/MediaGeneration/task/speechRoute';
import type { CreationRequest } from '../../nodes/MediaGeneration/actions/operation';
import { Account } from '../../nodes/MediaGeneration/transport/account';

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

function formOf(body: IDataObject): FormData {
	const form = new FormData();
	for (const [name, value] of Object.entries(body))
		form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
	return form;
}

/** Asks the service, and keeps the names of headers about limits and the status of every answer. */
export function serviceAt(baseUrl: string, apiKey: string) {
	const statuses: number[] = [];
	const limitHeaders = new Set<string>();
	const account = new Account();
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
	const post = async (path: string, body: IDataObject, form = false) => {
		const json = { 'content-type': 'application/json' };
		const sent = form ? formOf(body) : JSON.stringify(body);
		const headers = form ? bearer : { ...bearer, ...json };
		return await ask(path, { method: 'POST', headers, body: sent });
	};
	/** As the nodes do it: speech by the route that the service asks for. */
	const create = async (request: CreationRequest) => {
		const reply = await sendByRoute(request, {
			account,
			isOver: () => false,
			async send({ path, qs = {}, body = {}, form }) {
				const query = new URLSearchParams(qs as Record<string, string>).toString();
				const answer = await post(query === '' ? path : `${path}?${query}`, body, form);
				return { ...answer, answered: true, headers: {} };
			},
		});
		return reply as unknown as Answer;
	};
	return { baseUrl, apiKey, account, statuses, limitHeaders, ask, get, look, post, create };
}
export type ProbedService = ReturnType<typeof serviceAt>;
/** What came back. Without an answer `status` is 0 and `text` says why; `body` is the JSON where that is an object. */
export interface Answer {
	status: number;
	type: string;
	text: string;
	json: unknown;
	body: Record<string, unknown>;
}
