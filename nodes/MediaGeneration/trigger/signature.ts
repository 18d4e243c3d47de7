/**
 * Signs callback URLs, because the service signs nothing itself. Only URLs of this n8n are signed (`receiveUrl.ts`), each for one trigger,
 * so that nobody who may use the credential gets a signature sent to a host of their own.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'crypto';
import { isObject, urlOf, type JsonObject } from '../base/json';
import { MAX_REFERENCE } from '../base/bounds';

/** Query parameters that are signed. `expires` is in epoch seconds. */
const SIGNED = ['expires', 'nonce', 'reference'] as const;

/** Returns a trigger's own part of a path, `<webhook ID>/callback`. A proxy can remove or add a prefix. */
function triggerPath({ pathname }: URL): string {
	return pathname.split('/').filter(Boolean).slice(-2).join('/');
}

function signatureFor(secret: string, url: URL): string {
	const values = SIGNED.map((name) => url.searchParams.get(name) ?? '');
	const signed = JSON.stringify([triggerPath(url), ...values]);
	return createHmac('sha256', secret).update(signed).digest('hex');
}

/** @param now epoch ms */
export function sign(url: URL, secret: string, now: number): void {
	const { searchParams } = url;
	const week = 7 * 24 * 3_600;
	searchParams.set('expires', String(Math.floor(now / 1000) + week));
	searchParams.set('nonce', randomBytes(12).toString('hex'));
	searchParams.set('signature', signatureFor(secret, url));
}

export function referenceIn({ searchParams }: URL): string | undefined {
	return searchParams.get('reference')?.slice(0, MAX_REFERENCE) || undefined;
}

/** Tells whether the task's own receive URL, as the service shows it, is that of this call's trigger and has its reference. */
export function isShown(called: URL, task: JsonObject): boolean {
	return [task, task.metadata, task.input].some((place) => {
		const shown = isObject(place) ? urlOf(place.receive_url) : undefined;
		if (shown === undefined) return false;
		return triggerPath(shown) === triggerPath(called) && referenceIn(shown) === referenceIn(called);
	});
}

/** Explains why a call's URL can't be trusted. @param now epoch ms */
export function signatureProblem(url: URL, secret: string, now: number): string | undefined {
	const signature = url.searchParams.get('signature');
	if (signature === null) return 'the callback URL is not signed';
	const expected = Buffer.from(signatureFor(secret, url));
	const actual = Buffer.from(signature);
	if (expected.length !== actual.length || !timingSafeEqual(expected, actual))
		return 'the signature of the callback URL is wrong';
	return Number(url.searchParams.get('expires')) * 1000 < now
		? 'the callback URL has expired'
		: undefined;
}
