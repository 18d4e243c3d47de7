/** Checks the credential's fields, and the paths that the key goes along with. */
import { urlOf } from '../base/json';

/** These addresses mean this machine, a private or shared network, many receivers, or nothing at all on the public internet (RFC 6890). */
const PRIVATE_IPV4 = [
	/^(0|10|127|22[4-9]|2[34]\d|25[0-5])\./,
	/^(169\.254|192\.168|192\.0\.0|198\.1[89])\./,
	/^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
	/^172\.(1[6-9]|2\d|3[01])\./,
];

/** Matches an IPv6 address that holds one of IPv4: mapped (`::ffff:a.b.c.d`), compatible (`::a.b.c.d`), by NAT64 (`64:ff9b::`) or by 6to4 (`2002:`). */
const HOLDS_IPV4 =
	/^(?:(?:::ffff:|::ffff:0:|::|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$|2002:([\da-f]{1,4}):([\da-f]{0,4}):)/;
/** Matches global unicast, except Teredo, whose IPv4 address is hidden. Any other range is a network's own, for many receivers, or reserved. */
const PUBLIC_IPV6 = /^(?!2001:0?:|2002:)[23][\da-f]{3}:/;

/**
 * Tells whether a host name means this machine or a private network. Names of a single label are those of containers.
 * @param hostname as `URL` gives it, so that an address has its usual spelling already
 */
export function isPrivateHost(hostname: string): boolean {
	const host = hostname.toLowerCase().replace(/^\[|\]$|\.+$/g, '');
	if (host.includes(':')) {
		const address = urlOf(`http://[${host}]`)?.hostname.slice(1, -1) ?? host;
		const [, ...held] = HOLDS_IPV4.exec(address) ?? [];
		const [high, low = ''] = held.filter((part) => part !== undefined);
		if (high === undefined) return !PUBLIC_IPV6.test(address);
		return isPrivateHost(new URL(`http://0x${high}${low.padStart(4, '0')}`).hostname);
	}
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

/** Source: docs/service.md, "Authentication". */
export function apiKeyProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.trim() === '')
		return 'The credential has no API key. Create a key on the API Keys page of the service and enter it';
	if (!value.startsWith('sk_'))
		return 'The API key of the credential does not start with "sk_". Copy the whole key from the API Keys page of the service';
	if (!/^[\x21-\x7e]+$/.test(value))
		return 'The API key of the credential contains spaces or other characters that no key has. Copy it again without them';
	if (value === 'sk_')
		return 'The API key of the credential has only the prefix "sk_". Copy the whole key from the API Keys page of the service';
	return undefined;
}

/** A shorter one could be guessed, and could stand in ordinary texts by accident. */
const MIN_SECRET = 16;

export function callbackSecretProblem(value: unknown): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	if (typeof value !== 'string')
		return 'The Callback Secret of the credential is not a text. Enter a long random text, or leave it empty';
	if (value.trim().length < MIN_SECRET)
		return `The Callback Secret of the credential is shorter than ${MIN_SECRET} characters. Enter a long random text, or leave it empty`;
	return undefined;
}

/** Says what is wrong with a credential and what to do about it, in words that repeat neither key nor secret. */
export function credentialProblem(fields: Record<string, unknown>): string | undefined {
	const { baseUrl, apiKey, callbackSecret } = fields;
	return baseUrlProblem(baseUrl) ?? apiKeyProblem(apiKey) ?? callbackSecretProblem(callbackSecret);
}

/** Drops trailing slashes, so that a path can be appended. */
export function normalizeBaseUrl(value: string): string {
	return value.trim().replace(/\/+$/, '');
}

/** Servers decode a path once, and some of those behind them once more. */
const MOST_DECODINGS = 5;
const ENCODED = /%(?:25)*([\da-f]{2})/gi;
const byteOf = (_: string, hex: string) => String.fromCharCode(parseInt(hex, 16));

/**
 * Says what is wrong with a path, or with an ID that becomes a part of one: neither it nor what a server in between makes of it may climb
 * out of where it begins (RFC 3986, 5.2.4 and 6.2.2). Reads on from "it"; undefined for one that is fine.
 */
export function pathProblem(path: string): string | undefined {
	if (/\p{Cs}/u.test(path)) return 'contains an unpaired surrogate';
	// From here on, the path is written as bytes.
	let decoded = path.replace(/[^\0-\x7f]+/gu, encodeURIComponent);
	for (let round = 1; decoded !== decoded.replace(ENCODED, byteOf); round += 1) {
		if (round >= MOST_DECODINGS) return 'is encoded too many times';
		decoded = decoded.replace(ENCODED, byteOf);
	}
	// Such bytes encode a "." or "/" in more bytes than it needs, which some servers read all the same.
	if (/[\xc0\xc1]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]/.test(decoded)) return 'contains invalid UTF-8';
	// IIS reads this form, which no standard has.
	if (/%u[\da-f]{4}/i.test(decoded)) return 'contains an escape that begins with "%u"';
	// Codes above 7F are bytes of longer characters here.
	if (/[\0-\x1f\x7f]/.test(decoded)) return 'has a control character';
	// Some servers take wide characters for plain ones and backslashes for slashes, drop what nobody sees, or cut a part off at one of `;?#`.
	const plain = Buffer.from(decoded, 'latin1').toString().normalize('NFKC');
	const parts = plain.replace(/[\s\p{Cf}]/gu, '').split(/[/\\;?#\u2044\u2215\u2216]/);
	const step = parts.find((part) => part === '.' || part === '..');
	return step === undefined ? undefined : `has the part "${step}"`;
}
