/**
 * Checks of the credential's fields (contract, "Credential fields"). Pure; used by the credential and by the client.
 */

const PRIVATE_IPV4 = [
	/^127\./,
	/^10\./,
	/^192\.168\./,
	/^169\.254\./,
	/^172\.(1[6-9]|2\d|3[01])\./,
];

/**
 * Whether a host name means this machine or a private network: loopback and private addresses,
 * `.local`, `.internal` and `.localhost` names, and single-label names (as containers have).
 */
export function isPrivateHost(hostname: string): boolean {
	const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
	if (host.includes(':')) {
		return host === '::1' || /^f[cd]/.test(host) || /^fe[89ab]/.test(host);
	}
	if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return PRIVATE_IPV4.some((range) => range.test(host));
	return !host.includes('.') || /\.(localhost|local|internal)$/.test(host);
}

/** What is wrong with a base URL, in words for the user, or undefined if it can be used. */
export function baseUrlProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.trim() === '') {
		return 'The credential has no Base URL. Enter the address of the service, e.g. https://api.example.com';
	}
	let url: URL;
	try {
		url = new URL(value.trim());
	} catch {
		return 'The Base URL of the credential is not a URL. Enter an address such as https://api.example.com';
	}
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		return `The Base URL of the credential starts with "${url.protocol}". Use an address that starts with https://`;
	}
	if (url.username !== '' || url.password !== '') {
		return 'The Base URL of the credential contains a user name or password. Remove it: the API key is all that the service needs';
	}
	if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
		return 'The Base URL of the credential contains a query or a fragment. Remove everything from "?" or "#" on';
	}
	if (url.protocol === 'http:' && !isPrivateHost(url.hostname)) {
		return 'The Base URL of the credential uses http for a public host, which would send the API key unencrypted. Use https://';
	}
	return undefined;
}

/** What is wrong with an API key, in words that do not repeat it, or undefined. Source: spec, Authentication 2. */
export function apiKeyProblem(value: unknown): string | undefined {
	if (typeof value !== 'string' || value.trim() === '') {
		return 'The credential has no API key. Create a key on the API Keys page of the service and enter it';
	}
	if (!value.startsWith('sk_')) {
		return 'The API key of the credential does not start with "sk_". Copy the whole key from the API Keys page of the service';
	}
	if (!/^[\x21-\x7e]+$/.test(value)) {
		return 'The API key of the credential contains spaces or other characters that no key has. Copy it again without them';
	}
	return undefined;
}

/** The base URL without trailing slashes, so that a path can be appended. Throws nothing: check it first. */
export function normalizeBaseUrl(value: string): string {
	return value.trim().replace(/\/+$/, '');
}
