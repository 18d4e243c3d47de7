import { parseJson } from '../../nodes/MediaGeneration/service/json';

/** How long one request may take, ms. */
const TIMEOUT_MS = 60_000;

/** What came back, or why nothing did: then `status` is 0. `json` is undefined where the body is none. */
export interface Answer {
	status: number;
	headers: Headers;
	text: string;
	json: unknown;
	problem?: string;
}

/** Asks the service, and keeps the names of headers about limits, and how many answers had each status. */
export class ProbedService {
	readonly limitHeaders = new Set<string>();
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
