/**
 * Callback URLs: built and signed by the action node, checked by the trigger. Pure.
 * Signed are the path and `expires`, `nonce`, `reference` (contract, "Signed callback URLs"), so that a URL for one trigger
 * is no good for another, and a reference can't be changed. The service signs nothing itself (spec, Events: gaps).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'crypto';
import { isPrivateHost } from '../service/baseUrl';
import type { Credentials } from '../service/client';
import { invalid } from '../service/failures';

export const SIGNED_FOR_MS = 7 * 24 * 3_600_000;
const MAX_REFERENCE = 500;

export interface SignedValues {
	/** Epoch seconds, as text. */
	expires: string;
	nonce: string;
	reference: string;
}

/** HMAC-SHA256 over the path and the values, each on a line of its own with its length, in hexadecimal. */
export function signatureOf(
	secret: string,
	path: string,
	{ expires, nonce, reference }: SignedValues,
): string {
	const parts = [path, expires, nonce, reference].map(
		(part) => `${Buffer.byteLength(part)}:${part}`,
	);
	return createHmac('sha256', secret).update(parts.join('\n')).digest('hex');
}

/** The path as both sides see it: decoded, without a trailing slash or a prefix that a reverse proxy may strip. */
export function signedPath(pathname: string): string {
	let decoded = pathname;
	try {
		decoded = decodeURIComponent(pathname);
	} catch {
		// A malformed escape is signed as it stands.
	}
	const webhook = /\/webhook(?:-test|-waiting)?\/.*$/.exec(decoded);
	return (webhook?.[0] ?? decoded).replace(/\/+$/, '');
}

export interface ReceiveUrlOptions {
	reference: string | undefined;
	/** Whether to sign where the credential has a secret; resume URLs carry n8n's own token. */
	signed: boolean;
	/** Epoch ms. */
	now: number;
}

/** What is wrong with a callback URL, in words, or undefined. */
export function callbackUrlProblem(value: string, baseUrl: string): string | undefined {
	let url: URL;
	try {
		url = new URL(value);
	} catch {
		return 'it is not a URL. Copy the Production URL of a Media Generation Trigger, or of another webhook';
	}
	if (url.protocol !== 'https:' && url.protocol !== 'http:') {
		return `it starts with "${url.protocol}". The service can call http and https addresses only`;
	}
	if (url.username !== '' || url.password !== '') {
		return 'it contains a user name or password, which would be handed to the service. Remove them';
	}
	if (isPrivateHost(url.hostname) && !isPrivateHost(new URL(baseUrl).hostname)) {
		return `the service can't reach ${url.hostname}, which is this machine or a private network. Set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to a public address and copy the URL again`;
	}
	return undefined;
}

/** Whether a URL is n8n's test URL, which works once and only while the editor listens. */
export function isTestUrl(value: string): boolean {
	return URL.canParse(value) && /\/webhook-test\//.test(new URL(value).pathname);
}

/**
 * The `receive_url` of a request. Other query parameters of the URL survive.
 * Throws an `invalid` failure for a URL that can't work.
 */
export function prepareReceiveUrl(
	value: string,
	{ baseUrl, callbackSecret }: Credentials,
	options: ReceiveUrlOptions,
): string {
	const problem = callbackUrlProblem(value.trim(), baseUrl);
	if (problem !== undefined) {
		throw invalid(
			`The Callback URL can't be used: ${problem}.`,
			'Correct the field Callback URL. Nothing was created.',
		);
	}
	const { reference = '', signed, now } = options;
	if (reference.length > MAX_REFERENCE) {
		throw invalid(
			`The Callback Reference is longer than ${MAX_REFERENCE} characters`,
			'Use a short reference, such as an ID of your own.',
		);
	}
	const url = new URL(value.trim());
	if (reference !== '') url.searchParams.set('reference', reference);
	if (signed && callbackSecret !== '') {
		const values: SignedValues = {
			expires: String(Math.floor((now + SIGNED_FOR_MS) / 1000)),
			nonce: randomBytes(12).toString('hex'),
			reference: url.searchParams.get('reference') ?? '',
		};
		// One value each: a name that stands twice would be read as a list.
		if (values.reference !== '') url.searchParams.set('reference', values.reference);
		url.searchParams.set('expires', values.expires);
		url.searchParams.set('nonce', values.nonce);
		url.searchParams.set(
			'signature',
			signatureOf(callbackSecret, signedPath(url.pathname), values),
		);
	}
	return url.href;
}

export type SignatureCheck =
	{ ok: true; reference: string | undefined } | { ok: false; reason: string };

function single(value: unknown): string | undefined {
	return typeof value === 'string' ? value : undefined;
}

/**
 * Checks the query of a callback in constant time.
 *
 * @param secret empty: nothing is checked, the reference is taken as it is
 * @param now epoch ms
 */
export function checkSignature(
	secret: string,
	path: string,
	query: Record<string, unknown>,
	now: number,
): SignatureCheck {
	const reference = single(query.reference);
	const given =
		reference === undefined || reference === '' ? undefined : reference.slice(0, MAX_REFERENCE);
	if (secret === '') return { ok: true, reference: given };
	const expires = single(query.expires);
	const nonce = single(query.nonce);
	const signature = single(query.signature);
	if (expires === undefined || nonce === undefined || signature === undefined) {
		return { ok: false, reason: 'the callback URL is not signed' };
	}
	const expected = Buffer.from(
		signatureOf(secret, signedPath(path), { expires, nonce, reference: reference ?? '' }),
	);
	const actual = Buffer.from(signature);
	const equal = expected.length === actual.length && timingSafeEqual(expected, actual);
	if (!equal) return { ok: false, reason: 'the signature of the callback URL is wrong' };
	const seconds = Number(expires);
	if (!Number.isFinite(seconds) || seconds * 1000 < now)
		return { ok: false, reason: 'the callback URL has expired' };
	return { ok: true, reference: given };
}
