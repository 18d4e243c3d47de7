/** Reads addresses from outside, and makes parts of them. */
import { MAX_TASK_ID } from './bounds';

/** Encodes a text from outside for a URL: half a surrogate pair, which can't be encoded, becomes U+FFFD. */
export function uriEncoded(text: string): string {
	return encodeURIComponent(Buffer.from(text).toString());
}

/** Parses a URL, which may be relative to another one. */
export function urlOf(value: unknown, base?: string): URL | undefined {
	return typeof value === 'string' && URL.canParse(value, base) ? new URL(value, base) : undefined;
}

/** Returns an address without its query: what is left of a receive URL identifies it, and has no token. */
export function endpointOf(url: string): string {
	const parsed = urlOf(url);
	return parsed === undefined ? url : parsed.origin + parsed.pathname;
}

/**
 * Says why an ID can't be one part of a path; continues a sentence after "it". Its characters are not judged decoded: some servers decode a
 * part before they look for its route, some cut it off at one of `;?#`.
 */
export function idProblem(id: string): string | undefined {
	if (id.length > MAX_TASK_ID) return `is longer than ${MAX_TASK_ID} characters`;
	if (/\p{Cs}/u.test(id)) return 'contains an unpaired surrogate';
	if (/\p{Cc}/u.test(id)) return 'contains a control character';
	const sign = /[/\\?#%]/.exec(id)?.[0];
	if (sign !== undefined) return `contains the character ${sign}`;
	return /^\s*\.{1,2}\s*(;|$)/.test(id) ? 'means another place in the path' : undefined;
}
