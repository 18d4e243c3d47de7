/** Checks the credential's fields, and the paths that the key goes along with. */
import { urlOf } from '../base/json';

/** These addresses mean this machine, a private or shared network, many receivers, or nothing at all on the public internet (RFC 6890). */
const PRIVATE_IPV4 = [
	/^(0|10|127|22[4-9]|2[34]\d|25[0-5])\./,
	/^(169\.254|192\.168|192\.0\.0|198\.1[89])\./,
	/^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
	/^172\.(1[6-9]|2\d|3[01])\./,
];

/** Global unicast, except Teredo and 6to4, which hold an address of IPv4. Any other range is a network's own, for many receivers, or reserved. */
const PUBLIC_IPV6 = /^(?!2001:0?:|2002:)[23][\da-f]{3}:/;

/**
 * Tells whether a host name means this machine or a private network. Names of a single label are those of containers.
 * @param hostname as `URL` gives it, so that an address has its usual spelling already
 */
export function isPrivateHost(hostname: string): boolean {
	const host = hostname.toLowerCase().replace(/^\[|\]$|\.+$/g, '');
	if (host.includes(':')) return !PUBLIC_IPV6.test(host);
	if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return PRIVATE_IPV4.some((range) => range.test(host));
	return !host.includes('.') || /\.(local(host|domain)?|internal|lan|home\.arpa)$/.test(host);
}

export function baseUrlProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.trim() === '')
		return 'The credential has no Base URL. Enter the address of the service, e.g. https://api.example.com';
	const url = urlOf(value.trim());
	if (url === undefined)
		return 'The Base URL of the credential is not a URL. Enter an address such as https://api.example.com';
	if (url.protocol !== 'https:' && url.protocol !== 'http:')
		return `The Base URL of the credential starts with "${url.protocol}". Use an address that starts with https://`;
	if (url.username !== '' || url.password !== '')
		return 'The Base URL of the credential contains a user name or password. Remove it: the API key is all that the service needs';
	if (/[?#]/.test(value))
		return 'The Base URL of the credential contains a query or a fragment. Remove everything from "?" or "#" on';
	if (url.protocol === 'http:' && !isPrivateHost(url.hostname))
		return 'The Base URL of the credential uses http for a public host, which would send the API key unencrypted. Use https://';
	return undefined;
}

/** A space around the key is taken off. Source: docs/service.md, "Authentication". */
export function apiKeyProblem(value: unknown): string | undefined {
	const key = typeof value === 'string' ? value.trim() : '';
	if (key === '')
		return 'The credential has no API key. Create a key on the API Keys page of the service and enter it';
	if (!key.startsWith('sk_'))
		return 'The API key of the credential does not start with "sk_". Copy the whole key from the API Keys page of the service';
	// A shorter one could stand in an ID by accident: "task_1" holds "sk_1".
	if (key.length < 8)
		return 'The API key of the credential is too short. Copy the whole key from the API Keys page of the service';
	// No text has to be read in two ways to find a key in it, be it part of an address, of HTML or of JSON.
	if (!/^[\w-]+$/.test(key))
		return 'The API key of the credential contains spaces or other characters that no key has. Copy it again without them';
	return undefined;
}

export function callbackSecretProblem(value: unknown): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	if (typeof value !== 'string')
		return 'The Callback Secret of the credential is not a text. Enter a long random text, or leave it empty';
	// A shorter one could be guessed, and could stand in ordinary texts by accident.
	if (value.trim().length < 16)
		return 'The Callback Secret of the credential is shorter than 16 characters. Enter a long random text, or leave it empty';
	return undefined;
}

/** Words for what is wrong with a credential and what to do about it, in words that repeat neither key nor secret. */
export function credentialProblem(fields: Record<string, unknown>): string | undefined {
	const { baseUrl, apiKey, callbackSecret } = fields;
	return baseUrlProblem(baseUrl) ?? apiKeyProblem(apiKey) ?? callbackSecretProblem(callbackSecret);
}

/** Drops trailing slashes, so that a path can be appended. */
export function normalizeBaseUrl(value: string): string {
	return value.trim().replace(/\/+$/, '');
}

/** Matches an escape, also of an escape. */
const ENCODED = /%(?:25)*([\da-f]{2})/gi;

/**
 * Says what is wrong with a path, or with an ID that becomes a part of one: neither it nor what a server makes of it may climb out of where
 * it begins (RFC 3986, 5.2.4). Reads on from "it"; undefined for one that is fine.
 */
export function pathProblem(path: string): string | undefined {
	if (/\p{Cs}/u.test(path)) return 'contains an unpaired surrogate';
	const plain = path.replace(ENCODED, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
	if (/[\0-\x1f\x7f]/.test(plain)) return 'has a control character';
	// Some servers take backslashes for slashes, or cut a part off at one of `;?#`.
	const step = plain.split(/[/\\;?#]/).find((part) => /^\.\.?$/.test(part.trim()));
	return step === undefined ? undefined : `has the part "${step}"`;
}
