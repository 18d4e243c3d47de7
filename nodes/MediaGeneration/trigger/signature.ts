/** Signs callback URLs, as the service signs nothing itself. Host and path are signed too: each URL is of use for one trigger only. */
import { createHmac, randomBytes, timingSafeEqual } from 'crypto';
import { isObject, urlOf, type JsonObject } from '../base/json';
import { isPrivateHost } from '../transport/baseUrl';

export const SIGNED_FOR_MS = 7 * 24 * 3_600_000;
export const MAX_REFERENCE = 500;

/** These names stand in the URL. `expires` is in epoch seconds. */
const SIGNED = ['signed_for', 'expires', 'nonce', 'reference'] as const;

type SignedValues = Record<(typeof SIGNED)[number], string>;

function signatureFor(secret: string, values: SignedValues): string {
	const parts = SIGNED.map((name) => `${Buffer.byteLength(values[name])}:${values[name]}`);
	return createHmac('sha256', secret).update(parts.join('\n')).digest('hex');
}

/** Decodes a path and drops trailing slashes, so that both sides see the same. */
function plainPath(pathname: string): string {
	try {
		return decodeURIComponent(pathname).replace(/\/+$/, '');
	} catch {
		// A malformed escape is signed as it is.
		return pathname.replace(/\/+$/, '');
	}
}

/** Tells whether a plain path leads to the one that n8n was asked for. It can lack a prefix that a proxy has removed. */
function leadsTo(path: string, plain: string): boolean {
	const here = plainPath(path);
	return here !== '' && plain.endsWith(here);
}

/** Tells whether the task's own receive URL, as the service shows it, is that of this trigger and has this reference. */
export function isShown(reference: string, path: string, task: JsonObject): boolean {
	return [task, task.metadata, task.input].some((place) => {
		const shown = isObject(place) ? urlOf(place.receive_url) : undefined;
		if (shown === undefined) return false;
		const own = shown.searchParams.get('reference')?.slice(0, MAX_REFERENCE);
		return leadsTo(path, plainPath(shown.pathname)) && own === reference;
	});
}

/** @param now epoch ms */
export function sign(url: URL, secret: string, now: number): void {
	const values: SignedValues = {
		signed_for: url.host + plainPath(url.pathname),
		expires: String(Math.floor((now + SIGNED_FOR_MS) / 1000)),
		nonce: randomBytes(12).toString('hex'),
		reference: url.searchParams.get('reference') ?? '',
	};
	const signed = { ...values, signature: signatureFor(secret, values) };
	// One value each: a name that occurs twice would be read as a list.
	for (const [name, value] of Object.entries(signed))
		if (value !== '') url.searchParams.set(name, value);
}

export interface Arrival {
	/** The request asked n8n for this path, which begins with a slash. */
	path: string;
	/** The trigger's own URL, as n8n knows it; undefined if it has none. */
	ownUrl: string | undefined;
	/** The request names these hosts, and anybody can write a request. */
	claimedHosts: readonly string[];
	/** Epoch ms. */
	at: number;
}

function signedValues(query: Record<string, unknown>, reference: string) {
	const { signed_for, expires, nonce, signature } = query;
	const values = { signed_for, expires, nonce, reference, signature };
	const areTexts = Object.values(values).every((text) => typeof text === 'string');
	return areTexts ? (values as SignedValues & { signature: string }) : undefined;
}

const isPrivate = (host: string) =>
	URL.canParse(`http://${host}`) && isPrivateHost(new URL(`http://${host}`).hostname);

/**
 * Says why a URL was not made for this address. A host that only the request claims counts where n8n's own address is private and the
 * host is, too: a user of the credential can have a URL signed for a public host of his own.
 */
function misplaced(signedFor: string, { path, ownUrl, claimedHosts }: Arrival): string | undefined {
	const host = signedFor.slice(0, signedFor.indexOf('/'));
	if (!leadsTo(path, signedFor)) return 'the callback URL was signed for another trigger';
	const own = urlOf(ownUrl)?.host;
	const isClaimed =
		(own === undefined || isPrivate(own)) && isPrivate(host) && claimedHosts.includes(host);
	return host === own || isClaimed
		? undefined
		: 'the callback URL was signed for another host. If it is the address of this n8n, set N8N_WEBHOOK_URL to it';
}

type SignatureCheck =
	/** `signed` is true where there is a secret, so that the URL is known to come from here. */
	{ ok: true; signed: boolean; reference: string | undefined } | { ok: false; reason: string };

/** Checks nothing where there is no secret. */
export function checkSignature(
	secret: string,
	arrival: Arrival,
	query: Record<string, unknown>,
): SignatureCheck {
	const given = typeof query.reference === 'string' ? query.reference : '';
	const reference = given === '' ? undefined : given.slice(0, MAX_REFERENCE);
	if (secret === '') return { ok: true, signed: false, reference };
	const values = signedValues(query, given);
	if (values === undefined) return { ok: false, reason: 'the callback URL is not signed' };
	const expected = Buffer.from(signatureFor(secret, values));
	const actual = Buffer.from(values.signature);
	if (expected.length !== actual.length || !timingSafeEqual(expected, actual))
		return { ok: false, reason: 'the signature of the callback URL is wrong' };
	const elsewhere = misplaced(values.signed_for, arrival);
	if (elsewhere !== undefined) return { ok: false, reason: elsewhere };
	if (Number(values.expires) * 1000 < arrival.at)
		return { ok: false, reason: 'the callback URL has expired' };
	return { ok: true, signed: true, reference };
}
