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

/** Control characters, and escapes of what separates or leads elsewhere once a server decodes them, or that UTF-8 lacks. No ID has them. */
const UNSAFE = /[\0-\x1f\x7f]|%(?![\da-f]{2})|%([01].|c[01]|e0%[89]|f0%8|2[35ef]|3f|5c|7f)/i;

/** Servers drop spaces around it, or cut it off at a semicolon. */
const STEP = /(?:^|\/)(?: |%20)*(\.\.?)(?: |%20)*(?:;|%3b|\/|$)/i;

/** Says what is wrong with a path: what a server makes of it must not lie elsewhere (RFC 3986, 5.2.4). Continues a sentence after "it". */
export function pathProblem(path: string): string | undefined {
	const unsafe = UNSAFE.exec(path)?.[0];
	if (unsafe !== undefined)
		return unsafe.startsWith('%') ? `has the escape "${unsafe}"` : 'has a control character';
	const step = STEP.exec(path)?.[1];
	return step && `has the part "${step}"`;
}
