/** Checks the credential's fields, and the paths to which the key is sent. */
import { urlOf } from '../base/json';

/** Addresses of this machine, of private or shared networks, for multicast, or without use on the public internet (RFC 6890). */
const PRIVATE_IPV4 = [
	/^(0|10|127|22[4-9]|2[34]\d|25[0-5])\./,
	/^(169\.254|168\.63\.129|192\.168|192\.0\.0|192\.88\.99|198\.1[89])\./,
	/^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
	/^172\.(1[6-9]|2\d|3[01])\./,
];

/** Contain an IPv4 address, public or private: mapped, NAT64, Teredo and 6to4. */
const IPV4_INSIDE = /^\[?(::ffff:|64:ff9b:|2001:0?:|2002:)/;
/** Global unicast. All other ranges are local, multicast or reserved. */
const PUBLIC_IPV6 = /^[23][\da-f]{3}:/;

/** Returns a host without the dot that may end it. Undefined if it is longer than a name can be (RFC 1035, 2.3.4), or ends with more dots. */
export function hostOf(hostname: string): string | undefined {
	const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
	return host === '' || host.length > 253 || host.endsWith('.') ? undefined : host;
}

/** Characters of a Base URL or a key. */
const MAX_LENGTH = 2_000;

/**
 * Returns whether a host name means this machine or a private network. Names with a single label are those of containers.
 * @param hostname as `URL` gives it, so that it is in lower case, and an address is normalized
 */
export function isPrivateHost(hostname: string): boolean {
	const host = hostOf(hostname)?.replace(/^\[|\]$/g, '');
	if (host === undefined) return true;
	if (host.includes(':')) return !PUBLIC_IPV6.test(host) || IPV4_INSIDE.test(host);
	if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return PRIVATE_IPV4.some((range) => range.test(host));
	return !host.includes('.') || /\.(local(host|domain)?|internal|lan|home\.arpa)$/.test(host);
}

export function baseUrlProblem(value: unknown, allowHttp: unknown = false): string | undefined {
	if (typeof value !== 'string' || value.trim() === '')
		return 'The credential has no Base URL. Enter the address of the service, e.g. https://api.example.com';
	if (value.length > MAX_LENGTH)
		return 'The Base URL of the credential is too long. Enter an address such as https://api.example.com';
	const url = urlOf(value.trim());
	if (url === undefined || hostOf(url.hostname) === undefined)
		return 'The Base URL of the credential is not a URL. Enter an address such as https://api.example.com';
	if (url.protocol !== 'https:' && url.protocol !== 'http:')
		return `The Base URL of the credential starts with "${url.protocol}". Use an address that starts with https://`;
	if (url.username !== '' || url.password !== '')
		return 'The Base URL of the credential contains a user name or password. Remove it: the API key is all that the service needs';
	if (/[?#]/.test(value))
		return 'The Base URL of the credential contains a query or a fragment. Remove everything from "?" or "#" on';
	const isPublic = !isPrivateHost(url.hostname) || IPV4_INSIDE.test(url.hostname);
	if (url.protocol === 'http:' && isPublic && allowHttp !== true)
		return "The Base URL of the credential uses http for a public host, which would send the API key unencrypted. Use https://. If this is a gateway in a network of your own, turn on 'Allow HTTP (Insecure)'";
	return undefined;
}

/** Takes off what was pasted around a key: `Bearer `, quotes, spaces, characters without a width. */
export function keyIn(value: unknown): string {
	const text =
		typeof value === 'string'
			? value.slice(0, MAX_LENGTH).replace(/[\u200b-\u200f\u2060\ufeff\u00ad]/g, '')
			: '';
	return text.replace(/^[\s"'`]*(bearer\s+)?[\s"'`]*|[\s"'`]+$/gi, '');
}

/** Source: docs/service.md, "Authentication". */
export function apiKeyProblem(value: unknown): string | undefined {
	if (typeof value === 'string' && value.length > MAX_LENGTH)
		return 'The API key of the credential is too long. Copy the key alone from the API Keys page of the service';
	const key = keyIn(value);
	if (key === '')
		return 'The credential has no API key. Create a key on the API Keys page of the service and enter it';
	if (!key.startsWith('sk_'))
		return 'The API key of the credential does not start with "sk_". Copy the whole key from the API Keys page of the service';
	// A shorter one could be in an ID by accident: "task_1" contains "sk_1".
	if (key.length < 8)
		return 'The API key of the credential is too short. Copy the whole key from the API Keys page of the service';
	// What a header can carry, but for characters that JSON and shells need.
	if (!/^[!#-&(-[\]-_a-~]+$/.test(key))
		return 'The API key of the credential contains a space, a quote or another character that no key has. Copy it again without it';
	return undefined;
}

export function callbackSecretProblem(value: unknown): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	if (typeof value !== 'string')
		return 'The Callback Secret of the credential is not a text. Enter a long random text, or leave it empty';
	// A shorter one could be guessed, and could be in ordinary texts by accident.
	if (value.trim().length < 16)
		return 'The Callback Secret of the credential is shorter than 16 characters. Enter a long random text, or leave it empty';
	return undefined;
}

/** Says what is wrong with a credential and what to do about it, without the key or the secret. */
export function credentialProblem(fields: Record<string, unknown>): string | undefined {
	const { baseUrl, allowHttp, apiKey, callbackSecret } = fields;
	const problem = baseUrlProblem(baseUrl, allowHttp) ?? apiKeyProblem(apiKey);
	return problem ?? callbackSecretProblem(callbackSecret);
}

/** Drops trailing slashes, so that a path can be appended. */
export function normalizeBaseUrl(value: string): string {
	const text = value.trim();
	let end = text.length;
	while (text.charAt(end - 1) === '/') end -= 1;
	return text.slice(0, end);
}

/** Control characters, and escapes of what separates or leads elsewhere once a server decodes them, or that are none. No ID has them. */
const UNSAFE = /[\0-\x1f\x7f]|%(?![\da-f]{2})|%([01].|2[35ef]|3f|5c|7f)/i;

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
