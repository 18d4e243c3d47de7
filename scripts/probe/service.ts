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

export type KeyHeader = 'authorization' | 'xi-api-key' | 'none';

interface Asking {
	method?: 'GET' | 'POST';
	body?: unknown;
	/** Another key than the account's. */
	key?: string;
	header?: KeyHeader;
}

/** Asks the service, follows no redirect (a key must not travel along), and keeps the headers that speak of limits. */
export class ProbedService {
	/** Names of headers about rate limits that any answer carried. */
	readonly limitHeaders = new Set<string>();
	/** How many requests were answered with each status. */
	readonly statuses = new Map<number, number>();

	constructor(
		private readonly baseUrl: string,
		private readonly apiKey: string,
	) {}

	get host(): string {
		return new URL(this.baseUrl).host;
	}

	async ask(path: string, asking: Asking = {}): Promise<Answer> {
		const { method = 'GET', body, key = this.apiKey, header = 'authorization' } = asking;
		const answer = await request(this.baseUrl.replace(/\/+$/, '') + path, {
			method,
			headers: {
				...(header === 'authorization' ? { authorization: `Bearer ${key}` } : {}),
				...(header === 'xi-api-key' ? { 'xi-api-key': key } : {}),
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
		answer.headers.forEach((_, name) => {
			if (/rate-?limit|retry-after/.test(name)) this.limitHeaders.add(name);
		});
		return answer;
	}

	/** The text with this account's key, and whatever else looks like a key, taken out. */
	withoutKeys(text: string): string {
		return text.replaceAll(this.apiKey, '(key)').replace(/\bsk_[\w-]+/g, '(key)');
	}
}

/** One request without any key, unless the options carry one. @param read whether to read the body, or to leave it unread */
export async function request(
	url: string,
	options: RequestInit = {},
	read = true,
): Promise<Answer> {
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
