/** What the fields of a credential hold, and what is wrong with them. */
import { urlOf } from '../base/url';
import { hostOf, staysPrivate } from './hosts';

export interface Credentials {
	/** Without a slash at its end, so that a path can be appended. */
	baseUrl: string;
	apiKey: string;
	/** Empty if there is none. */
	callbackSecret: string;
}

/** Characters of a Base URL or a key. */
const MAX_LENGTH = 2_000;

export function baseUrlProblem(value: unknown, allowHttp: unknown = false): string | undefined {
	if (typeof value !== 'string' || value.trim() === '')
		return 'The credential has no Base URL. Enter the address of the service, e.g. https://api.example.com';
	if (value.length > MAX_LENGTH)
		return 'The Base URL of the credential is too long. Enter an address such as https://api.example.com';
	const url = urlOf(value.trim());
	if (url === undefined || hostOf(url) === undefined)
		return 'The Base URL of the credential is not a URL. Enter an address such as https://api.example.com';
	if (url.protocol !== 'https:' && url.protocol !== 'http:')
		return `The Base URL of the credential starts with "${url.protocol}". Use an address that starts with https://`;
	if (url.username !== '' || url.password !== '')
		return 'The Base URL of the credential contains a user name or password. Remove it: the API key is all that the service needs';
	if (/[?#]/.test(value))
		return 'The Base URL of the credential contains a query or a fragment. Remove everything from "?" or "#" on';
	if (url.protocol === 'http:' && !staysPrivate(url) && allowHttp !== true)
		return "The Base URL of the credential uses http for a public host, which would send the API key unencrypted. Use https://. If this is a gateway in a network of your own, turn on 'Allow HTTP (Insecure)'";
	return undefined;
}

/** Takes off what was pasted around a key: `Bearer `, quotes, spaces, characters without a width. */
function keyIn(value: unknown): string {
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

/** @param fields without a problem */
export function credentialsIn(fields: Record<string, unknown>): Credentials {
	const { baseUrl, apiKey, callbackSecret } = fields;
	const address = String(baseUrl).trim();
	let end = address.length;
	while (address.charAt(end - 1) === '/') end -= 1;
	return {
		baseUrl: address.slice(0, end),
		apiKey: keyIn(apiKey),
		callbackSecret: typeof callbackSecret === 'string' ? callbackSecret : '',
	};
}
