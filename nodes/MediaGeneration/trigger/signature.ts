/**
 * Signs callback URLs, because the service signs nothing itself. Only URLs of triggers of this n8n are signed (`receiveUrl.ts`), so that
 * nobody who may use the credential gets a signature sent to a URL of their own. Each is good for one trigger and one task (`once.ts`).
 */
import { createHmac, randomBytes, timingSafeEqual } from 'crypto';
import { isObject, type JsonObject } from '../base/json';
import { urlOf } from '../base/url';
import { MAX_REFERENCE } from '../base/bounds';
import { CallRefusal } from '../n8n/webhookCall';

/** Query parameters that are signed. `expires` is in epoch seconds. */
const SIGNED = ['expires', 'nonce', 'reference'] as const;

/** A trigger's own part of a path. A proxy can remove or add a prefix. */
const TRIGGER_PATH = /\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\/callback)\/*$/;

const triggerPath = ({ pathname }: URL): string | undefined => TRIGGER_PATH.exec(pathname)?.[1];

/**
 * Whether a URL is that of a trigger of this n8n: `<base>/webhook/<UUID>/callback`, and nothing else. Whoever has another webhook of this
 * n8n must not get a signature that ends like another's.
 * @param here the address at which this n8n says that it is called
 */
export function isTriggerUrl({ origin, pathname }: URL, here: string | undefined): boolean {
	if (here === undefined || !(origin + pathname).startsWith(`${here}/`)) return false;
	const path = (origin + pathname).slice(here.length);
	return /^\/webhook(-test)?\/[^/]+\/[^/]+$/.test(path) && TRIGGER_PATH.test(path);
}

function signatureFor(secret: string, url: URL): string {
	const values = SIGNED.map((name) => url.searchParams.get(name) ?? '');
	const signed = JSON.stringify([triggerPath(url) ?? '', ...values]);
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

/**
 * Whether the task's own receive URL, as the service shows it, has the reference of the called one; undefined if the service shows none of a
 * trigger. Throws a CallRefusal for that of another trigger.
 */
export function referenceVerified(called: URL, task: JsonObject): boolean | undefined {
	const shown = [task, task.metadata, task.input]
		.map((place) => (isObject(place) ? urlOf(place.receive_url) : undefined))
		.find((url) => url !== undefined && triggerPath(url) !== undefined);
	if (shown === undefined) return undefined;
	if (triggerPath(shown) !== triggerPath(called))
		throw new CallRefusal(403, 'the task has the Callback URL of another trigger');
	return referenceIn(shown) === referenceIn(called);
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
