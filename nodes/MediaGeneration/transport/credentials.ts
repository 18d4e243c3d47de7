/** Reads the credential, and gives n8n what it signs requests with. A key is never sent to any address but its own. */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { credentialProblem, normalizeBaseUrl } from './baseUrl';
import { BoundedMap } from '../base/boundedMap';
import { cleanerOf } from '../n8n/clean';
import { now } from '../base/clock';
import { attemptAsync, invalid, type Failure } from '../base/outcomes';
import { evaluating, storedCredential } from '../n8n/execution';

export const CREDENTIAL = 'mediaGenerationApi';

export type N8nContext = IExecuteFunctions | IWebhookFunctions;
/** Includes the editor's requests for lists. */
export type RequestContext = N8nContext | ILoadOptionsFunctions;

export interface Credentials {
	baseUrl: string;
	apiKey: string;
	callbackSecret: string;
}

export interface CredentialRead {
	credentials: Credentials;
	data: ICredentialDataDecryptedObject;
	/** Epoch ms. */
	readAt: number;
}

/** Requests are signed with a credential read this recently: n8n takes longer to read it than for the rest of a request. */
const RECENT_MS = 5_000;

/** Throws an `invalid` failure before anything is sent. @param item whose values n8n puts into the credential's expressions */
export async function readCredentials(
	context: RequestContext,
	item?: number,
): Promise<CredentialRead> {
	const data = await context.getCredentials(CREDENTIAL, item);
	const problem = credentialProblem(data);
	if (problem !== undefined)
		throw invalid(
			problem,
			'Open the Media Generation API credential of this node and correct it. Nothing was sent.',
		);
	const credentials = {
		baseUrl: normalizeBaseUrl(data.baseUrl as string),
		apiKey: (data.apiKey as string).trim(),
		callbackSecret: (data.callbackSecret ?? '') as string,
	};
	return { credentials, data, readAt: now() };
}

/** Tells whether any field of the credential may differ by item. */
export async function dependsOnItems(context: IExecuteFunctions): Promise<boolean> {
	const stored = await storedCredential(context, CREDENTIAL);
	const fields = Object.values(stored ?? {});
	// n8n resolves such an expression for each item, and can't resolve it in a webhook.
	const ofItem = /^=.*\$(?!secrets\b|vars\b|env\b)/s;
	return fields.some((value) => typeof value === 'string' && ofItem.test(value));
}

/** Returns a failure for each item whose credential is for another account than the first item's, which the run uses. */
export async function otherAccounts(
	context: IExecuteFunctions,
	{ baseUrl, apiKey }: Credentials,
): Promise<ReadonlyMap<number, Failure>> {
	const others = new Map<number, Failure>();
	const items = context.getInputData();
	if (items.length < 2 || !(await dependsOnItems(context))) return others;
	for (const item of items.keys()) {
		const read = await attemptAsync(async () => {
			const { credentials } = await readCredentials(context, item);
			if (credentials.baseUrl === baseUrl && credentials.apiKey === apiKey) return;
			throw invalid(
				'The credential of this item is for another account than that of the first item',
				'Its fields are expressions, and one run of this node uses one account. Put the items of each account into a run of its own, e.g. with Loop Over Items. Nothing was sent for this item.',
			);
		});
		if (!read.ok) others.set(item, read.failure);
	}
	return others;
}

interface RecentRead {
	read: Promise<CredentialRead>;
	/** Epoch ms. */
	since: number;
}

const isRecent = ({ since }: RecentRead) => now() - since < RECENT_MS;

/** By workflow, node and credential. */
const readings = new BoundedMap<string, RecentRead>();

/** Returns the credential as it was read a moment ago, or reads it. Nothing is kept while the editor listens. */
export async function recentCredentials(context: N8nContext): Promise<CredentialRead> {
	if (context.getMode() === 'manual') return await readCredentials(context);
	const { id: nodeId, credentials: used } = context.getNode();
	const key = JSON.stringify([context.getWorkflow().id, nodeId, used?.[CREDENTIAL]?.id]);
	let reading = readings.get(key);
	if (reading === undefined || !isRecent(reading)) {
		reading = { read: readCredentials(context), since: now() };
		readings.set(key, reading);
		// The next call tries again.
		reading.read.catch(() => readings.delete(key));
	}
	return await reading.read;
}

/** Gives n8n what it signs requests with, read again if it is not recent. If that fails, n8n itself reads it, and says why. */
export function credentialForRequest(
	context: RequestContext,
	first: CredentialRead,
): () => Promise<ICredentialsDecrypted | undefined> {
	const readAgain = async () => {
		const reading = async () => await readCredentials(context);
		const read = await evaluating(context, reading);
		cleanerOf(context).knows(read.credentials);
		// A key that came with another address is never sent to the first one.
		return read.credentials.baseUrl === first.credentials.baseUrl ? read : first;
	};
	let latest: RecentRead = { read: Promise.resolve(first), since: first.readAt };
	return async () => {
		if (!isRecent(latest)) latest = { read: readAgain(), since: now() };
		const read = await latest.read.catch(() => undefined);
		return read && { id: '', name: '', type: CREDENTIAL, data: { ...read.data } };
	};
}
