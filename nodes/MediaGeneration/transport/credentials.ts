/** Reads the credential, and gives n8n what it signs requests with. A key is never sent to any address but its own. */
import type {
	ICredentialDataDecryptedObject,
	ICredentialsDecrypted,
	IExecuteFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { credentialProblem, credentialsIn, type Credentials } from './credentialFields';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { cleanerOf } from '../n8n/clean';
import { now } from '../base/clock';
import { invalid } from '../base/outcomes';
import type { N8nContext } from '../n8n/execution';
import { evaluating, storedCredential } from '../n8n/storedCredential';

export const CREDENTIAL = 'mediaGenerationApi';

/** Includes the editor's requests for lists. */
export type RequestContext = N8nContext | ILoadOptionsFunctions;

interface CredentialRead {
	credentials: Credentials;
	data: ICredentialDataDecryptedObject;
}

/** Throws an `invalid` failure before anything is sent. */
async function readCredentials(context: RequestContext): Promise<CredentialRead> {
	const data = await context.getCredentials(CREDENTIAL);
	const problem = credentialProblem(data);
	if (problem !== undefined)
		throw invalid(
			problem,
			'Open the Media Generation API credential of this node and correct it. Nothing was sent.',
		);
	return { credentials: credentialsIn(data), data };
}

/** Returns whether any field of the credential may differ by item. */
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

/** The last reading of a credential. It is used for 5 s, because n8n takes longer to read it than for the rest of a request. */
export interface CredentialKept {
	read?: Promise<CredentialRead>;
	/** Epoch ms. */
	since: number;
}

async function recentRead(context: RequestContext, kept: CredentialKept): Promise<CredentialRead> {
	if (kept.read === undefined || now() - kept.since >= 5_000) {
		kept.since = now();
		kept.read = evaluating(context, async () => await readCredentials(context));
		// The next request tries again.
		kept.read.catch(() => delete kept.read);
	}
	return await kept.read;
}

/** By workflow, node and credential. */
const ofWebhooks = new BoundedMap<string, CredentialKept>();

/** Calls of a webhook share a reading, because they can come many times a second; nothing is kept while the editor listens. */
export function keptFor(context: N8nContext): CredentialKept {
	if (context.getMode() === 'manual') return { since: 0 };
	const { id: nodeId, credentials: used } = context.getNode();
	const key = JSON.stringify([context.getWorkflow().id, nodeId, used?.[CREDENTIAL]?.id]);
	return getOrCreate(ofWebhooks, key, () => ({ since: 0 }));
}

/** @returns also what n8n signs a request with; undefined if it can't be read, so that n8n itself reads it and says why */
export async function openCredential(context: RequestContext, kept: CredentialKept = { since: 0 }) {
	const first = await recentRead(context, kept);
	cleanerOf(context).knows(first.credentials);
	const credentialForRequest = async (): Promise<ICredentialsDecrypted | undefined> => {
		const latest = await recentRead(context, kept).catch(() => undefined);
		if (latest === undefined) return undefined;
		cleanerOf(context).knows(latest.credentials);
		// A key that came with another address is never sent to the first one.
		const isSame = latest.credentials.baseUrl === first.credentials.baseUrl;
		const { data } = isSame ? latest : first;
		return { id: '', name: '', type: CREDENTIAL, data: { ...data } };
	};
	return { credentials: first.credentials, credentialForRequest };
}
