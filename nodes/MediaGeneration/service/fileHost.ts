/**
 * Opening a file of a task. The other half of the door to the network: plain requests, never a credential.
 * Redirects are followed here, one by one, so that https never becomes http and every hop passes n8n's own protection
 * against server-side request forgery. Source: service-facts "Time and size" (output files lie on another host).
 */
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import type { N8nContext } from './client';
import { neverConnected, reasonOf } from './networkError';

/** What n8n's binary helper takes as a stream. */
export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

export interface OpenFile {
	ok: true;
	status: number;
	headers: Record<string, unknown>;
	body: ByteStream;
	/** The address after redirects. */
	url: string;
}

export interface NotOpened {
	ok: false;
	reason: string;
	/** Whether another try may help. */
	transient: boolean;
}

export type OpenFileFn = (
	url: string,
	headers: Record<string, string>,
	signal: AbortSignal | undefined,
) => Promise<OpenFile | NotOpened>;

const MAX_REDIRECTS = 5;
const OPEN_TIMEOUT_MS = 60_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function headerOf(headers: Record<string, unknown>, name: string): string | undefined {
	const value: unknown = headers[name];
	const first: unknown = Array.isArray(value) ? value[0] : value;
	return typeof first === 'string' ? first : typeof first === 'number' ? String(first) : undefined;
}

/** Where a redirect leads, or why it is not followed. Pure. */
export function redirectTarget(location: string | undefined, from: string): URL | string {
	if (location === undefined || !URL.canParse(location, from))
		return 'it redirects without a usable address';
	const target = new URL(location, from);
	if (target.protocol !== 'https:' && target.protocol !== 'http:') {
		return `it redirects to ${target.protocol} which is not followed`;
	}
	if (new URL(from).protocol === 'https:' && target.protocol === 'http:') {
		return 'it redirects from https to http, which is not followed';
	}
	return target;
}

export function fileOpener(context: N8nContext): OpenFileFn {
	return async (address, headers, signal) => {
		let url = address;
		for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
			const options: IHttpRequestOptions = {
				method: 'GET',
				url,
				headers: { Accept: '*/*', 'Accept-Encoding': 'identity', ...headers },
				encoding: 'stream',
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
				timeout: OPEN_TIMEOUT_MS,
				...(signal === undefined ? {} : { abortSignal: signal }),
			};
			let response: { statusCode: number; headers: Record<string, unknown>; body: ByteStream };
			try {
				response = (await context.helpers.httpRequest(options)) as typeof response;
			} catch (error) {
				return { ok: false, reason: reasonOf(error), transient: !neverConnected(error).permanent };
			}
			if (!REDIRECTS.has(response.statusCode)) {
				return {
					ok: true,
					status: response.statusCode,
					headers: response.headers,
					body: response.body,
					url,
				};
			}
			discard(response.body);
			const target = redirectTarget(headerOf(response.headers, 'location'), url);
			if (typeof target === 'string') return { ok: false, reason: target, transient: false };
			url = target.href;
		}
		return { ok: false, reason: `it redirects more than ${MAX_REDIRECTS} times`, transient: false };
	};
}

/** Ends a response that is not wanted any more, so that its connection is freed. */
export function discard(body: ByteStream): void {
	body.on('error', () => undefined);
	body.destroy();
}

/**
 * A stream of what a generator yields. Community nodes may not import Node's stream module, but every response body
 * is one of its classes, and these share the static `from`.
 */
export function streamFrom(chunks: AsyncGenerator<Buffer>, sample: ByteStream): ByteStream {
	const factory = sample.constructor as unknown as {
		from(iterable: AsyncIterable<Buffer>, options: { objectMode: boolean }): ByteStream;
	};
	return factory.from(chunks, { objectMode: false });
}
