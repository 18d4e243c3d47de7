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

interface OpenedCredential {
	credentials: Credentials;
	data: ICredentialDataDecryptedObject;
}

/** Throws an `invalid` failure before anything is sent. */
async function readCredential(context: RequestContext): Promise<OpenedCredential> {
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

/** A credential, read again after 5 s at the earliest, because n8n takes longer to read it than for the rest of a request. */
export class RecentCredential {
	private latest: Promise<OpenedCredential> | undefined;
	private since = 0;

	async read(context: RequestContext): Promise<OpenedCredential> {
		if (this.latest === undefined || now() - this.since >= 5_000) {
			this.since = now();
			this.latest = evaluating(context, async () => await readCredential(context));
			// The next request tries again.
			this.latest.catch(() => (this.latest = undefined));
		}
		const opened = await this.latest;
		cleanerOf(context).knows(opened.credentials);
		return opened;
	}
}

/** By workflow, node and credential. */
const ofWebhooks = new BoundedMap<string, RecentCredential>();

/** Calls of a webhook share a credential that was read, because they can come many times a second; nothing is kept while the editor listens. */
export function webhookCredential(context: N8nContext): RecentCredential {
	if (context.getMode() === 'manual') return new RecentCredential();
	const { id: nodeId, credentials: used } = context.getNode();
	const key = JSON.stringify([context.getWorkflow().id, nodeId, used?.[CREDENTIAL]?.id]);
	return getOrCreate(ofWebhooks, key, () => new RecentCredential());
}

/** @returns also what n8n signs a request with; undefined if it can't be read, so that n8n itself reads it and says why */
export async function openCredential(context: RequestContext, recent = new RecentCredential()) {
	const first = await recent.read(context);
	const credentialForRequest = async (): Promise<ICredentialsDecrypted | undefined> => {
		const latest = await recent.read(context).catch(() => undefined);
		if (latest === undefined) return undefined;
		// A key that came with another address is never sent to the first one.
		const isSame = latest.credentials.baseUrl === first.credentials.baseUrl;
		const { data } = isSame ? latest : first;
		return { id: '', name: '', type: CREDENTIAL, data: { ...data } };
	};
	return { credentials: first.credentials, credentialForRequest };
}
