/** Reads the credential, and gives n8n what it signs requests with. A key is never sent to any address but its own. */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { credentialProblem, keyIn, normalizeBaseUrl } from './baseUrl';
import { BoundedMap } from '../base/boundedMap';
import { cleanerOf } from '../n8n/clean';
import { now } from '../base/clock';
import { invalid } from '../base/outcomes';
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

/** Throws an `invalid` failure before anything is sent. */
export async function readCredentials(context: RequestContext): Promise<CredentialRead> {
	const data = await context.getCredentials(CREDENTIAL);
	const problem = credentialProblem(data);
	if (problem !== undefined)
		throw invalid(
			problem,
			'Open the Media Generation API credential of this node and correct it. Nothing was sent.',
		);
	const credentials = {
		baseUrl: normalizeBaseUrl(data.baseUrl as string),
		apiKey: keyIn(data.apiKey),
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

/** Throws an `invalid` failure if the items of a run could have several accounts: one run uses one. */
export async function checkOneAccount(context: IExecuteFunctions): Promise<void> {
	if (context.getInputData().length < 2 || !(await dependsOnItems(context))) return;
	throw invalid(
		"The credential's fields depend on the item, and a run of several items uses one account",
		'Add a Loop Over Items node before this one, so that each run gets one item, or select a credential without such expressions. Nothing was sent.',
	);
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
