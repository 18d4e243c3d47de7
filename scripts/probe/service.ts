import { parseJson } from '../../nodes/MediaGeneration/service/json';

/** How long one request may take, ms. */
const TIMEOUT_MS = 60_000;

/** What came back, or why nothing did. */
export interface Answer {
	/** 0: no answer came. */
	status: number;
	headers: Headers;
	text: string;
	/** The parsed body; undefined where it is not JSON. */
	json: unknown;
	/** Why no answer came. */
	problem?: string;
}

/** Asks the service, and keeps what its answers say of limits. */
export class ProbedService {
	/** Names of headers about rate limits that any answer carried. */
	readonly limitHeaders = new Set<string>();
	/** How many requests were answered with each status. */
	readonly statuses = new Map<number, number>();
	private readonly bearer: Record<string, string>;

	constructor(
		readonly baseUrl: string,
		readonly apiKey: string,
	) {
		this.bearer = { authorization: `Bearer ${apiKey}` };
	}

	/** @param headers instead of the usual one with the key */
	async get(path: string, headers = this.bearer): Promise<Answer> {
		return await this.ask(path, { headers });
	}

	async post(path: string, body: unknown): Promise<Answer> {
		const headers = { ...this.bearer, 'content-type': 'application/json' };
		return await this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
	}

	/** The text with this account's key, and whatever else looks like a key, taken out. */
	withoutKeys(text: string): string {
		return text.replaceAll(this.apiKey, '(key)').replace(/\bsk_[\w-]+/g, '(key)');
	}

	private async ask(path: string, options: RequestInit): Promise<Answer> {
		const answer = await request(this.baseUrl.replace(/\/+$/, '') + path, options);
		this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
		answer.headers.forEach((_, name) => {
			if (/rate-?limit|retry-after/.test(name)) this.limitHeaders.add(name);
		});
		return answer;
	}
}

/** One request that follows no redirect: a key must not travel along. @param read whether to read the body */
export async function request(url: string, options: RequestInit, read = true): Promise<Answer> {
	try {
		const signal = AbortSignal.timeout(TIMEOUT_MS);
		const response = await fetch(url, { redirect: 'manual', signal, ...options });
		if (!read) await response.body?.cancel();
		const text = read ? await response.text() : '';
		return { status: response.status, headers: response.headers, text, json: parseJson(text) };
	} catch (error) {
		const { message, cause } = error as Error & { cause?: { code?: string } };
		const problem = cause?.code ?? message;
		return { status: 0, headers: new Headers(), text: '', json: undefined, problem };
	}
}
